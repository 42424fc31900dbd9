"""Several passes of measuring made one: a hiccup in one of them changes nothing."""

from __future__ import annotations

import json
import random
import subprocess
import sys

import pytest

import cryptodispatch as cd
from cryptodispatch import benchmark, eip93
from cryptodispatch.cli._passes import Pass, combine, one_pass
from cryptodispatch.cli._tune import _agreement, verdict


def row(size: int, hardware: int, software: int, samples: int = 8) -> cd.Measurement:
    winner = "hardware" if hardware < software else "software"
    return cd.Measurement(size, hardware, software, samples, winner)


def one(*rows: cd.Measurement) -> Pass:
    """A pass as the framework makes it of what it measures: it stops at the first hardware win."""
    taken = []
    for index, found in enumerate(rows):
        taken.append(found)
        if found.winner == "hardware":
            return Pass(rows[index - 1].size if index else 0, tuple(taken), "")
    return Pass(-1, tuple(taken), "")


# The hardware wins from 1024 bytes on.
TRUE = (row(16, 900, 100), row(512, 900, 800), row(1024, 950, 1600))
FAILED = Pass(0, (), "timeout")


def test_a_hiccup_of_software_ends_one_pass_too_early() -> None:
    """As found: the hardware "wins" by a factor of 5.8 at a size where it never does."""
    hiccup = one(row(16, 900, 5200), *TRUE[1:])
    assert hiccup.threshold == 0
    for passes in ([hiccup, one(*TRUE), one(*TRUE)], [one(*TRUE), hiccup], [one(*TRUE), hiccup]):
        result = combine(passes)
        assert (result.threshold, result.measurements, result.failure) == (512, TRUE, "")
        assert not result.agreed
    assert combine([one(*TRUE), hiccup]).passes == (512, 0)


def test_a_hiccup_of_the_hardware_goes_on_too_long() -> None:
    hiccup = one(*TRUE[:2], row(1024, 9500, 1600), row(2048, 1000, 3200))
    assert hiccup.threshold == 1024
    result = combine([hiccup, one(*TRUE)])
    assert (result.threshold, result.measurements) == (512, TRUE)


def test_a_hiccup_in_each_pass() -> None:
    passes = [
        one(row(16, 900, 1000)),
        one(TRUE[0], row(512, 900, 5000)),
        one(*TRUE[:2], row(1024, 9000, 1600), row(2048, 1000, 3200)),
        one(row(16, 900, 100), row(512, 900, 800), row(1024, 950, 1700)),
    ]
    assert [found.threshold for found in passes] == [0, 16, 1024, 512]
    assert combine(passes).threshold == 512


def test_never_and_always() -> None:
    never = one(row(16, 10, 1), row(64, 10, 2))
    assert combine([never, never]).threshold == -1
    assert combine([never, never]).agreed
    always = one(row(16, 1, 10))
    assert combine([always, always]).threshold == 0
    # A tie of the minima is software's.
    assert combine([one(row(16, 5, 9)), one(row(16, 9, 5), row(64, 9, 5))]).threshold == -1


def test_sums_of_more_samples_are_scaled() -> None:
    """8 or 24 samples: the sum of one size in two passes need not be of as many."""
    few, many = row(16, 104, 80), row(16, 297, 246, samples=24)
    (found,) = combine([one(few), one(many)]).measurements
    assert found == row(16, 297, 240, samples=24)


def test_failures() -> None:
    result = combine([FAILED, one(*TRUE), FAILED])
    assert (result.threshold, result.failure, result.passes) == (512, "", (None, 512, None))
    assert not result.agreed
    result = combine([FAILED, FAILED])
    assert (result.threshold, result.failure, result.passes) == (0, "timeout", (None, None))
    assert verdict(result).startswith("not measured (timeout)")


@pytest.mark.parametrize("seed", range(200))
def test_there_is_always_an_answer(seed: int) -> None:
    """Whatever is measured: the rows end with the first hardware win, or reach the last size."""
    source = random.Random(seed)
    passes = [
        one(*(row(s, source.randrange(1, 6), source.randrange(1, 6)) for s in benchmark.SIZES))
        for _ in range(source.randrange(1, 6))
    ]
    result = combine(passes)
    winners = [found.winner for found in result.measurements]
    assert winners[:-1] == ["software"] * (len(winners) - 1)
    sizes = [found.size for found in result.measurements]
    assert sizes == list(benchmark.SIZES[: len(sizes)])
    if winners[-1] == "hardware":
        assert result.threshold == (sizes[-2] if len(sizes) > 1 else 0)
    else:
        assert (result.threshold, len(sizes)) == (-1, len(benchmark.SIZES))
    if len(passes) == 1:
        assert (result.threshold, result.measurements) == (
            passes[0].threshold,
            passes[0].measurements,
        )


def test_one_pass_is_what_the_framework_says() -> None:
    with eip93.Device.emulated(machine="an7581") as device:
        device.fallback.enable()
        for group in device.fallback.values():
            result = combine([one_pass(group)])
            assert (result.threshold, result.measurements) == (group.threshold, group.measurements)
            assert verdict(result) == verdict(group)


def test_one_line_says_which_groups_passes_disagreed() -> None:
    good, bad = combine([one(*TRUE)] * 3), combine([one(*TRUE), FAILED, one(row(16, 1, 2))])
    assert _agreement({"a": good}) == "All 3 passes gave these thresholds."
    text = _agreement({"a": good, "b": bad})
    assert "3 passes disagreed on b (512, failed, 0): " in text
    assert "\n" not in text


def tune(*arguments: str) -> str:
    command = [sys.executable, "-m", "cryptodispatch", "tune", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_a_host_is_measured_in_passes_and_a_simulated_machine_is_not() -> None:
    found = json.loads(tune("--json"))
    for group in found["groups"].values():
        assert len(group["passes"]) == 5
        last = group["measurements"][-1]
        won = last["winner"] == "hardware"
        sizes = [0, *(entry["size"] for entry in group["measurements"])]
        assert group["threshold"] == (sizes[-2] if won else -1)
    assert found["units"]["hardware"] == "ticks of the clock, sum of the samples"
    simulated = json.loads(tune("--json", "--machine", "an7581"))
    assert not [group for group in simulated["groups"].values() if "passes" in group]
    assert "passes" in tune().splitlines()[-1]
    assert "passes" not in tune("--machine", "an7581")
