"""Cost of 1000 records at once, as lists and packed: this package beside the peers' loops.

The time is that of all records. See test_cipher_calls.py for how to run it.
"""

import batches
import pytest
import suite
from pytest_benchmark.fixture import BenchmarkFixture

BATCHES = [
    pytest.param(name, label, size, id=f"{batches.OPERATIONS[name]}-{suite.slug(label)}-{size}")
    for name, make in batches.MAKERS.items()
    for label in make(batches.batch(16))
    for size in (*batches.SIZES, batches.MIXED)
]


@pytest.mark.parametrize(("name", "label", "size"), BATCHES)
def test_batch(benchmark: BenchmarkFixture, name: str, label: str, size: int | str) -> None:
    benchmark.group = f"{batches.COUNT} x {batches.OPERATIONS[name]} {size}"
    work = batches.batch(size)
    call = batches.MAKERS[name](work)[label]
    value = benchmark(call.function, *call.arguments)
    assert call.outcome(value) == batches.expected(name, work)
