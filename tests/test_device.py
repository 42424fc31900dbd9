"""The engine as a whole: opening, closing, faults, time."""

from __future__ import annotations

import time

import pytest
from aes_support import material, oracle

import cryptodispatch as cd
from cryptodispatch import eip93


def names() -> list[str]:
    return [entry.driver for entry in cd.algorithms()]


def test_open_and_close_100_times() -> None:
    """R033: the registry afterwards is the registry before."""
    before = names()
    for _ in range(100):
        with eip93.Device.emulated():
            assert set(names()) - set(before) == {
                member for group in eip93.GROUPS for member in group.members
            }
        assert names() == before


def test_second_device_is_refused_and_leaves_the_first() -> None:
    with eip93.Device.emulated():
        with pytest.raises(cd.DeviceError, match="eip93"):
            eip93.Device.emulated()
        assert len(cd.Cipher("cbc(aes-eip93)", bytes(16)).encrypt(bytes(16), bytes(16))) == 16


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"ring_entries": 3}, ValueError),
        ({"ring_entries": 1025}, ValueError),
        ({"ring_entries": -1}, ValueError),
        ({"request_timeout": 0}, ValueError),
        ({"request_timeout": float("nan")}, ValueError),
        ({"variant": "94"}, ValueError),
        ({"engine": "an9999"}, ValueError),
    ],
)
def test_wrong_arguments(arguments: dict[str, object], error: type[Exception]) -> None:
    before = names()
    with pytest.raises(error, match=next(iter(arguments)).split("_")[0]):
        eip93.Device.emulated(**arguments)  # type: ignore[arg-type]
    assert names() == before


@pytest.mark.parametrize("entries", [4, 8, 512])
def test_r001_rings_of_every_size(entries: int) -> None:
    with eip93.Device.emulated(ring_entries=entries) as device:
        cipher = cd.Cipher("cbc(aes-eip93)", bytes(16))
        rows = [material("cbc", 16, 64, seed)[1:] for seed in range(3 * entries + 1)]
        out = cipher.encrypt_many([text for _, text in rows], [iv for iv, _ in rows])
        assert out == [oracle("cbc", bytes(16), iv, text) for iv, text in rows]
        assert device.counters.requests == 3 * entries + 1


def test_use_after_close() -> None:
    device = eip93.Device.emulated()
    cipher = cd.Cipher("cbc(aes-eip93)", bytes(16))
    device.close()
    device.close()
    with pytest.raises(cd.DeviceError):
        cipher.encrypt(bytes(16), bytes(16))
    with pytest.raises(cd.DeviceError):
        cipher.set_key(bytes(16))
    with pytest.raises(cd.DeviceError):
        _ = device.counters
    with pytest.raises(cd.DeviceError):
        device.emulator.read32(0x1FC)
    with pytest.raises(cd.UnknownAlgorithmError):
        cd.Cipher("cbc(aes-eip93)", bytes(16))


# R007, R059: whatever the chip does, every request ends, and the next ones work.
@pytest.mark.parametrize(
    ("fault", "value", "recovers"),
    [
        ("dma_read", 0, False),
        ("dma_write", 0, False),
        ("lost", 0, False),
        ("hang", 0, False),
        ("wrong_id", 0, False),
        ("half_owned", 0, False),
        ("no_interrupt", 0, True),
        ("status", 0x08, False),
        ("status", 0x28, False),
        ("status", 0x38, False),
        ("status", 0x78, False),
        ("late", 0, True),
        ("map", 0, False),
    ],
)
def test_faults_end_in_an_error_or_the_right_answer(
    fault: str, value: int, *, recovers: bool
) -> None:
    with eip93.Device.emulated(request_timeout=0.05) as device:
        cipher = cd.Cipher("cbc(aes-eip93)", bytes(16))
        expected = oracle("cbc", bytes(16), bytes(16), bytes(64))
        assert cipher.encrypt(bytes(64), bytes(16)) == expected
        device.emulator.inject(fault, skip=0, count=1, value=value)
        start = time.monotonic()
        if recovers:
            assert cipher.encrypt(bytes(64), bytes(16)) == expected
        else:
            with pytest.raises((cd.DeviceError, MemoryError), match="aes-eip93"):
                cipher.encrypt(bytes(64), bytes(16))
        assert time.monotonic() - start < 5
        for _ in range(3):
            assert cipher.encrypt(bytes(64), bytes(16)) == expected
        counters = device.counters
        assert counters.requests == counters.completed
        assert counters.maps == counters.unmaps


def test_paced_engine_takes_its_time() -> None:
    with eip93.Device.emulated(engine="an7581") as device:
        assert device.machine is not None
        cipher = cd.Cipher("cbc(aes-eip93)", bytes(16))
        cipher.encrypt(bytes(16), bytes(16))
        start = time.perf_counter()
        for _ in range(50):
            cipher.encrypt(bytes(4096), bytes(16))
        # 256 blocks of 61 clocks at 530 MHz alone are 29 us: a lower bound, not a timing.
        assert time.perf_counter() - start > 50 * 29e-6


def test_registers_of_the_open_device() -> None:
    with eip93.Device.emulated() as device:
        assert device.emulator.read32(0x1FC) & 0xFF == 0x5D
        assert device.emulator.read32(0x088) & 0x3FF == 511
        assert device.emulator.read32(0x090) == 0
        assert device.emulator.read32(0x208) & 2


def test_repr() -> None:
    with eip93.Device.emulated("an7581") as device:
        assert "an7581" in repr(device)
    assert "closed" in repr(device)


# What the chip's option word leaves out is not registered, nor are its proxies.
@pytest.mark.parametrize(
    ("variant", "count", "missing"),
    [
        ("93ies", 32, ()),
        ("93ie", 26, ("md5",)),
        ("93is", 20, ("sha224", "sha256")),
        ("93i", 14, ("md5", "sha224", "sha256")),
        ("93iw", 14, ("md5", "sha224", "sha256")),
    ],
)
def test_variants(variant: str, count: int, missing: tuple[str, ...]) -> None:
    with eip93.Device.emulated(variant=variant) as device:
        engine = [entry for entry in cd.algorithms() if "eip93" in entry.driver]
        assert len(engine) == count
        assert not [e.driver for e in engine if any(name in e.driver for name in missing)]
        sizes = {e.key_sizes for e in engine if e.name == "cbc(aes)"}
        assert sizes == {(16, 24, 32) if "e" in variant else (16,)}
        device.fallback.enable()
        proxies = {entry.driver for entry in cd.algorithms() if entry.proxy}
        assert proxies == {f"fallback({entry.driver})" for entry in engine}
