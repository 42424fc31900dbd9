"""Where a message in pieces is hashed: states that move, and a proxy that stays on one side."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hash_support import make, message, oracle
from providers import HASHES, driver_of, software_drivers

import cryptodispatch as cd
from cryptodispatch import eip93

GROUP_OF = {"md5": "hash_md5", "sha1": "hash_sha1", "sha224": "hash_sha2", "sha256": "hash_sha2"}


def group_of(device: eip93.Device, name: str) -> cd.FallbackGroup:
    return device.fallback[GROUP_OF[name.removeprefix("hmac(").removesuffix(")")]]


@pytest.fixture
def sides(device: eip93.Device) -> Iterator[dict[str, tuple[str, ...]]]:
    """Driver names by algorithm: software, engine and the proxy, whose threshold a test sets."""
    device.fallback.enable()
    yield {
        name: (
            *software_drivers(name),
            driver_of("eip93", name),
            driver_of("proxy-hardware", name),
        )
        for name in HASHES
    }
    device.fallback.disable()


# R089: a state goes from any implementation to any other, wherever the message stands.
@pytest.mark.parametrize("name", HASHES)
def test_r089_states_move_between_all_implementations(
    device: eip93.Device, sides: dict[str, tuple[str, ...]], name: str
) -> None:
    group = group_of(device, name)
    digesters = [make(driver, name) for driver in sides[name]]
    assert len(digesters) >= 3
    for size in (0, 1, 63, 64, 65, 1000):
        for threshold in (0, -1):
            for giver in digesters:
                group.threshold = threshold  # of a proxy that begins the message
                blob = giver.new(message(size)).export_state()
                group.threshold = -1 - threshold
                for taker in digesters:
                    stream = taker.new(b"left behind")
                    stream.import_state(blob)
                    assert stream.digest() == oracle(name, message(size))
                    stream.update(message(130, 2))
                    expected = oracle(name, message(size) + message(130, 2))
                    assert stream.digest() == expected, (giver, taker, size, threshold)


def test_states_of_all_providers_are_equal_but_for_the_side(
    sides: dict[str, tuple[str, ...]],
) -> None:
    for name, drivers in sides.items():
        plain = [driver for driver in drivers if not driver.startswith("fallback")]
        blobs = {make(driver, name).new(message(100)).export_state() for driver in plain}
        assert len(blobs) == 1, name


# R055: a stream stays where it began, whatever the threshold becomes.
@pytest.mark.parametrize("sizes", [(10, 2**20), (2**20, 10)])
@pytest.mark.parametrize("name", ["sha256", "hmac(md5)", "sha1"])
@pytest.mark.parametrize("threshold", [0, -1, 512])
def test_r055_one_provider_for_the_whole_stream(
    device: eip93.Device, name: str, sizes: tuple[int, int], threshold: int
) -> None:
    device.fallback.enable()
    group = group_of(device, name)
    digester = make(driver_of("proxy-hardware", name), name)
    text = message(sum(sizes))
    group.threshold = threshold
    before, packets = group.counters, device.emulator.counters.packets
    stream = digester.new(text[: sizes[0]])
    group.threshold = 0 if threshold == -1 else -1
    stream.update(text[sizes[0] :])
    assert stream.digest() == oracle(name, text)
    # Only a threshold below 0 sends a message of unknown size to software.
    changed = {why: n - before[why] for why, n in group.counters.items() if n != before[why]}
    wanted = {0: "no_threshold", -1: "always_software", 512: "above_threshold"}
    assert changed == {wanted[threshold]: 1}
    used = device.emulator.counters.packets - packets
    assert used == 0 if threshold == -1 else used > 0
    device.fallback.disable()


def test_exported_state_carries_the_side(device: eip93.Device) -> None:
    device.fallback.enable()
    for name in HASHES:
        group = group_of(device, name)
        digester = make(driver_of("proxy-hardware", name), name)
        for threshold in (0, -1):
            group.threshold = threshold
            blob = digester.new(message(100)).export_state()
            group.threshold = -1 - threshold
            stream = digester.new()
            stream.import_state(blob)
            packets = device.emulator.counters.packets
            stream.update(message(500, 3))
            assert stream.digest() == oracle(name, message(100) + message(500, 3))
            used = device.emulator.counters.packets - packets
            assert (used > 0) == (threshold == 0), (name, threshold)
    device.fallback.disable()
