"""Simulated machines: the published figures of the AN7581, measured on the virtual clock."""

from __future__ import annotations

import pytest
from aes_support import material, oracle
from fallback_support import AN7581

import cryptodispatch as cd
from cryptodispatch import _engine, eip93, machine

# Published with the kernel series: tcrypt, cbc(aes)-128 encryption, ticks of 25 MHz.
SIZES = (16, 64, 128, 256, 1024, 1424, 4096)
HARDWARE = (322, 274, 292, 312, 434, 492, 980)
FALLBACK = (18, 43, 74, 138, 439, 488, 1023)
KEY = bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c")


def ticks(device: eip93.Device, cipher: cd.Cipher, size: int) -> float:
    """25 MHz ticks of one request on the machine."""
    assert device.machine is not None
    assert device.clock is not None
    total = _engine.measure(cipher, size, 4, 8, device.clock)
    return total / 8 * device.machine.tick_hz / device.clock.hz


def test_all_nine_thresholds_as_published() -> None:
    results = []
    for _ in range(3):
        with eip93.Device.emulated(machine="an7581") as device:
            assert device.fallback.enable() == AN7581
            results.append({n: group.measurements for n, group in device.fallback.items()})
    assert results[0] == results[1] == results[2]


def test_hash_costs_come_from_descriptors() -> None:
    """The driver of the published figures cuts a message; that is what makes hashing slow there."""
    with eip93.Device.emulated(machine="an7581") as device:
        assert device.machine is not None
        segment = device.machine.hash_segment
        assert segment > 0
        digester = cd.Hash("sha256-eip93")
        for length in (segment, 10 * segment, 100 * segment):
            before = device.counters.descriptors
            digester.digest(bytes(length))
            assert device.counters.descriptors - before >= length // segment
    with eip93.Device.emulated() as device:
        digester = cd.Hash("sha256-eip93")
        before = device.counters.descriptors
        digester.digest(bytes(10_000))
        assert device.counters.descriptors - before == 1


@pytest.mark.parametrize(("size", "published"), list(zip(SIZES, HARDWARE, strict=True)))
def test_tcrypt_hardware_row(size: int, published: int) -> None:
    with eip93.Device.emulated(machine="an7581") as device:
        cipher = cd.Cipher("cbc(aes-eip93)", KEY)
        assert ticks(device, cipher, size) == pytest.approx(published, rel=0.15)


@pytest.mark.parametrize(("size", "published"), list(zip(SIZES, FALLBACK, strict=True)))
def test_tcrypt_fallback_row(size: int, published: int) -> None:
    with eip93.Device.emulated(machine="an7581") as device:
        device.fallback.enable()
        cipher = cd.Cipher("cbc(aes)", KEY)
        assert ticks(device, cipher, size) == pytest.approx(published, rel=0.15)


def test_only_time_is_simulated() -> None:
    with eip93.Device.emulated(machine="an7581") as device:
        assert device.clock is not None
        for driver in ("cbc(aes-an7581)", "cbc(aes-eip93)"):
            key, iv, text = material("cbc", 16, 1024, 1)
            cipher = cd.Cipher(driver, key)
            before = device.clock.now()
            assert cipher.encrypt(text, iv) == oracle("cbc", key, iv, text)
            first = device.clock.now() - before
            cipher.encrypt(text, iv)
            assert device.clock.now() - before == pytest.approx(2 * first, abs=2)
            assert first > 1000


def test_modelled_software_is_bound_by_driver_name_only() -> None:
    with eip93.Device.emulated(machine="an7581"):
        entries = [entry for entry in cd.algorithms() if entry.modelled]
        engine = {member for group in eip93.GROUPS for member in group.members}
        assert {entry.driver for entry in entries} == {
            driver.replace("-eip93", "-an7581") for driver in engine
        }
        for name in ("cbc(aes)", "ecb(des)"):
            assert cd.Cipher(name).driver.endswith("-eip93)")
        assert cd.Hash("md5").driver == "md5-eip93"
    assert not [entry for entry in cd.algorithms() if entry.modelled]


def test_profiles_say_where_numbers_come_from() -> None:
    for name in machine.names():
        profile = machine.load(name)
        assert profile.name == name
        assert profile.fitted
        assert profile.assumed
        assert {row.origin for row in profile.cpu} <= {"fitted", "assumed"}


def test_wrong_names() -> None:
    with pytest.raises(ValueError, match="machine: 'an9999' was given, an7581"):
        machine.load("an9999")
    with pytest.raises(ValueError, match=r"machine: '\.\./x'"):
        eip93.Device.emulated(machine="../x")
    with pytest.raises(TypeError, match="machine: int"):
        machine.load(5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="machine, engine: both"):
        eip93.Device.emulated("an7581", engine="an7581")
