"""Known answers from outside, and running them on implementations."""

from __future__ import annotations

from cryptodispatch.known_answers._runner import Failure, Report, run, unrun
from cryptodispatch.known_answers._vectors import (
    AeadVector,
    CipherVector,
    HashVector,
    Vector,
    load,
)

__all__ = [
    "AeadVector",
    "CipherVector",
    "Failure",
    "HashVector",
    "Report",
    "Vector",
    "load",
    "run",
    "unrun",
]
