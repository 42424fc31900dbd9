"""`cryptodispatch tune`: measure every group and say from which size the engine pays."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict

import click
from rich.console import Console
from rich.progress import BarColumn, Progress as Bar, TextColumn

from cryptodispatch import CryptoDispatchError, FallbackGroup, Measurement, Progress, benchmark
from cryptodispatch.cli._device import device_options, open_device
from cryptodispatch.cli._output import print_json, print_table
from cryptodispatch.cli._passes import Pass, Result, combine, one_pass
from cryptodispatch.cli._tune_software import tune_software
from cryptodispatch.eip93 import Device

__all__ = ["command", "verdict"]

_DEFAULT_ENGINE = "an7581"
_PASSES = 5  # of a host, whose other work may fall into one; a virtual clock needs no second
_UNITS = {
    "threshold": "bytes",
    "size": "bytes",
    "hardware": "ticks of the clock, sum of the samples",
    "software": "ticks of the clock, sum of the samples",
    "samples": "requests",
    "hz": "ticks per second",
}


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
    paced as on the machine of --engine (an7581 unless said otherwise). That is done five times,
    and each side's smallest times count: what the host did meanwhile is not in them.

    With --software there is no engine: what each algorithm's name stands for among the software
    implementations is measured, printed, and kept for later processes of this user, in
    $XDG_CACHE_HOME/cryptodispatch unless CRYPTODISPATCH_CACHE=off.
    """
    if software:
        for option, value in (("--machine", machine), ("--engine", engine)):
            if value is not None:
                raise click.UsageError(
                    f"{option}, --software: one of them is allowed: --software measures this "
                    "host's implementations against each other, without an engine"
                )
        tune_software(as_json=as_json)
        return
    if machine is None and engine is None:
        engine = _DEFAULT_ENGINE
    try:
        with open_device(machine, engine) as device:
            results = _measure(device)
            if as_json:
                print_json(_as_json(device, results, machine, engine))
            else:
                _print(device, results, machine, engine)
            failed = any(result.failure for result in results.values())
    except CryptoDispatchError as error:
        raise click.ClickException(str(error)) from error
    raise SystemExit(1 if failed else 0)


def _measure(device: Device) -> dict[str, Result]:
    """Enable, as often as the clock makes it worth, with a bar on a terminal."""
    count = 1 if device.clock is not None else _PASSES
    passes: dict[str, list[Pass]] = {name: [] for name in device.fallback}
    steps = len(benchmark.SIZES)
    with Bar(
        TextColumn("measuring {task.description}"),
        BarColumn(),
        TextColumn("{task.fields[size]}"),
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    ) as bar:
        task = bar.add_task("", total=steps * len(passes) * count, size="")
        before = 0

        def show(progress: Progress) -> None:
            done = before + progress.index * steps
            size = ""
            if progress.measurement is not None:
                done += benchmark.SIZES.index(progress.measurement.size) + 1
                size = f"{progress.measurement.size} bytes"
            bar.update(task, completed=done, description=progress.group, size=size)

        for number in range(count):
            before = number * steps * len(passes)
            device.fallback.enable(progress=show)
            for name, group in device.fallback.items():
                passes[name].append(one_pass(group))
    return {name: combine(found) for name, found in passes.items()}


def _clock(device: Device) -> tuple[str, int]:
    if device.clock is not None:
        return device.clock.name, device.clock.hz
    info = benchmark.clock_info()
    return info.name, info.hz


def _as_json(
    device: Device, results: dict[str, Result], machine: str | None, engine: str | None
) -> dict[str, object]:
    name, hz = _clock(device)
    return {
        "machine": machine,
        "engine": engine if machine is None else machine,
        "clock": {"name": name, "hz": hz},
        "units": _UNITS,
        "groups": {
            group.name: {
                "threshold": result.threshold,
                "hardware": group.hardware,
                "software": group.software,
                "failure": result.failure or None,
                "verdict": verdict(result),
                "measurements": [asdict(row) for row in result.measurements],
                **({"passes": list(result.passes)} if len(result.passes) > 1 else {}),
            }
            for group, result in _pairs(device, results)
        },
    }


def _pairs(device: Device, results: dict[str, Result]) -> Iterator[tuple[FallbackGroup, Result]]:
    for name, result in results.items():
        yield device.fallback[name], result


def _factor(row: Measurement) -> float:
    """How many times faster the winner of a row is."""
    slow, fast = max(row.hardware, row.software), min(row.hardware, row.software)
    return slow / fast if fast else 1.0


def _number(factor: float) -> str:
    return (
        f"{factor:.0f}" if factor >= 10 else f"{factor:.1f}" if factor >= 1.05 else f"{factor:.2f}"
    )


def verdict(group: FallbackGroup | Result) -> str:
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


def _print(
    device: Device, results: dict[str, Result], machine: str | None, engine: str | None
) -> None:
    name, hz = _clock(device)
    where = (
        f"simulated machine {machine}, virtual time"
        if machine is not None
        else f"this host against the engine of {engine}, paced; clock {name} at {hz / 1e6:.0f} MHz"
    )
    for group, result in _pairs(device, results):
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
            [_row(row, hz) for row in result.measurements],
        )
    click.echo("Thresholds (requests of at most this many bytes go to software; -1 all, 0 none):")
    for group, result in _pairs(device, results):
        click.echo(f"  {group.name} = {result.threshold}: {verdict(result)}")
    if any(len(result.passes) > 1 for result in results.values()):
        click.echo(_agreement(results))


def _agreement(results: dict[str, Result]) -> str:
    """Say in one line whether the passes agreed, and what each said where they did not."""
    count = max(len(result.passes) for result in results.values())
    differing = [
        f"{name} ({', '.join('failed' if one is None else str(one) for one in result.passes)})"
        for name, result in results.items()
        if not result.agreed
    ]
    if not differing:
        return f"All {count} passes gave these thresholds."
    return (
        f"The {count} passes disagreed on {', '.join(differing)}: something else used the CPU, or "
        "the sides are close; the smallest times of each side decided."
    )


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
