"""`cryptodispatch doctor`: what this CPU, libcrypto and kernel could do and do not."""

from __future__ import annotations

import os
import platform
import re
import socket
import subprocess
import sys
import sysconfig
from pathlib import Path

import click

from cryptodispatch import (
    Algorithm,
    __version__,
    _engine,
    algorithms,
    get_include,
    get_library_dir,
)
from cryptodispatch.cli._host import cpu_model, load_sources, read_text
from cryptodispatch.cli._list import bound_drivers
from cryptodispatch.cli._output import print_json, print_table
from cryptodispatch.software import _cache

__all__ = ["advice", "command", "crypto_engines"]

_DISABLE = "CRYPTODISPATCH_CPU_DISABLE"

# What is in the driver names of the kernel's crypto engines, most of them behind a dash.
_ENGINE = re.compile(
    r"eip93|eip197|safexcel|inside-secure|qce|caam|dpaa|omap|sun[48]i|rk3288|rockchip|mtk|mv-|cesa"
    r"|talitos|atmel|stm32|sahara|dcp|ccp|qat|hisi|hpre|chcr|virtio|aspeed|gemini|artpec|nitrox"
    r"|cpt|n2$|-nx|keembay|starfive|crypto4xx|ppc4xx|amlogic|zynqmp|ixp4xx"
)


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(*, as_json: bool) -> None:
    """Say what this CPU, the system's libcrypto and the kernel offer, and what one could do."""
    sources = load_sources()
    found = algorithms()
    facts: dict[str, object] = {
        "cpu": _cpu(found),
        "implementations": _implementations(found),
        "libcrypto": _libcrypto(sources["libcrypto"], found),
        "pycryptodome": _source(sources["PyCryptodome"], "-pycryptodome", found),
        "kernel": _kernel(),
        "clock": _clock(),
        "python": _python(),
        "package": _package(),
        "choice": _choice(),
    }
    facts["advice"] = advice(facts)
    if as_json:
        print_json(facts)
    else:
        _print(facts)


def _features_unnarrowed() -> list[str]:
    """Ask a process without the variable that takes features away what the CPU has."""
    environment = {name: value for name, value in os.environ.items() if name != _DISABLE}
    program = "from cryptodispatch import _engine; print(*_engine.cpu_features())"
    try:
        done = subprocess.run(  # noqa: S603 - this very Python
            [sys.executable, "-c", program],
            env=environment,
            capture_output=True,
            check=True,
            text=True,
            timeout=30,
        )
    except (OSError, subprocess.SubprocessError):
        return _engine.cpu_features()
    return done.stdout.split()


def _cpu(found: list[Algorithm]) -> dict[str, object]:
    used = _engine.cpu_features()
    disabled = os.environ.get(_DISABLE, "")
    there = _features_unnarrowed() if disabled else used
    narrowed = sorted(set(there) - set(used))
    wanted = {
        word.strip()
        for entry in found
        for word in re.sub(r"^needs CPU features? ", "", entry.reason).split(",")
        if entry.reason.startswith("needs CPU feature")
    }
    return {
        "model": cpu_model(),
        "architecture": platform.machine(),
        "features": there,
        "used": used,
        "narrowed": narrowed,
        "narrowed_by": f"{_DISABLE}={disabled}" if narrowed else None,
        "narrowing_unknown": _unknown_features(disabled),
        "missing": sorted(wanted - set(there)),
    }


def _unknown_features(disabled: str) -> list[str]:
    """Return what the variable names and is no feature of any CPU, read as csrc/base/cpu.c does."""
    known = {"all", *_engine.cpu_feature_names()}
    words = dict.fromkeys(word for word in re.split("[, ]+", disabled) if word)
    return [word for word in words if word.lower() not in known]


def _implementations(found: list[Algorithm]) -> dict[str, object]:
    return {
        "registered": len(found),
        "available": sum(entry.available for entry in found),
        "bound": {
            entry.name: entry.driver for entry in found if entry.driver in bound_drivers(found)
        },
        "unavailable": {entry.driver: entry.reason for entry in found if not entry.available},
    }


def _libcrypto(reason: str, found: list[Algorithm]) -> dict[str, object]:
    version, file = _engine.openssl_library() or (None, None)
    return {**_source(reason, "-openssl", found), "version": version, "file": file}


def _source(reason: str, part: str, found: list[Algorithm]) -> dict[str, object]:
    """Say whether a source of software is there, and what it gives."""
    count = sum(part in entry.driver and entry.available for entry in found)
    return {"found": not reason, "reason": reason or None, "implementations": count}


def crypto_engines(text: str) -> list[dict[str, str | int | None]]:
    """Return the entries of a /proc/crypto text that a crypto engine's driver made."""
    engines: list[dict[str, str | int | None]] = []
    for block in text.split("\n\n"):
        entry = {}
        for line in block.splitlines():
            name, _colon, value = line.partition(":")
            entry[name.strip()] = value.strip()
        driver = entry.get("driver", "")
        if _ENGINE.search(driver) and "cryptd" not in driver:
            priority = entry.get("priority", "")
            engines.append(
                {
                    "name": entry.get("name", ""),
                    "driver": driver,
                    "priority": int(priority) if priority.isdecimal() else None,
                    "module": entry.get("module", ""),
                }
            )
    return engines


def _af_alg() -> str:
    """Return "" if the kernel's crypto can be used from here; else why not."""
    family = getattr(socket, "AF_ALG", None)
    if family is None:
        return "this Python has no socket.AF_ALG"
    try:
        with socket.socket(family, socket.SOCK_SEQPACKET, 0) as opened:
            opened.bind(("skcipher", "cbc(aes)"))
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _kernel() -> dict[str, object]:
    text = read_text("/proc/crypto")
    reason = _af_alg()
    return {
        "release": platform.release(),
        "proc_crypto": bool(text),
        "engines": crypto_engines(text),
        "af_alg": not reason,
        "af_alg_reason": reason or None,
    }


def _clock() -> dict[str, object]:
    name, hz, overhead = _engine.clock_describe()
    source = read_text("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    return {"name": name, "hz": hz, "overhead": overhead, "kernel": source.strip() or None}


def _python() -> dict[str, object]:
    gil = getattr(sys, "_is_gil_enabled", None)
    return {
        "version": platform.python_version(),
        "implementation": platform.python_implementation(),
        "compiler": platform.python_compiler(),
        "free_threaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
        "gil": True if gil is None else bool(gil()),
    }


def _package() -> dict[str, object]:
    return {
        "version": __version__,
        "folder": str(Path(_cache.__file__).parents[1]),
        "extension": Path(str(_engine.__file__)).name,
        "include": _path_or_reason(get_include),
        "library": _path_or_reason(get_library_dir),
    }


def _path_or_reason(where: object) -> str:
    assert callable(where)  # noqa: S101 - one of two functions
    try:
        return str(where())
    except FileNotFoundError as error:
        return f"missing: {error}"


def _choice() -> dict[str, object]:
    kept = _cache.load()
    return {"file": _cache.cache_path(), "kept": kept is not None, "differing": len(kept or {})}


def _advice_on_narrowing(cpu: dict[str, object]) -> list[str]:
    found = []
    if cpu["narrowed"]:
        found.append(f"unset {_DISABLE}: it takes away {_words(cpu['narrowed'])}")
    if cpu["narrowing_unknown"]:
        found.append(
            f"{_DISABLE}: no CPU feature is called {_words(cpu['narrowing_unknown'])}; known are "
            f"{', '.join(_engine.cpu_feature_names())}, and all for every one"
        )
    return found


def advice(facts: dict[str, object]) -> list[str]:
    """Say what one could do, from what was found; one sentence each, most useful first."""

    def section(name: str) -> dict[str, object]:
        value = facts[name]
        assert isinstance(value, dict)  # noqa: S101 - made above
        return value

    cpu, kernel, python, choice = map(section, ("cpu", "kernel", "python", "choice"))
    found = _advice_on_narrowing(cpu)
    if cpu["architecture"] == "x86_64" and "aesni" not in _list(cpu["features"]):
        found.append(
            "no AES instructions here: AES runs on tables, slower and with a timing that depends "
            "on the key; a virtual machine may be given the host's CPU model"
        )
    if not section("libcrypto")["found"]:
        found.append(f"libcrypto is not used: {section('libcrypto')['reason']}")
    if kernel["engines"]:
        found.append(
            "the kernel has a crypto engine: `cryptodispatch predict` says from its measured table "
            "from which size it pays"
        )
    if section("clock")["name"] == "clock_gettime":
        found.append(
            "no constant-rate cycle counter: measurements below a microsecond are coarse here"
        )
    if python["free_threaded"] and python["gil"]:
        found.append("a free-threaded Python runs with its GIL: PYTHON_GIL=0, or another extension")
    if choice["file"] is None:
        found.append("CRYPTODISPATCH_CACHE=off: measured choices are neither kept nor applied")
    elif not choice["kept"]:
        found.append(
            "`cryptodispatch tune --software` measures the software implementations against each "
            "other; until then their built-in order holds"
        )
    return found


def _list(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, (list, tuple)) else []


def _words(value: object) -> str:
    return ", ".join(_list(value)) or "none"


def _print(facts: dict[str, object]) -> None:
    rows = []
    for name, section in facts.items():
        if not isinstance(section, dict):
            continue
        for label, value in section.items():
            if name == "implementations" and isinstance(value, dict):
                continue
            if name == "kernel" and label == "engines":
                text = ", ".join(str(engine["driver"]) for engine in value) or "none visible"
            elif value is None:
                text = "-"
            elif isinstance(value, bool):
                text = "yes" if value else "no"
            else:
                text = _words(value) if isinstance(value, list) else str(value)
            rows.append((name, label.replace("_", " "), text))
    print_table("What there is", [("about", False), ("fact", False), ("value", False)], rows)
    implementations = facts["implementations"]
    assert isinstance(implementations, dict)  # noqa: S101 - made above
    print_table(
        "What algorithm names stand for here",
        [("algorithm", False), ("implementation", False)],
        sorted(implementations["bound"].items()),
    )
    if implementations["unavailable"]:
        print_table(
            "Not applicable here",
            [("implementation", False), ("reason", False)],
            list(implementations["unavailable"].items()),
        )
    for sentence in _list(facts["advice"]) or ["nothing to do"]:
        click.echo(f"advice: {sentence}")
