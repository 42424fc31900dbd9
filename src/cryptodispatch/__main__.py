"""`python -m cryptodispatch`."""

from __future__ import annotations

from cryptodispatch.cli import main

if __name__ == "__main__":
    main(prog_name="cryptodispatch")
