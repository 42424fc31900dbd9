"""`cryptodispatch list`: what is registered."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict

import click

from cryptodispatch import Algorithm, algorithms
from cryptodispatch.cli._device import device_options, open_device
from cryptodispatch.cli._output import print_json, print_table

__all__ = ["bound_drivers", "command"]


@click.command("list")
@device_options
@click.option("--device", is_flag=True, help="Open a free-running emulated engine.")
@click.option("--fallback", is_flag=True, help="Enable the engine's software fallback first.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    machine: str | None, engine: str | None, *, device: bool, fallback: bool, as_json: bool
) -> None:
    """List the registered implementations, the one a name stands for marked."""
    wants_device = device or fallback or machine is not None or engine is not None
    with ExitStack() as stack:
        if wants_device:
            opened = stack.enter_context(open_device(machine, engine))
            if fallback:
                opened.fallback.enable()
        found = algorithms()
    if as_json:
        print_json({"algorithms": [asdict(entry) for entry in found]})
        return
    chosen = bound_drivers(found)
    print_table(
        "Implementations (* is bound when the algorithm is asked for by name)",
        [
            ("algorithm", False),
            ("driver", False),
            ("type", False),
            ("priority", True),
            ("block", True),
            ("iv", True),
            ("keys", False),
            ("remarks", False),
        ],
        [
            (
                entry.name,
                entry.driver + (" *" if entry.driver in chosen else ""),
                entry.type,
                str(entry.priority),
                str(entry.block_size),
                str(entry.iv_size),
                " ".join(map(str, entry.key_sizes)),
                _remarks(entry),
            )
            for entry in sorted(found, key=lambda entry: (entry.name, -entry.priority))
        ],
    )


def bound_drivers(found: list[Algorithm]) -> set[str]:
    """Return the driver names that algorithm names stand for."""
    best: dict[tuple[str, str], Algorithm] = {}
    for entry in found:
        key = (entry.type, entry.name)
        if (
            entry.available
            and not entry.modelled
            and (key not in best or entry.priority > best[key].priority)
        ):
            best[key] = entry
    return {entry.driver for entry in best.values()}


def _remarks(entry: Algorithm) -> str:
    words = [
        word
        for word, applies in (
            ("asynchronous", entry.asynchronous and not entry.proxy),
            ("dispatches", entry.proxy),
            ("modelled CPU", entry.modelled),
            (entry.reason, not entry.available),
        )
        if applies
    ]
    return ", ".join(words)
