"""Builds and loads the yardstick of limit.c; see native.py for what that needs."""

from __future__ import annotations

import importlib.util
import sysconfig
import tempfile
from pathlib import Path
from types import ModuleType

import native


def load() -> ModuleType:
    """Compile limit.c and import it."""
    with tempfile.TemporaryDirectory() as folder:
        target = native.compile_c(
            Path(folder) / "limit.so",
            "limit.c",
            flags=("-shared", "-fPIC", f"-I{sysconfig.get_paths()['include']}"),
        )
        spec = importlib.util.spec_from_file_location("limit", target)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
