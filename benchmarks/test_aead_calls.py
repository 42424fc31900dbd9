"""Cost of sealing and opening one record, encrypt-then-MAC: this package beside its peers.

Opening checks the tag. The size is that of the text, without the tag. See test_cipher_calls.py for
how to run it and for the names.
"""

from collections.abc import Callable

import pytest
import suite
from cases import Case, cases
from pytest_benchmark.fixture import BenchmarkFixture
from ways import Way

AEADS = [case for case in cases() if case.algorithm.startswith("authenc(")]


@pytest.mark.parametrize(("case", "make", "size"), suite.parameters(AEADS))
def test_call(benchmark: BenchmarkFixture, case: Case, make: Callable[[], Way], size: int) -> None:
    suite.run(benchmark, case, make, size)
