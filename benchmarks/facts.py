"""What figures belong to: machine, clock, versions, commit."""

from __future__ import annotations

import datetime as dt
import platform
import ssl
import subprocess
from importlib.metadata import version
from pathlib import Path

from cryptography.hazmat.backends.openssl import backend

import cryptodispatch as cd

PEERS = ("cryptography", "pycryptodome", "pynacl")


def host() -> dict[str, str]:
    """Facts by name, in the order in which they are printed."""
    info = cd.benchmark.clock_info()
    return {
        "cpu": _cpu(),
        "clock": f"{info.name} {info.hz / 1e6:.0f} MHz (constant; not the core's frequency)",
        "python": f"CPython {platform.python_version()}",
        "compiler": platform.python_compiler(),
        "peers": ", ".join(f"{name} {version(name)}" for name in PEERS),
        "openssl": _openssl(),
        "commit": _commit(),
        "date": dt.datetime.now(dt.timezone.utc).date().isoformat(),
    }


def _cpu() -> str:
    """The processor's name, or its architecture where the kernel does not tell."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text("utf-8").splitlines() if info.exists() else []
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def _commit() -> str:
    """What git calls the tree, with + if it was changed; "none" without git."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty=+"]
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "none"
    return result.stdout.strip()


def _openssl() -> str:
    """The two libraries behind the peers, without their dates."""
    inside, hashlib_one = (
        " ".join(text.split()[:2]) for text in (backend.openssl_version_text(), ssl.OPENSSL_VERSION)
    )
    return f"{inside} in cryptography, {hashlib_one} in hashlib"


def show(facts: dict[str, str]) -> str:
    """As one paragraph."""
    return "\n".join(f"{name + ':':10}{value}" for name, value in facts.items())
