"""Turns what can go wrong outside into one line and an exit status."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import click

__all__ = ["Commands", "naming", "open_closed_streams", "usage_error"]


_COMMANDS = {  # what errors advise to call, as somebody at a shell has it
    "cryptodispatch.algorithms()": "`cryptodispatch list`",
    "cryptodispatch.eip93.Device.emulated()": "--machine or --engine",
}


class Commands(click.Group):
    """A group whose commands may meet closed, full or broken files: one line, exit status 1."""

    def main(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - whatever click takes
        """Run as click does, and fail if not all of the output could be written."""
        open_closed_streams()
        try:
            try:
                return super().main(*args, **kwargs)
            except SystemExit as done:
                if not done.code:
                    sys.stdout.flush()
                raise
        except OSError as error:  # nothing but a standard stream has no name
            with suppress(OSError):
                name = error.filename or "standard output"
                click.echo(f"Error: {name}: {error.strerror or error}", err=True)
            raise SystemExit(1) from error
        finally:
            _forget_unwritten()


def _forget_unwritten() -> None:
    """Drop what could not be written: Python would try once more at its end, and say so."""
    for name in ("stdout", "stderr"):
        try:
            getattr(sys, name).flush()
        except OSError:
            setattr(sys, name, _stream(os.O_WRONLY, "w"))


def open_closed_streams() -> None:
    """Put in streams that were closed (`>&-`); reading or writing them is an error, as it was.

    Otherwise the next file that is opened takes their number. What goes to a closed stderr is lost.
    """
    if sys.stdin is None:
        sys.stdin = _stream(os.O_WRONLY, "r")
    if sys.stdout is None:
        sys.stdout = _stream(os.O_RDONLY, "w")
    if sys.stderr is None:
        sys.stderr = _stream(os.O_WRONLY, "w")


def _stream(flags: int, mode: str) -> Any:  # noqa: ANN401 - as typeshed has sys.stdin
    return open(os.open(os.devnull, flags), mode, encoding="utf-8")  # noqa: PTH123


@contextmanager
def naming(name: object) -> Iterator[None]:
    """Make an OSError one line about `name`: a handle's has none, a temporary's the wrong one.

    Raises:
        click.ClickException: instead of the OSError.
    """
    try:
        yield
    except OSError as error:
        raise click.ClickException(f"{name}: {error.strerror or error}") from error


def usage_error(error: Exception, options: Mapping[str, str]) -> click.UsageError:
    """Make an error about an argument one about the option that it came from.

    Args:
        error: whose text starts with the name of an argument and a colon.
        options: by argument.
    """
    text = str(error)
    for call, command in _COMMANDS.items():
        text = text.replace(call, command)
    name, colon, rest = text.partition(": ")
    return click.UsageError(f"{options.get(name, name)}{colon}{rest}")
