"""Reading tables of measurements: figures in any published unit become a time per request.

A file is TOML with one ``[[table]]`` per algorithm and way of measuring::

    tick_hz = 25000000           # ticks or cycles per second; only with those units
    [[table]]
    algorithm = "cbc(aes)-128"   # any name
    unit = "ticks"
    sizes = [16, 256, 1024, 4096]
    hardware = [322, 312, 434, 980]
    software = [18, 138, 520, 2051]

==================== ============================================================================
field                meaning
==================== ============================================================================
algorithm            name; needed
unit                 of the figures; needed: s, ms, us, ns, ticks or cycles of a request; B/s, kB/s,
                     MB/s (powers of 1000); ops/s; operations in `seconds`
sizes                bytes of a request; or hardware_sizes, software_sizes, where they differ
hardware             the engine's figures, one for each size
software             the CPU's; another name with `cryptodispatch predict --software NAME`
seconds              with unit operations: how long each size ran; or hardware_seconds, ...
fallback, threshold  figures of an engine with its software fallback on: software up to threshold
                     bytes and hardware above (threshold_rule "below": software below it)
id, api, direction   tell tables of one algorithm apart; optional
tick_hz              of the file: without it ticks and cycles stay what they are
==================== ============================================================================

Other fields are not read.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["SOFTWARE", "Side", "Table", "load_tables"]

SOFTWARE = "software"  # the row that is the software side unless another is asked for
_THROUGHPUT = {"B/s": 1.0, "kB/s": 1e3, "MB/s": 1e6}
_TIMES = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1.0}


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a table: time per request at several sizes, ascending.

    Attributes:
        sizes: bytes.
        times: of one request, in the table's time unit.
    """

    sizes: tuple[int, ...]
    times: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """One algorithm measured on both sides.

    Attributes:
        algorithm: as the file names it.
        time_unit: ``"ns"``, or ``"cycles"`` where their frequency is not known.
        hardware, software: the sides; None where the file has no such row.
        id: what the file calls the table; else its number, from 1.
        measured: by what and in which direction, if the file says so; empty if not.
    """

    algorithm: str
    time_unit: str
    hardware: Side | None
    software: Side | None
    id: str = ""
    measured: str = ""


def load_tables(path: Path, software: str = SOFTWARE) -> list[Table]:
    """Read the tables of a TOML file of the format above.

    Args:
        path: of the file.
        software: name of the row that is the software side, as ``"software_ce"``.

    Raises:
        LookupError: no table has a row `software`, which is not the usual one.
        ValueError: the file is not of that format; the text names file, table and field.
        OSError: it cannot be read.
    """
    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: not TOML: {error}") from error
    rows = document.get("table")
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        more = (
            ": it has [[break_even]] alone, which says where the sides meet, and no times to fit"
            if "break_even" in document
            else ""
        )
        raise ValueError(f"{path}: table: at least one [[table]] is needed{more}")
    if software != SOFTWARE and not any(software in row for row in rows):
        found = dict.fromkeys(name for row in rows for name in row if _is_software(name))
        raise LookupError(
            f"{path}: no table has a row {software!r}; rows of software are: "
            f"{', '.join(found) or 'none'}"
        )
    numbered = [{"id": index + 1, **row} for index, row in enumerate(rows)]
    return [
        _table(row, document.get("tick_hz"), f"{path}: table {row['id']}", software)
        for row in numbered
    ]


def _is_software(name: str) -> bool:
    """Whether a field is a row of software's figures, not their sizes, seconds or name."""
    return "software" in name and not name.endswith(("_sizes", "_seconds", "_name", "_version"))


def _table(row: Mapping[str, Any], tick_hz: object, where: str, software_row: str) -> Table:
    algorithm = row.get("algorithm")
    if not isinstance(algorithm, str) or not algorithm:
        raise ValueError(f"{where}: algorithm: a name is needed")
    hardware = _side(row, "hardware", tick_hz, where)
    software = _side(row, software_row, tick_hz, where)
    fallback = _side(row, "fallback", tick_hz, where)
    if fallback is not None and "threshold" in row:
        low, high = _split(fallback, row, where)
        software = software or low
        hardware = hardware or high
    unit = row.get("unit")
    in_cycles = unit in ("ticks", "cycles") and tick_hz is None
    measured = ", ".join(str(row[name]) for name in ("api", "direction") if name in row)
    time_unit = "cycles" if in_cycles else "ns"
    return Table(algorithm, time_unit, hardware, software, str(row["id"]), measured)


def _numbers(row: Mapping[str, Any], field: str, where: str) -> list[float]:
    values = row[field]
    if not isinstance(values, list) or not values:
        raise ValueError(f"{where}: {field}: a list of numbers is needed")
    for value in values:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ValueError(f"{where}: {field}: {value!r} is not a number")  # noqa: TRY004 - of a file
        if not math.isfinite(value) or value <= 0:
            raise ValueError(f"{where}: {field}: {value!r} was given, numbers above 0 are allowed")
    return [float(value) for value in values]


def _side(row: Mapping[str, Any], name: str, tick_hz: object, where: str) -> Side | None:
    if name not in row:
        return None
    sizes_field = f"{name}_sizes" if f"{name}_sizes" in row else "sizes"
    if sizes_field not in row:
        raise ValueError(f"{where}: {sizes_field}: the sizes of {name} are needed")
    sizes = _numbers(row, sizes_field, where)
    figures = _numbers(row, name, where)
    if len(sizes) != len(figures):
        raise ValueError(
            f"{where}: {name}: {len(figures)} figures were given for {len(sizes)} sizes"
        )
    if any(size != int(size) for size in sizes) or len(set(sizes)) != len(sizes):
        raise ValueError(f"{where}: {sizes_field}: whole numbers, each once, are needed")
    seconds = _seconds(row, name, len(sizes), where)
    points = sorted(
        (int(size), _nanoseconds(figure, size, duration, row.get("unit"), tick_hz, where))
        for size, figure, duration in zip(sizes, figures, seconds, strict=True)
    )
    return Side(tuple(size for size, _ in points), tuple(time for _, time in points))


def _seconds(row: Mapping[str, Any], name: str, count: int, where: str) -> Sequence[float]:
    """Duration of each run, where the unit is a count of operations."""
    if row.get("unit") != "operations":
        return [1.0] * count
    field = f"{name}_seconds" if f"{name}_seconds" in row else "seconds"
    if field not in row:
        raise ValueError(f"{where}: seconds: needed with unit 'operations'")
    seconds = _numbers(row, field, where)
    if len(seconds) != count:
        raise ValueError(f"{where}: {field}: {len(seconds)} were given for {count} sizes")
    return seconds


def _nanoseconds(
    figure: float, size: float, seconds: float, unit: object, tick_hz: object, where: str
) -> float:
    if unit in _THROUGHPUT:
        return size / (figure * _THROUGHPUT[str(unit)]) * 1e9
    if unit in _TIMES:
        return figure * _TIMES[str(unit)]
    if unit == "ops/s":
        return 1e9 / figure
    if unit == "operations":
        return seconds / figure * 1e9
    if unit in ("ticks", "cycles"):
        if tick_hz is None:
            return figure
        if isinstance(tick_hz, bool) or not isinstance(tick_hz, (int, float)) or not tick_hz > 0:
            raise ValueError(f"{where}: tick_hz: {tick_hz!r} was given, a number above 0 is needed")
        return figure / tick_hz * 1e9
    allowed = ", ".join([*_THROUGHPUT, *_TIMES, "ops/s", "operations", "ticks", "cycles"])
    raise ValueError(f"{where}: unit: {unit!r} was given, {allowed} are allowed")


def _split(fallback: Side, row: Mapping[str, Any], where: str) -> tuple[Side | None, Side | None]:
    """A row measured with the fallback on is software up to its threshold and hardware above."""
    threshold, rule = row["threshold"], row.get("threshold_rule", "at_most")
    if isinstance(threshold, bool) or not isinstance(threshold, int) or threshold < -1:
        raise ValueError(f"{where}: threshold: {threshold!r} was given, -1 or more is allowed")
    if rule not in ("at_most", "below"):
        raise ValueError(f"{where}: threshold_rule: {rule!r} was given, at_most, below are allowed")
    limit = threshold if rule == "at_most" else threshold - 1
    points = list(zip(fallback.sizes, fallback.times, strict=True))
    parts = (
        [point for point in points if threshold == -1 or point[0] <= limit],
        [point for point in points if threshold != -1 and point[0] > limit],
    )
    low, high = (
        Side(tuple(size for size, _ in part), tuple(time for _, time in part)) if part else None
        for part in parts
    )
    return low, high
