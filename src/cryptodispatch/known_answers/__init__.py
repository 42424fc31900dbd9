"""Known answers from outside, and running them on implementations."""

from __future__ import annotations

from cryptodispatch.known_answers._runner import Failure, Report, Vector, load, run

__all__ = ["Failure", "Report", "Vector", "load", "run"]
