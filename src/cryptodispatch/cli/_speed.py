"""`cryptodispatch speed`: what a request costs, implementations side by side."""

from __future__ import annotations

import importlib
import platform
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import click

from cryptodispatch import Algorithm, CryptoDispatchError, __version__, _engine, algorithms
from cryptodispatch._errors import unknown_algorithm
from cryptodispatch.cli._device import device_options, open_device
from cryptodispatch.cli._host import cpu_model, load_sources
from cryptodispatch.cli._output import print_json, print_table
from cryptodispatch.cli._problems import usage_error
from cryptodispatch.eip93 import Device
from cryptodispatch.software._samples import Cell, open_transform, sample

__all__ = ["Row", "Section", "command"]

_DEFAULT = ("cbc(aes)", "ctr(aes)", "sha256", "hmac(sha256)", "authenc(hmac(sha256),cbc(aes))")
_SIZES = "16,64,256,1024,4096,16384"
_LARGEST = 1 << 24
_SAMPLE_SECONDS = 200e-6


@dataclass(frozen=True, slots=True)
class Row:
    """One implementation: a cell per size, or None where it does not take the size.

    ``reason`` says why it was not measured at all; empty if it was.
    """

    driver: str
    cells: tuple[Cell | None, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Section:
    """Implementations measured on one clock: this host's, or a simulated or paced engine's."""

    label: str
    clock: str
    hz: int
    overhead: int
    algorithms: dict[str, list[Row]]


@click.command("speed")
@click.option(
    "--algorithm",
    "names",
    multiple=True,
    metavar="NAME",
    help='Algorithm or driver name, may be repeated; "all": every algorithm.',
)
@click.option("--sizes", default=_SIZES, show_default=True, help="Bytes, separated by commas.")
@click.option(
    "--samples", type=click.IntRange(1, 1000), default=11, show_default=True, help="Per cell."
)
@click.option("--decrypt", is_flag=True, help="Measure decryption; ciphers alone.")
@device_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--plot",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Draw the throughputs into this .png or .svg file; needs matplotlib.",
)
def command(
    names: tuple[str, ...],
    sizes: str,
    samples: int,
    machine: str | None,
    engine: str | None,
    plot: Path | None,
    *,
    decrypt: bool,
    as_json: bool,
) -> None:
    """Measure what requests cost, in ticks per byte and MB/s, implementations side by side.

    Each request is timed singly, the clock's own reading included; a sample is the mean of some of
    them; samples of the implementations are taken in turn. With --engine an emulated engine paced
    as on that machine is measured too, with --machine the simulated machine's engine and CPU; both
    in tables of their own, for their time is not this host's.
    """
    wanted = _parse_sizes(sizes)
    if plot is not None:
        _check_plot(plot)
    load_sources()
    with ExitStack() as stack:
        device = None
        if machine is not None or engine is not None:
            device = stack.enter_context(open_device(machine, engine))
        chosen = _chosen(names, decrypt=decrypt)
        _check_fit(chosen, wanted)
        try:
            sections = [_host(chosen, wanted, samples, decrypt=decrypt)]
            if device is not None:
                sections.append(_simulated(device, chosen, wanted, samples, decrypt=decrypt))
        except CryptoDispatchError as error:
            raise click.ClickException(str(error)) from error
    operation = "decrypt" if decrypt else "encrypt, digest"
    if as_json:
        print_json(_as_json(sections, wanted, operation))
    else:
        _print(sections, wanted, operation)
    if plot is not None:
        _plot(plot, sections, operation)
        click.echo(f"plot: {plot}", err=True)


def _parse_sizes(text: str) -> tuple[int, ...]:
    found = []
    for word in text.split(","):
        if not word.strip().isdecimal() or not 1 <= int(word) <= _LARGEST:
            raise click.BadParameter(
                f"{word.strip()!r} was given, 1 to {_LARGEST} are allowed", param_hint="--sizes"
            )
        found.append(int(word))
    return tuple(dict.fromkeys(found))


def _chosen(names: Sequence[str], *, decrypt: bool) -> dict[str, list[Algorithm]]:
    """Find what is to be measured, by algorithm; proxies are left out: they measure both sides."""
    entries = [entry for entry in algorithms() if not entry.proxy]
    if "all" in names:
        names = list(dict.fromkeys(entry.name for entry in entries))
    elif not names:
        names = _DEFAULT
    found: dict[str, list[Algorithm]] = {}
    for name in names:
        matches = [entry for entry in entries if name in (entry.name, entry.driver)]
        if not matches:
            known = [name for entry in entries for name in (entry.name, entry.driver)]
            raise usage_error(unknown_algorithm(name, known), {"algorithm": "--algorithm"})
        for entry in matches:
            rows = found.setdefault(entry.name, [])
            if entry not in rows:
                rows.append(entry)
    if decrypt:
        found = {name: rows for name, rows in found.items() if rows[0].type == "cipher"}
        if not found:
            raise click.UsageError("--decrypt: only ciphers are measured, and none was named")
    return found


def _unit(entries: Sequence[Algorithm]) -> int:
    """Return what sizes of one algorithm are multiples of."""
    return 1 if entries[0].type == "hash" else max(entry.block_size for entry in entries)


def _check_fit(chosen: dict[str, list[Algorithm]], sizes: tuple[int, ...]) -> None:
    """Refuse what would be nothing but empty rows."""
    units = {name: _unit(entries) for name, entries in chosen.items()}
    if not any(size % unit == 0 for size in sizes for unit in units.values()):
        needed = ", ".join(f"{name} takes multiples of {unit}" for name, unit in units.items())
        raise click.BadParameter(
            f"{', '.join(map(str, sizes))} was given, {needed}", param_hint="--sizes"
        )


def _host(
    chosen: dict[str, list[Algorithm]], sizes: tuple[int, ...], samples: int, *, decrypt: bool
) -> Section:
    name, hz, overhead = _engine.clock_describe()
    measured = {}
    for algorithm, entries in chosen.items():
        software = [entry for entry in entries if not entry.asynchronous and not entry.modelled]
        if software:
            measured[algorithm] = _rows(
                software, sizes, samples=samples, ticks=_SAMPLE_SECONDS * hz, decrypt=decrypt
            )
    return Section("this host", name, hz, overhead, measured)


def _simulated(
    device: Device,
    chosen: dict[str, list[Algorithm]],
    sizes: tuple[int, ...],
    samples: int,
    *,
    decrypt: bool,
) -> Section:
    assert device.machine is not None  # noqa: S101 - opened with one
    name, hz, overhead = _engine.clock_describe()
    if device.clock is None:
        label = f"emulated engine, paced as on {device.machine.name}"
    else:  # time is computed there: one request says all
        name, hz, overhead, samples = device.clock.name, device.clock.hz, 0, 1
        label = f"simulated machine {device.machine.name}"
    measured = {}
    for algorithm, entries in chosen.items():
        slow = [entry for entry in entries if entry.asynchronous or entry.modelled]
        if slow:
            measured[algorithm] = _rows(
                slow, sizes, samples=samples, ticks=1, decrypt=decrypt, clock=device.clock
            )
    return Section(label, name, hz, overhead, measured)


def _rows(
    entries: list[Algorithm],
    sizes: tuple[int, ...],
    *,
    samples: int,
    ticks: float,
    decrypt: bool,
    clock: _engine.Clock | None = None,
) -> list[Row]:
    """Measure implementations of one algorithm, those that can run here."""
    able = [entry for entry in entries if entry.available]
    unit = _unit(entries)
    fitting = [size for size in sizes if size % unit == 0]
    with ExitStack() as stack:
        transforms = [open_transform(entry) for entry in able]
        for transform in transforms:
            stack.enter_context(transform)
        columns = sample(
            transforms, fitting, samples=samples, ticks=ticks, decrypt=decrypt, clock=clock
        )
    cells = {
        entry.driver: {cell.size: cell for cell in column}
        for entry, column in zip(able, columns, strict=True)
    }
    return [
        Row(
            entry.driver,
            tuple(cells[entry.driver].get(size) for size in sizes) if entry.available else (),
            entry.reason,
        )
        for entry in entries
    ]


def _mb_per_s(cell: Cell, hz: int) -> float:
    return cell.size / cell.minimum * hz / 1e6


def _as_json(sections: list[Section], sizes: tuple[int, ...], operation: str) -> dict[str, object]:
    return {
        "version": __version__,
        "cpu": cpu_model(),
        "python": platform.python_version(),
        "operation": operation,
        "sizes": list(sizes),
        "host": _section_as_json(sections[0]),
        "simulated": _section_as_json(sections[1]) if len(sections) > 1 else None,
    }


def _section_as_json(section: Section) -> dict[str, object]:
    return {
        "label": section.label,
        "clock": {"name": section.clock, "hz": section.hz, "overhead": section.overhead},
        "algorithms": {
            name: [
                {
                    "driver": row.driver,
                    "not_applicable": row.reason or None,
                    "cells": [_cell_as_json(cell, section.hz) for cell in row.cells],
                }
                for row in rows
            ]
            for name, rows in section.algorithms.items()
        },
    }


def _cell_as_json(cell: Cell | None, hz: int) -> dict[str, float] | None:
    if cell is None:
        return None
    return {
        "size": cell.size,
        "ticks_minimum": cell.minimum,
        "ticks_median": cell.median,
        "ticks_per_byte": cell.minimum / cell.size,
        "mb_per_s": _mb_per_s(cell, hz),
        "samples": cell.samples,
        "runs": cell.runs,
    }


def _print(sections: list[Section], sizes: tuple[int, ...], operation: str) -> None:
    for section in sections:
        reading = f", {section.overhead} ticks per reading" if section.overhead else ""
        click.echo(
            f"{section.label}: {operation}; ticks are those of {section.clock} at "
            f"{section.hz / 1e6:.0f} MHz{reading}, not core cycles"
        )
        if section is sections[0]:
            click.echo(f"CPU: {cpu_model()}; cryptodispatch {__version__}")
        for name, rows in section.algorithms.items():
            print_table(
                f"{name}, {section.label}",
                [
                    ("implementation", False),
                    ("unit", False),
                    *((str(size), True) for size in sizes),
                ],
                [line for row in rows for line in _lines(row, len(sizes), section.hz)],
            )
            if any(cell is None for row in rows for cell in row.cells):
                click.echo("n/a: the size is no multiple of the algorithm's block")
        click.echo("")


def _lines(row: Row, columns: int, hz: int) -> Iterable[tuple[str, ...]]:
    if row.reason:
        yield (row.driver, f"not applicable: {row.reason}", *[""] * columns)
        return

    def line(label: str, unit: str, texts: Iterable[str]) -> tuple[str, ...]:
        return (label, unit, *texts)

    yield line(
        row.driver,
        "ticks/byte",
        (f"{cell.minimum / cell.size:.2f}" if cell else "n/a" for cell in row.cells),
    )
    yield line(
        "",
        "the median",
        (f"{cell.median / cell.size:.2f}" if cell else "n/a" for cell in row.cells),
    )
    yield line("", "MB/s", (f"{_mb_per_s(cell, hz):.0f}" if cell else "n/a" for cell in row.cells))


def _check_plot(path: Path) -> None:
    """Find out before minutes of measuring that there will be no plot."""
    if path.suffix.lower() not in (".png", ".svg"):
        raise click.BadParameter(
            f"{path.name!r} was given, a name ending in .png or .svg is needed", param_hint="--plot"
        )
    if not path.parent.is_dir():
        raise click.BadParameter(f"{path}: there is no such folder", param_hint="--plot")
    try:
        importlib.import_module("matplotlib")  # an extra, and slow to import
    except ImportError as error:
        raise click.ClickException(
            "--plot needs matplotlib, which is not installed: pip install 'cryptodispatch[plot]'"
        ) from error


def _plot(path: Path, sections: list[Section], operation: str) -> None:
    """Draw one panel per algorithm and section: what is simulated shares none with the host."""
    panels = [
        (section, name, rows) for section in sections for name, rows in section.algorithms.items()
    ]
    columns = min(len(panels), 3)
    lines = -(-len(panels) // columns)
    figure = importlib.import_module("matplotlib.figure").Figure(
        figsize=(5.2 * columns, 4.2 * lines), layout="constrained"
    )
    for index, (section, name, rows) in enumerate(panels):
        axes = figure.add_subplot(lines, columns, index + 1)
        for row in rows:
            cells = [cell for cell in row.cells if cell is not None]
            if cells:
                axes.plot(
                    [cell.size for cell in cells],
                    [_mb_per_s(cell, section.hz) for cell in cells],
                    marker="o",
                    label=row.driver,
                )
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        sizes = sorted({cell.size for row in rows for cell in row.cells if cell is not None})
        axes.set_xticks(sizes, list(map(str, sizes)))
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter("{x:g}")
        axes.tick_params(which="both", labelsize=7)
        axes.set_xlabel("bytes per request")
        axes.set_ylabel("MB/s")
        axes.set_title(f"{name}\n{section.label}, {operation}", fontsize=9)
        axes.grid(visible=True, which="both", alpha=0.3)
        if axes.lines:
            axes.legend(fontsize=7)
    figure.suptitle(f"cryptodispatch {__version__} on {cpu_model()}", fontsize=10)
    try:
        figure.savefig(path)
    except OSError as error:
        raise click.ClickException(f"--plot: {path}: {error.strerror}") from error
