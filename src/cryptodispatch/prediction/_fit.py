"""Two lines and where they meet.

The time of a request is taken as overhead + per_byte * size on either side. The fit minimises the
squared relative error, so that 16 bytes count as much as 16 KiB; neither parameter is negative.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from cryptodispatch import benchmark
from cryptodispatch.prediction._tables import Side, Table

__all__ = ["Line", "Prediction", "fit", "predict"]

NEVER, ALWAYS = -1, 0


@dataclass(frozen=True, slots=True)
class Line:
    """A fitted side.

    Attributes:
        overhead: time of a request of no bytes.
        per_byte: time per byte.
        error: largest relative error among the points.
        points: how many there were.
    """

    overhead: float
    per_byte: float
    error: float
    points: int

    def at(self, size: float) -> float:
        """Time of a request of `size` bytes."""
        return self.overhead + self.per_byte * size

    @property
    def bandwidth(self) -> float:
        """Bytes per unit of time in the limit of long requests; infinite if bytes cost nothing."""
        return 1 / self.per_byte if self.per_byte > 0 else float("inf")


@dataclass(frozen=True, slots=True)
class Prediction:
    """From which size the hardware pays.

    Attributes:
        algorithm: as the table names it.
        time_unit: of overhead and per_byte.
        hardware, software: the fitted sides.
        crossover: bytes from which the hardware is faster; -1 never, 0 from the first byte.
        method: ``"fit"``: where the lines meet; ``"interpolated"``: the measured points themselves
            say between which sizes it is, and the lines meet outside, so linear between those.
        first_win: (largest measured size at which software wins, next measured size) if both
            sides were measured there; None if no size was measured on both, or none was won.
        threshold: what the fallback would choose on these lines at its own sizes.
        error: the larger of both fits' errors.
        note: what is unusual; empty if nothing is.
        id, measured: of the table.
    """

    algorithm: str
    time_unit: str
    hardware: Line
    software: Line
    crossover: float
    method: str
    first_win: tuple[int, int] | None
    threshold: int
    error: float
    note: str
    id: str
    measured: str


def fit(side: Side) -> Line:
    """Fit a line to a side of at least two points.

    Raises:
        ValueError: there are fewer.
    """
    if len(side.sizes) < 2:
        raise ValueError(f"{len(side.sizes)} point was given, at least 2 are needed for a line")
    weights = [1 / (time * time) for time in side.times]
    rows = list(zip(weights, side.sizes, side.times, strict=True))
    w = sum(weights)
    wx = sum(weight * x for weight, x, _ in rows)
    wxx = sum(weight * x * x for weight, x, _ in rows)
    wy = sum(weight * y for weight, _, y in rows)
    wxy = sum(weight * x * y for weight, x, y in rows)
    determinant = w * wxx - wx * wx
    overhead = (wy * wxx - wx * wxy) / determinant
    per_byte = (w * wxy - wx * wy) / determinant
    if per_byte < 0:
        overhead, per_byte = wy / w, 0.0
    elif overhead < 0:
        overhead, per_byte = 0.0, wxy / wxx
    error = max(abs(overhead + per_byte * x - y) / y for _, x, y in rows)
    return Line(overhead, per_byte, error, len(rows))


def predict(table: Table) -> Prediction:
    """Fit both sides of a table and say where they meet.

    Raises:
        ValueError: a side is missing or has fewer than two points.
    """
    lines = {}
    for name, side in (("hardware", table.hardware), ("software", table.software)):
        if side is None:
            raise ValueError(f"{name}: there is no such row")
        try:
            lines[name] = fit(side)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
    hardware, software = lines["hardware"], lines["software"]
    crossover, note = _meet(hardware, software)
    first_win, interpolated = _observed(table)
    method = "fit"
    if first_win is not None and not first_win[0] <= crossover <= first_win[1]:
        crossover, method = interpolated, "interpolated"
    return Prediction(
        algorithm=table.algorithm,
        time_unit=table.time_unit,
        hardware=hardware,
        software=software,
        crossover=crossover,
        method=method,
        first_win=first_win,
        threshold=_threshold(hardware.at, software.at),
        error=max(hardware.error, software.error),
        note=note,
        id=table.id,
        measured=table.measured,
    )


def _meet(hardware: Line, software: Line) -> tuple[float, str]:
    head_start = _difference(hardware.overhead, software.overhead)
    gain = _difference(software.per_byte, hardware.per_byte)
    if head_start >= 0 and gain <= 0:
        return NEVER, ""  # a tie too is software's, as in the fallback
    if head_start <= 0 and gain >= 0:
        return ALWAYS, ""
    if head_start < 0:
        return ALWAYS, f"the hardware wins only below {head_start / gain:.0f} bytes"
    return head_start / gain, ""


def _difference(first: float, second: float) -> float:
    """Subtract; what may be the rounding of a fit counts as nothing."""
    return 0.0 if math.isclose(first, second, rel_tol=1e-9) else first - second


def _observed(table: Table) -> tuple[tuple[int, int] | None, float]:
    """Between which measured sizes the hardware first wins and keeps winning, and where between."""
    if table.hardware is None or table.software is None:
        return None, NEVER
    hardware = dict(zip(table.hardware.sizes, table.hardware.times, strict=True))
    software = dict(zip(table.software.sizes, table.software.times, strict=True))
    common = sorted(hardware.keys() & software.keys())
    gaps = [hardware[size] - software[size] for size in common]
    wins = [gap < 0 for gap in gaps]
    if not any(wins) or all(wins):
        return None, NEVER
    first = wins.index(True)
    if first == 0 or not all(wins[first:]):
        return None, NEVER
    low, high = common[first - 1], common[first]
    share = gaps[first - 1] / (gaps[first - 1] - gaps[first])
    return (low, high), low + share * (high - low)


def _threshold(hardware: Callable[[float], float], software: Callable[[float], float]) -> int:
    """The framework's rule on the framework's sizes."""
    previous = 0
    for size in benchmark.SIZES:
        if hardware(size) < software(size):
            return previous
        previous = size
    return NEVER
