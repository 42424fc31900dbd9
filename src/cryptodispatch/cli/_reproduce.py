"""`cryptodispatch reproduce`: published figures beside the simulated machine's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass

import click

from cryptodispatch import Cipher, _engine, machine as machines
from cryptodispatch.cli._output import print_json, print_table
from cryptodispatch.eip93 import Device

__all__ = ["command"]


@dataclass(frozen=True, slots=True)
class Cell:
    """One published figure beside the simulated one.

    Attributes:
        table: title of the published table.
        row: what was measured.
        size: bytes; 0 for a figure that has none.
        unit: of both figures.
        published: the figure.
        simulated: the machine's.
        error: simulated / published - 1; for thresholds 0 if equal, else 1.
        origin: ``"fitted"``: the profile was fitted to this row; ``"predicted"``: it was not.
    """

    table: str
    row: str
    size: int
    unit: str
    published: float
    simulated: float
    error: float
    origin: str


@click.command("reproduce")
@click.argument("machine", type=click.Choice(machines.names()), default="an7581")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(machine: str, *, as_json: bool) -> None:
    """Print the published tables of MACHINE beside what its simulation gives, with every error."""
    with Device.emulated(machine=machine) as device:
        cells = list(_cells(device))
    if as_json:
        print_json({"machine": machine, "cells": [asdict(cell) for cell in cells]})
        return
    profile = machines.load(machine)
    for title in dict.fromkeys(cell.table for cell in cells):
        print_table(
            title,
            [
                ("row", False),
                ("bytes", True),
                ("published", True),
                ("simulated", True),
                ("unit", False),
                ("error", True),
                ("origin", False),
            ],
            [
                (
                    cell.row,
                    str(cell.size) if cell.size else "",
                    f"{cell.published:g}",
                    f"{cell.simulated:.4g}",
                    cell.unit,
                    f"{cell.error:+.1%}"
                    if cell.unit != "bytes"
                    else ""
                    if not cell.error
                    else "differs",
                    cell.origin,
                )
                for cell in cells
                if cell.table == title
            ],
        )
    for label, texts in (("fitted", profile.fitted), ("assumed", profile.assumed)):
        for text in texts:
            click.echo(f"{label}: {text}")


def _cells(device: Device) -> Iterator[Cell]:
    assert device.machine is not None  # noqa: S101 - opened with one
    for name in device.machine.published:
        document = machines.published(name)
        if "thresholds" in document:
            yield from _thresholds(device, document["thresholds"])
        for table in document.get("table", ()):
            yield from _table(device, name, table)
        for row in document.get("break_even", ()):
            yield _break_even(device, row)


def _thresholds(device: Device, published: dict[str, int]) -> Iterator[Cell]:
    simulated = device.fallback.enable()
    device.fallback.disable()
    for name, value in published.items():
        found = simulated[name]
        # Two of them narrowed down what one request of DES costs on this CPU (see the profile).
        origin = "fitted" if name in ("raw_des", "authenc_des") else "predicted"
        error = 0.0 if found == value else 1.0
        yield Cell("Thresholds", name, 0, "bytes", value, found, error, origin)


# Rows of published tables: which of ours they are, and their key size in bytes.
_DRIVERS = {
    "hardware": "{mode}(aes-eip93)",
    "software": "{mode}(aes-{machine})",
    "fallback": "{mode}(aes)",
}


def _table(device: Device, name: str, table: dict[str, object]) -> Iterator[Cell]:
    assert device.machine is not None  # noqa: S101 - opened with one
    algorithm = str(table["algorithm"])
    mode, key_size = algorithm.split("(", maxsplit=1)[0], int(algorithm.rsplit("-", 1)[1]) // 8
    af_alg = "AF_ALG" in str(table["api"])
    title = f"{name}: {algorithm}, {table['api']}"
    for row, driver in _DRIVERS.items():
        figures = table.get(row)
        if not isinstance(figures, list):
            continue
        sizes = table.get(f"{row}_sizes", table.get("sizes"))
        assert isinstance(sizes, list)  # noqa: S101 - the package's own data
        for size, figure in zip(sizes, figures, strict=True):
            nanoseconds = _time(
                device,
                driver.format(mode=mode, machine=device.machine.name),
                key_size,
                size,
                fallback=row == "fallback",
            ) + (device.machine.af_alg_ns if af_alg else 0.0)
            simulated = _in_unit(nanoseconds, size, str(table["unit"]), device.machine.tick_hz)
            error = simulated / figure - 1
            origin = _origin(device.machine.name, row, mode, af_alg=af_alg)
            yield Cell(title, row, size, str(table["unit"]), figure, simulated, error, origin)


def _origin(machine: str, row: str, mode: str, *, af_alg: bool) -> str:
    """Whether the profile was fitted to a row; the profile's own texts say how."""
    if machine == "an7581":
        return "fitted"
    fitted = row == "software" and mode in ("cbc", "ctr")
    return "fitted" if fitted and not af_alg else "predicted"


def _time(device: Device, driver: str, key_size: int, size: int, *, fallback: bool) -> float:
    """Nanoseconds of one request on the machine."""
    if fallback != device.fallback.enabled:
        device.fallback.enabled = fallback
    assert device.clock is not None  # noqa: S101 - opened with a machine
    block = -(-size // 16) * 16
    with Cipher(driver, bytes(key_size)) as cipher:
        length = block if cipher.block_size > 1 else size
        ticks = _engine.measure(cipher, length, 4, 8, device.clock)
    return ticks / 8 * 1e9 / device.clock.hz


def _in_unit(nanoseconds: float, size: int, unit: str, tick_hz: int) -> float:
    if unit in ("ticks", "cycles"):
        return nanoseconds * tick_hz / 1e9
    if unit == "MB/s":
        return size / nanoseconds * 1e3
    return 1e9 / nanoseconds  # ops/s


def _break_even(device: Device, row: dict[str, object]) -> Cell:
    assert device.machine is not None  # noqa: S101 - opened with one
    key_size, size, bounds = row["key_size"], row["size"], row["hardware_over_software"]
    assert isinstance(key_size, int)  # noqa: S101 - the package's own data
    assert isinstance(size, int)  # noqa: S101
    assert isinstance(bounds, list)  # noqa: S101
    hardware = _time(device, "cbc(aes-eip93)", key_size, size, fallback=False)
    software = _time(device, f"cbc(aes-{device.machine.name})", key_size, size, fallback=False)
    ratio = hardware / software
    nearest = min(max(ratio, bounds[0]), bounds[1])
    return Cell(
        "Break-evens: time on the engine over time in software",
        f"cbc(aes)-{key_size * 8}",
        size,
        "ratio",
        nearest if bounds[0] != bounds[1] else bounds[0],
        ratio,
        ratio / nearest - 1,
        "fitted",
    )
