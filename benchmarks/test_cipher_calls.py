"""Cost of one call of a cipher: this package beside its peers, per operation and size.

    pip install '.[bench]'
    python -m pytest benchmarks --benchmark-timer=cryptodispatch.benchmark.timer

`best` is what the algorithm's name stands for, `best_into` the same with a buffer of the caller's,
then each implementation of ours, then the peers: `_documented` and `_reuse` as cases.py says. There
are many; choose with -k, and shorten with --benchmark-max-time=0.1.
"""

from collections.abc import Callable

import pytest
import suite
from cases import Case, cases
from pytest_benchmark.fixture import BenchmarkFixture
from ways import Way

CIPHERS = [case for case in cases() if case.algorithm.startswith(("ecb(", "cbc(", "ctr("))]


@pytest.mark.parametrize(("case", "make", "size"), suite.parameters(CIPHERS))
def test_call(benchmark: BenchmarkFixture, case: Case, make: Callable[[], Way], size: int) -> None:
    suite.run(benchmark, case, make, size)
