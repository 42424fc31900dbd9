"""Compiles the C files of this folder against the installed C library.

A compiler and the source tree are needed: they include headers of csrc/ that are not installed.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import cryptodispatch

FOLDER = Path(__file__).parent
CSRC = FOLDER.parent / "csrc"


def compile_c(target: Path, *sources: str, flags: tuple[str, ...] = ()) -> Path:
    """Compile and link `sources` into `target`."""
    subprocess.run(
        [
            *shlex.split(os.environ.get("CC", "cc")),
            "-std=c11",
            "-O2",
            "-Wall",
            "-Wextra",
            "-D_GNU_SOURCE",
            f"-I{CSRC}",
            f"-I{CSRC / 'include'}",
            *flags,
            *(str(FOLDER / source) for source in sources),
            f"-L{cryptodispatch.get_library_dir()}",
            "-lcryptodispatch",
            "-lpthread",
            "-ldl",
            "-o",
            str(target),
        ],
        check=True,
    )
    return target
