"""Options that several commands share: which engine or machine to open."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import click

from cryptodispatch import machine as machines
from cryptodispatch.eip93 import Device

__all__ = ["device_options", "open_device"]

_Function = TypeVar("_Function", bound=Callable[..., object])


def device_options(function: _Function) -> _Function:
    """Add --machine and --engine."""
    choice = click.Choice(machines.names())
    function = click.option(
        "--engine",
        type=choice,
        help="Open an emulated engine paced as on this machine, beside this host's CPU.",
    )(function)
    return click.option(
        "--machine",
        type=choice,
        help="Simulate this machine: engine and CPU take modelled time.",
    )(function)


def open_device(machine: str | None, engine: str | None) -> Device:
    """Open the device that the options ask for, free-running without any."""
    if machine is not None and engine is not None:
        raise click.UsageError("--machine and --engine: both were given, one of them is allowed")
    return Device.emulated(machine, engine=engine)
