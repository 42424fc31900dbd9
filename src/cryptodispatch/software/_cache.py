"""The file that keeps what was measured, and putting it in force before the first lookup.

``$XDG_CACHE_HOME/cryptodispatch/software-<key>.json`` (``~/.cache`` without that variable); the key
stands for the CPU's features and the library's version and implementations, so that another CPU or
build has a file of its own. ``CRYPTODISPATCH_CACHE=off`` neither reads nor writes it. It holds what
differs from the library's own order, nothing else: ``choices``, by algorithm, with ``order``
(drivers, the one to bind first), ``small`` (driver for requests of at most ``threshold`` bytes; ""
if there is none) and ``threshold``.

This module is imported with the package, and reads the file before the first look-up of a name in
every process: it stays light and imports what it needs when it does.
"""

from __future__ import annotations

import os

from cryptodispatch import _engine

TYPE_CHECKING = False  # typing is not light
if TYPE_CHECKING:
    from typing import Any

__all__ = ["VERSION", "apply_cached", "cache_path", "load", "save"]

VERSION = 1
_LONGEST = 1 << 20  # bytes of a file worth reading


def _off() -> bool:
    return os.environ.get("CRYPTODISPATCH_CACHE", "").lower() == "off"


def key() -> dict[str, object]:
    """Return what measurements depend on: the package, the CPU's features, the implementations."""
    from cryptodispatch import __version__  # noqa: PLC0415 - the package imports this module

    names = "\n".join(entry[1] for entry in _engine.software() if _is_built_in(entry[1]))
    return {
        "package": __version__,
        "cpu": _engine.cpu_features(),
        "implementations": _engine.Hash("sha256").digest(names.encode()).hex(),
    }


def _is_built_in(driver: str) -> bool:
    """Tell what is part of this library from what a library of the system provides, if it does."""
    return "-openssl" not in driver and "-pycryptodome" not in driver


def cache_path(found: dict[str, object] | None = None) -> str | None:
    """Return the path of the file for this CPU and library; None: there is to be none."""
    if _off():
        return None
    folder = os.environ.get("XDG_CACHE_HOME", "")
    if not folder.startswith("/"):  # unset, empty or, says its specification, to be ignored
        folder = os.path.expanduser("~/.cache")  # noqa: PTH111 - pathlib is not light
        if not folder.startswith("/"):  # no home
            return None
    text = repr(sorted((key() if found is None else found).items()))
    short = _engine.Hash("sha256").digest(text.encode()).hex()[:16]
    return os.path.join(folder, "cryptodispatch", f"software-{short}.json")  # noqa: PTH118


def _read(path: str) -> bytes | None:
    """Return the file's content if it is ours alone: another user could have written it else."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, ValueError):
        return None
    try:
        facts = os.fstat(descriptor)
        regular = facts.st_mode & 0o170000 == 0o100000
        if not regular or facts.st_uid != os.geteuid() or facts.st_mode & 0o022:
            return None
        return os.read(descriptor, _LONGEST) if facts.st_size < _LONGEST else None
    except OSError:
        return None
    finally:
        os.close(descriptor)


def load() -> dict[str, dict[str, Any]] | None:
    """Return the choices kept for this CPU and library, by algorithm; None: none that can be used.

    A file that is corrupt, of another format, CPU or library, or writable by others is as none.
    """
    if _off():
        return None
    found = key()
    path = cache_path(found)
    text = None if path is None else _read(path)
    if text is None:
        return None
    import ast  # noqa: PLC0415 - dataclasses has it already; json is 2 ms of compiling patterns

    try:
        # The file has strings, numbers, lists and objects alone: the same in JSON and in Python.
        document = ast.literal_eval(text.decode("ascii"))
        if document["version"] != VERSION or document["key"] != found:
            return None
        choices = document["choices"]
        return choices if _well_formed(choices) else None
    except (ValueError, TypeError, LookupError, SyntaxError, RecursionError, MemoryError):
        return None


def _well_formed(choices: object) -> bool:
    return isinstance(choices, dict) and all(
        isinstance(name, str)
        and isinstance(choice, dict)
        and isinstance(choice["order"], list)
        and all(isinstance(driver, str) for driver in choice["order"])
        and isinstance(choice["small"], str)
        and type(choice["threshold"]) is int
        and 0 <= choice["threshold"] < 2**31
        for name, choice in choices.items()
    )


def save(choices: dict[str, dict[str, Any]]) -> str:
    """Write the file, all or nothing; returns its path, or "" if there is to be none.

    Raises:
        OSError: it cannot be written; ``filename`` is its path.
    """
    import contextlib  # noqa: PLC0415 - who measures has time
    import errno  # noqa: PLC0415 - the same
    import json  # noqa: PLC0415 - the same
    import tempfile  # noqa: PLC0415 - the same

    found = key()
    path = cache_path(found)
    if path is None:
        return ""
    document = {"version": VERSION, "key": found, "choices": choices}
    folder = os.path.dirname(path)  # noqa: PTH120
    temporary = ""
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103
        descriptor, temporary = tempfile.mkstemp(dir=folder, prefix=".software-")  # mode 0600
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(document, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)  # noqa: PTH105
    except (OSError, ValueError) as error:
        if temporary:
            with contextlib.suppress(OSError):
                os.unlink(temporary)  # noqa: PTH108
        number = getattr(error, "errno", None) or errno.EINVAL
        raise OSError(number, getattr(error, "strerror", None) or str(error), path) from error
    return path


def apply_cached() -> None:
    """Put what is kept in force; called by the engine once, before its first lookup of a name."""
    try:
        choices = load()
        if choices:
            from cryptodispatch.software import _priorities  # noqa: PLC0415 - only if there is one

            _priorities.apply(choices)
    except Exception:  # noqa: BLE001 - a lookup must not fail for want of a better order
        return
