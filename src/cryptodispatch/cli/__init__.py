"""The command line: exit status 0 done, 1 it failed, 2 wrong use."""

from __future__ import annotations

from cryptodispatch.cli._main import main

__all__ = ["main"]
