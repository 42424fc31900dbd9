"""The `cryptodispatch` command and its subcommands."""

from __future__ import annotations

import importlib
import signal

import click

from cryptodispatch import __version__
from cryptodispatch.cli._problems import Commands

__all__ = ["main"]

# Modules are imported when their command runs: `cryptodispatch crypt` in a pipe should start fast.
_COMMANDS = {
    "crypt": "cryptodispatch.cli._crypt",
    "doctor": "cryptodispatch.cli._doctor",
    "list": "cryptodispatch.cli._list",
    "predict": "cryptodispatch.cli._predict",
    "reproduce": "cryptodispatch.cli._reproduce",
    "selftest": "cryptodispatch.cli._selftest",
    "speed": "cryptodispatch.cli._speed",
    "tune": "cryptodispatch.cli._tune",
}


class _Commands(Commands):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = importlib.import_module(_COMMANDS[cmd_name]).command
        return command


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="cryptodispatch")
def main() -> None:
    """Run symmetric crypto on whichever implementation is measured to be faster for its size."""
    # A reader that goes away (`| head`) ends the program, as it does every filter.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
