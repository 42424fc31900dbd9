"""Several passes of measuring made one: what a hiccup of the host added is not in the minima."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from cryptodispatch import FallbackGroup, Measurement

__all__ = ["Pass", "Result", "combine", "one_pass"]

_NEVER = -1


@dataclass(frozen=True, slots=True)
class Pass:
    """What one measuring of a group gave, in the words of ``FallbackGroup``."""

    threshold: int
    measurements: tuple[Measurement, ...]
    failure: str


@dataclass(frozen=True, slots=True)
class Result:
    """What all passes say of a group together.

    Attributes:
        threshold: by the framework's rule on `measurements`; 0 if all passes failed.
        measurements: for each size the minima of each side, up to the first hardware win.
        failure: why the last pass failed, if none succeeded; else empty.
        passes: the threshold that each gave by itself; None: it failed.
    """

    threshold: int
    measurements: tuple[Measurement, ...]
    failure: str
    passes: tuple[int | None, ...]

    @property
    def agreed(self) -> bool:
        """Every pass gave the same threshold."""
        return len(set(self.passes)) == 1


def one_pass(group: FallbackGroup) -> Pass:
    """Take what the last enabling measured."""
    return Pass(group.threshold, group.measurements, group.failure)


def combine(passes: Sequence[Pass]) -> Result:
    """Combine the passes of one group, at least one; pure.

    Something else on the CPU only ever adds time, so each side's smallest sum over the passes is
    the nearest to what it costs. The framework's rule is then applied to these: the hardware wins
    a size only if strictly lower, and the threshold is the size before its first win. That win is
    among the rows, or they reach the last size: of the passes that measured the largest size, each
    stopped there because the hardware won, and then its minimum is the lower one too.
    """
    thresholds = tuple(None if one.failure else one.threshold for one in passes)
    good = [one for one in passes if not one.failure]
    if not good:
        return Result(0, passes[-1].measurements, passes[-1].failure, thresholds)
    by_size: dict[int, list[Measurement]] = {}
    for one in good:
        for row in one.measurements:
            by_size.setdefault(row.size, []).append(row)
    rows: list[Measurement] = []
    for size in sorted(by_size):
        rows.append(_minima(by_size[size]))
        if rows[-1].winner == "hardware":
            threshold = rows[-2].size if len(rows) > 1 else 0
            return Result(threshold, tuple(rows), "", thresholds)
    return Result(_NEVER, tuple(rows), "", thresholds)


def _minima(rows: Sequence[Measurement]) -> Measurement:
    """The least of each side; sums of fewer samples (8, not 24) count as often as needed."""
    samples = math.lcm(*(row.samples for row in rows))
    hardware = min(row.hardware * (samples // row.samples) for row in rows)
    software = min(row.software * (samples // row.samples) for row in rows)
    winner = "hardware" if hardware < software else "software"
    return Measurement(rows[0].size, hardware, software, samples, winner)
