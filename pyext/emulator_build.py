"""Builder of cryptodispatch._emulator: cffi API mode over the public C header.

Run from the project root. ``setup.py`` takes `ffibuilder` and links the libraries it has made; as a
program, this file compiles the sources itself: ``python pyext/emulator_build.py FOLDER`` puts
``cryptodispatch/_emulator`` into FOLDER.
"""

from __future__ import annotations

import sys
from pathlib import Path

from cffi import FFI

SOURCE_FOLDERS = ("base", "clock", "crypto", "eip93/emulator")


def sources(csrc: Path) -> list[str]:
    """List the C files that the chip is made of."""
    return sorted(str(path) for folder in SOURCE_FOLDERS for path in (csrc / folder).rglob("*.c"))


def make_builder(csrc: Path, extra_sources: list[str]) -> FFI:
    """Return the builder of the module, which also compiles `extra_sources`."""
    builder = FFI()
    builder.cdef(Path("pyext", "emulator_cdef.txt").read_text(encoding="utf-8"))
    builder.set_source(
        "cryptodispatch._emulator",
        '#include "cryptodispatch/eip93_emulator.h"\n',
        sources=extra_sources,
        include_dirs=[str(csrc), str(csrc / "include")],
        extra_compile_args=["-O3", "-std=c11", "-fvisibility=hidden", "-D_GNU_SOURCE"],
        extra_link_args=["-pthread"],
    )
    return builder


ffibuilder = make_builder(Path("csrc"), [])

if __name__ == "__main__":
    here = Path("csrc").resolve()  # cffi compiles in the target folder
    target = sys.argv[1] if len(sys.argv) > 1 else "build"
    make_builder(here, sources(here)).compile(tmpdir=target, verbose=True)
