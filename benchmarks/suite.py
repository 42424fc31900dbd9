"""What the pytest-benchmark suites share: every way of every case at every size, by name."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator

import pytest
from cases import SIZES, Case
from pytest_benchmark.fixture import BenchmarkFixture
from ways import Way

import cryptodispatch as cd


def slug(name: str) -> str:
    """A way's name without spaces: "reuse: hmac copy" becomes "hmac_copy_reuse"."""
    kind, _, peer = name.rpartition(": ")
    words = f"{peer} {kind}" if kind else name
    return words.lower().replace(" + ", "+").replace(" ", "_")


def _ours(case: Case, entry: cd.Algorithm) -> Way:
    if not entry.available:
        pytest.skip(f"not applicable: {entry.driver} {entry.reason}")
    return case.ours(entry.driver)


def _ways(case: Case) -> Iterator[tuple[str, Callable[[], Way]]]:
    """Implementations by name; made when a benchmark asks for them."""
    yield "best", functools.partial(case.ours, case.algorithm)
    if case.ours_into is not None:
        yield "best_into", functools.partial(case.ours_into, case.algorithm)
    for form, entry in case.forms().items():
        yield form, functools.partial(_ours, case, entry)
    for name, way in case.peers().items():
        yield slug(name), functools.partial(_given, way)


def _given(way: Way) -> Way:
    return way


def parameters(cases: Iterable[Case]) -> list[object]:
    """One per case, way and size that the case allows; named alg-implementation-size."""
    return [
        pytest.param(case, make, size, id=f"{case.operation}-{name}-{size}")
        for case in cases
        for name, make in _ways(case)
        for size in SIZES
        if size % case.unit == 0
    ]


def run(benchmark: BenchmarkFixture, case: Case, make: Callable[[], Way], size: int) -> None:
    """Time one, then hold it against the oracle."""
    benchmark.group = f"{case.operation} {size}"
    data = case.input(size)
    call = make()(data)
    value = benchmark(call.function, *call.arguments)
    assert call.outcome(value) == case.oracle(data)
