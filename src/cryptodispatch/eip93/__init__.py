"""The EIP-93 packet engine: an emulated chip, our driver for it, and its group table."""

from __future__ import annotations

from cryptodispatch.eip93._device import Device, DriverCounters
from cryptodispatch.eip93._emulator_facade import Emulator, EmulatorCounters, Event
from cryptodispatch.eip93._groups import GROUPS

__all__ = ["GROUPS", "Device", "DriverCounters", "Emulator", "EmulatorCounters", "Event"]
