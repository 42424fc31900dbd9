"""Builds and loads the yardstick of limit.c; a compiler and the source tree are needed."""

from __future__ import annotations

import importlib.util
import os
import shlex
import subprocess
import sysconfig
import tempfile
from pathlib import Path
from types import ModuleType

import cryptodispatch

ROOT = Path(__file__).parent.parent


def load() -> ModuleType:
    """Compile limit.c against the installed C library and import it."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "limit.so"
        compiler = shlex.split(os.environ.get("CC", "cc"))
        subprocess.run(  # noqa: S603 - our own source
            [
                *compiler,
                "-O2",
                "-shared",
                "-fPIC",
                "-D_GNU_SOURCE",
                f"-I{ROOT / 'csrc'}",
                f"-I{ROOT / 'csrc' / 'include'}",
                f"-I{sysconfig.get_paths()['include']}",
                str(ROOT / "benchmarks" / "limit.c"),
                f"-L{cryptodispatch.get_library_dir()}",
                "-lcryptodispatch",
                "-lpthread",
                "-o",
                str(target),
            ],
            check=True,
        )
        spec = importlib.util.spec_from_file_location("limit", target)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
