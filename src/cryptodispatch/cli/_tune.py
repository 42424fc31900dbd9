"""`cryptodispatch tune`: measure every group and say from which size the engine pays."""

from __future__ import annotations

import sys
from dataclasses import asdict

import click
from rich.console import Console
from rich.progress import BarColumn, Progress as Bar, TextColumn

from cryptodispatch import CryptoDispatchError, FallbackGroup, Measurement, Progress, benchmark
from cryptodispatch.cli._device import device_options, open_device
from cryptodispatch.cli._output import print_json, print_table
from cryptodispatch.cli._tune_software import tune_software
from cryptodispatch.eip93 import Device

__all__ = ["command", "verdict"]

_DEFAULT_ENGINE = "an7581"


@click.command("tune")
@device_options
@click.option(
    "--software",
    is_flag=True,
    help="Measure software implementations against each other instead, and keep the result.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(machine: str | None, engine: str | None, *, software: bool, as_json: bool) -> None:
    """Measure every group of the engine against software, size by size, and print the thresholds.

    Without --machine this host's own CPU is measured for real against an emulated engine that is
    paced as on the machine of --engine (an7581 unless said otherwise).

    With --software there is no engine: what each algorithm's name stands for among the software
    implementations is measured, printed, and kept for later processes of this user, in
    $XDG_CACHE_HOME/cryptodispatch unless CRYPTODISPATCH_CACHE=off.
    """
    if software:
        if machine is not None or engine is not None:
            raise click.UsageError("--software: it measures this host alone, without an engine")
        tune_software(as_json=as_json)
        return
    if machine is None and engine is None:
        engine = _DEFAULT_ENGINE
    try:
        with open_device(machine, engine) as device:
            _measure(device)
            if as_json:
                print_json(_as_json(device, machine, engine))
            else:
                _print(device, machine, engine)
            failed = any(group.failure for group in device.fallback.values())
    except CryptoDispatchError as error:
        raise click.ClickException(str(error)) from error
    raise SystemExit(1 if failed else 0)


def _measure(device: Device) -> None:
    """Enable, with a bar on a terminal."""
    steps = len(benchmark.SIZES)
    with Bar(
        TextColumn("measuring {task.description}"),
        BarColumn(),
        TextColumn("{task.fields[size]}"),
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    ) as bar:
        task = bar.add_task("", total=steps * len(device.fallback), size="")

        def show(progress: Progress) -> None:
            done = progress.index * steps
            size = ""
            if progress.measurement is not None:
                done += benchmark.SIZES.index(progress.measurement.size) + 1
                size = f"{progress.measurement.size} bytes"
            bar.update(task, completed=done, description=progress.group, size=size)

        device.fallback.enable(progress=show)


def _clock(device: Device) -> tuple[str, int]:
    if device.clock is not None:
        return device.clock.name, device.clock.hz
    info = benchmark.clock_info()
    return info.name, info.hz


def _as_json(device: Device, machine: str | None, engine: str | None) -> dict[str, object]:
    name, hz = _clock(device)
    return {
        "machine": machine,
        "engine": engine if machine is None else machine,
        "clock": {"name": name, "hz": hz},
        "groups": {
            group.name: {
                "threshold": group.threshold,
                "hardware": group.hardware,
                "software": group.software,
                "failure": group.failure or None,
                "verdict": verdict(group),
                "measurements": [asdict(row) for row in group.measurements],
            }
            for group in device.fallback.values()
        },
    }


def _factor(row: Measurement) -> float:
    """How many times faster the winner of a row is."""
    slow, fast = max(row.hardware, row.software), min(row.hardware, row.software)
    return slow / fast if fast else 1.0


def _number(factor: float) -> str:
    return (
        f"{factor:.0f}" if factor >= 10 else f"{factor:.1f}" if factor >= 1.05 else f"{factor:.2f}"
    )


def verdict(group: FallbackGroup) -> str:
    """Say in one sentence what the measurements mean."""
    rows = group.measurements
    if group.failure:
        return f"not measured ({group.failure}): everything goes to the hardware"
    lost = [row for row in rows if row.winner == "software"]
    if group.threshold < 0:
        largest, smallest = _factor(lost[0]), _factor(lost[-1])
        return (
            f"software at every size, by a factor of {_number(largest)} at {lost[0].size} bytes "
            f"and {_number(smallest)} at {lost[-1].size} bytes"
        )
    won = rows[-1]
    gain = f"where it wins by a factor of {_number(_factor(won))}"
    if not lost:
        return f"hardware at every size, from {won.size} bytes on {gain}"
    return (
        f"software up to {group.threshold} bytes (by a factor of {_number(_factor(lost[0]))} at "
        f"{lost[0].size}); hardware above, measured at {won.size} bytes {gain}"
    )


def _print(device: Device, machine: str | None, engine: str | None) -> None:
    name, hz = _clock(device)
    where = (
        f"simulated machine {machine}, virtual time"
        if machine is not None
        else f"this host against the engine of {engine}, paced; clock {name} at {hz / 1e6:.0f} MHz"
    )
    for group in device.fallback.values():
        print_table(
            f"{group.name}: {group.hardware or '?'} against {group.software or '?'} ({where})",
            [
                ("bytes", True),
                ("hardware ns", True),
                ("software ns", True),
                ("hardware/software", True),
                ("samples", True),
                ("faster", False),
            ],
            [_row(row, hz) for row in group.measurements],
        )
    click.echo("Thresholds (requests of at most this many bytes go to software; -1 all, 0 none):")
    for group in device.fallback.values():
        click.echo(f"  {group.name} = {group.threshold}: {verdict(group)}")


def _row(row: Measurement, hz: int) -> tuple[str, ...]:
    to_ns = 1e9 / hz / row.samples
    return (
        str(row.size),
        f"{row.hardware * to_ns:.0f}",
        f"{row.software * to_ns:.0f}",
        f"{row.hardware / row.software:.2f}",
        str(row.samples),
        row.winner,
    )
