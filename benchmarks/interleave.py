"""Timing callables against each other on a machine whose speed changes under them.

All run in turn in short samples, each bracketed by a reference loop; samples in which the reference
was slow (somebody else had the core) are dropped. What is compared are medians of one run.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass

from ways import Prepared

SAMPLE_S = 1e-3
QUIET = 1.12  # a reference within 12 % of its best counts as quiet


@dataclass(frozen=True)
class Result:
    """Nanoseconds per call: the best and the median of the quiet samples.

    `spread` is the distance from the best to the ninth decile, as a part of the median.
    """

    best: float
    median: float
    spread: float
    samples: int


def _reference() -> int:
    """A fixed amount of work of the interpreter."""
    start = time.perf_counter_ns()
    total = 0
    for number in range(400):
        total += number
    return time.perf_counter_ns() - start


def _sample(call: Prepared, loops: int) -> float:
    """Nanoseconds per call."""
    function, arguments = call.function, call.arguments
    # One and two arguments are passed plainly, as users do: unpacking a tuple costs 20 ns more.
    counter = range(loops)
    if len(arguments) == 1:
        (first,) = arguments
        start = time.perf_counter_ns()
        for _ in counter:
            function(first)
    elif len(arguments) == 2:
        first, second = arguments
        start = time.perf_counter_ns()
        for _ in counter:
            function(first, second)
    else:
        start = time.perf_counter_ns()
        for _ in counter:
            function(*arguments)
    return (time.perf_counter_ns() - start) / loops


def _loops(call: Prepared) -> int:
    call.function(*call.arguments)
    start = time.perf_counter()
    count = 0
    while time.perf_counter() - start < SAMPLE_S:
        call.function(*call.arguments)
        count += 1
    return max(1, count)


def run(calls: Mapping[str, Prepared], rounds: int = 40) -> dict[str, Result]:
    """Time every call, `rounds` samples each, in turn."""
    loops = {name: _loops(call) for name, call in calls.items()}
    samples: dict[str, list[tuple[int, float]]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            before = _reference()
            value = _sample(call, loops[name])
            samples[name].append((max(before, _reference()), value))
    floor = min(reference for rows in samples.values() for reference, _ in rows)
    results = {}
    for name, rows in samples.items():
        quiet = [value for reference, value in rows if reference <= floor * QUIET]
        values = sorted(quiet or [value for _, value in rows])
        middle = statistics.median(values)
        spread = (values[int(len(values) * 0.9)] - values[0]) / middle
        results[name] = Result(values[0], middle, spread, len(quiet))
    return results
