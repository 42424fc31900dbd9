"""The Python face of the benchmark harness."""

from __future__ import annotations

import time

import pytest

import cryptodispatch as cd
from cryptodispatch import benchmark


def test_clock_info_agrees_with_the_wall() -> None:
    info = benchmark.clock_info()
    assert info.name in ("rdtsc", "cntvct_el0", "clock_gettime")
    assert 0 < info.overhead < info.hz / 1e5
    ratios = []
    for _ in range(5):  # other work may come between the two readings of a pair
        start_ticks, start = benchmark.cycles(), time.perf_counter()
        time.sleep(0.1)
        ticks, seconds = benchmark.cycles() - start_ticks, time.perf_counter() - start
        ratios.append(ticks / info.hz / seconds)
    assert min(abs(ratio - 1) for ratio in ratios) < 0.02


def test_timer_is_seconds() -> None:
    ratios = []
    for _ in range(5):
        start, wall = benchmark.timer(), time.perf_counter()
        time.sleep(0.05)
        ratios.append((benchmark.timer() - start) / (time.perf_counter() - wall))
    assert min(abs(ratio - 1) for ratio in ratios) < 0.02


def test_measure() -> None:
    cipher = cd.Cipher("cbc(aes-lib)", bytes(16))
    timing = benchmark.measure(cipher, 1024)
    assert (timing.size, timing.runs) == (1024, 8)
    assert timing.ticks > 0
    assert timing.per_request == timing.ticks / 8
    assert benchmark.measure(cipher, 16, warmup=0, runs=1).runs == 1


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        ((None, 16), TypeError, "transform"),
        (("cipher", 0), ValueError, "size"),
        (("cipher", -16), ValueError, "size: -16"),
        (("cipher", 2**40), ValueError, "size"),
        (("cipher", 15), ValueError, "multiples of 16"),
        (("cipher", 16, -1), ValueError, "warmup"),
        (("cipher", 16, 4, 0), ValueError, "runs"),
        (("cipher", 16.0), TypeError, "float"),
    ],
)
def test_measure_refuses(arguments: tuple[object, ...], error: type[Exception], said: str) -> None:
    cipher = cd.Cipher("cbc(aes-lib)", bytes(16))
    values = [cipher if value == "cipher" else value for value in arguments]
    with pytest.raises(error, match=said):
        benchmark.measure(*values)  # type: ignore[arg-type]


def test_measure_needs_a_key() -> None:
    with pytest.raises(cd.InvalidKeyError):
        benchmark.measure(cd.Cipher("cbc(aes)"), 16)
