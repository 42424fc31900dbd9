"""Cost of one digest or tag of a whole message: this package beside its peers.

See test_cipher_calls.py for how to run it and for the names.
"""

from collections.abc import Callable

import pytest
import suite
from cases import Case, cases
from pytest_benchmark.fixture import BenchmarkFixture
from ways import Way

HASHES = [case for case in cases() if case.algorithm.startswith(("sha", "md5", "hmac("))]


@pytest.mark.parametrize(("case", "make", "size"), suite.parameters(HASHES))
def test_call(benchmark: BenchmarkFixture, case: Case, make: Callable[[], Way], size: int) -> None:
    suite.run(benchmark, case, make, size)
