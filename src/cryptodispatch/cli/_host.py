"""What `speed` and `doctor` say about this host."""

from __future__ import annotations

import platform
from pathlib import Path

from cryptodispatch import _engine

__all__ = ["cpu_model", "load_sources", "read_text"]


def read_text(path: str) -> str:
    """Return a file of /proc or /sys; "" if it cannot be read."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def cpu_model() -> str:
    """Return what the kernel calls the CPU; else the architecture."""
    for line in read_text("/proc/cpuinfo").splitlines():
        name, _colon, value = line.partition(":")
        if name.strip() in ("model name", "Hardware", "cpu model", "Processor") and value.strip():
            return " ".join(value.split())
    return platform.machine()


def load_sources() -> dict[str, str]:
    """Load the other sources of software: by name "" or why it is not there."""
    return {"libcrypto": _engine.load_openssl(), "PyCryptodome": _engine.load_pycryptodome()}
