"""Profiles of simulated machines: what an engine and the CPU beside it cost.

A profile is a TOML file in this folder. It says of every number whether it was fitted to a
published table or assumed.
"""

from __future__ import annotations

from cryptodispatch.machine._profile import CpuCost, Machine, Policy, load, names, published

__all__ = ["CpuCost", "Machine", "Policy", "load", "names", "published"]
