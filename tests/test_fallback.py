"""Dynamic software fallback through Python: fallback-semantics.md, section by section."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator

import pytest
from aes_support import MODES, material, oracle
from fallback_support import AN7581, group
from providers import software_drivers

import cryptodispatch as cd
from cryptodispatch import eip93


@pytest.fixture
def device() -> Iterator[eip93.Device]:
    with eip93.Device.emulated("an7581") as opened:
        yield opened


class TestMeasuring:  # section 3
    def test_sizes_and_stop_at_the_first_win(self, device: eip93.Device) -> None:
        seen: list[cd.Progress] = []
        assert device.fallback.enable(progress=seen.append) == device.fallback.thresholds
        rows = device.fallback["raw_aes"].measurements
        assert cd.benchmark.SIZES == (16, 64, 128, 256, 512, 1024, 1420, 2048, 4096, 8192, 16384)
        assert [row.size for row in rows] == [16, 64, 128, 256, 512, 1024]
        assert [row.winner for row in rows] == ["software"] * 5 + ["hardware"]
        assert [event.measurement for event in seen if event.group == "raw_aes"] == list(rows)
        names = [row.name for row in eip93.GROUPS]
        assert list(dict.fromkeys((e.group, e.index, e.count) for e in seen)) == [
            (name, index, len(names)) for index, name in enumerate(names)
        ]
        # Groups that never win are measured at every size, the others up to the first win.
        for name, one in device.fallback.items():
            winners = [row.winner for row in one.measurements]
            assert winners.count("hardware") == (one.threshold != -1), name
            assert len(winners) == 11 or winners[-1] == "hardware", name
        for row in rows:
            close = abs(row.hardware - row.software) <= min(row.hardware, row.software) // 10
            # After the extra samples the sums may be apart; far apart they were never taken.
            assert row.samples == 24 if close else row.samples in (8, 24)
            assert (row.winner == "hardware") == (row.hardware < row.software)

    def test_the_same_on_every_run(self, device: eip93.Device) -> None:
        device.fallback.enable()
        first = device.fallback["raw_aes"].measurements
        for _ in range(3):
            device.fallback.enable()
            for row, again in zip(first, device.fallback["raw_aes"].measurements, strict=True):
                # The clock shows whole nanoseconds of a time that has fractions.
                assert again.hardware == pytest.approx(row.hardware, abs=8)
                assert again.software == pytest.approx(row.software, abs=8)
                assert (again.size, again.samples, again.winner) == (
                    row.size,
                    row.samples,
                    row.winner,
                )

    def test_representative_missing_is_a_failed_benchmark(self, device: eip93.Device) -> None:
        fallback = cd.Fallback(
            "test",
            [group(name="gone", driver="cbc(aes-nothing)", members=("x",)), group(name="good")],
            clock=device.clock,
            modelled=True,
        )
        try:
            seen: list[cd.Progress] = []
            thresholds = fallback.enable(progress=seen.append)
            assert thresholds["gone"] == 0
            assert "cbc(aes-nothing)" in fallback["gone"].failure
            assert fallback["gone"].measurements == ()
            assert [event.failure for event in seen if event.group == "gone"] == [
                fallback["gone"].failure
            ]
            assert thresholds["good"] == 512
            assert fallback["good"].failure == ""
        finally:
            fallback.close()

    # R115: a side that fails is not a fast side.
    def test_r115_failing_hardware_is_not_measured(self, device: eip93.Device) -> None:
        device.emulator.inject("status", skip=20, count=1, value=0x08)
        # Every group goes on after another one's failure.
        assert device.fallback.enable() == AN7581 | {"raw_aes": 0}
        assert device.fallback["raw_aes"].failure
        assert device.fallback.enable() == AN7581
        assert device.fallback["raw_aes"].failure == ""

    def test_progress_can_cancel(self, device: eip93.Device) -> None:
        count = 0

        def stop(progress: cd.Progress) -> bool:
            nonlocal count
            count += 1
            return count < 3

        with pytest.raises(cd.CryptoDispatchError, match="CANCELLED"):
            device.fallback.enable(progress=stop)
        assert not device.fallback.enabled
        assert device.fallback.thresholds == dict.fromkeys(AN7581, 0)
        assert not [entry for entry in cd.algorithms() if entry.proxy]

    def test_exception_in_progress_comes_out(self, device: eip93.Device) -> None:
        def fail(progress: cd.Progress) -> None:
            raise KeyError("mine")

        with pytest.raises(KeyError, match="mine"):
            device.fallback.enable(progress=fail)
        assert not device.fallback.enabled

    def test_software_side_is_never_the_device(self, device: eip93.Device) -> None:  # R069
        device.fallback.enable()
        device.fallback.enable()
        assert device.fallback["raw_aes"].hardware == "rfc3686(ctr(aes-eip93))"
        assert device.fallback["raw_aes"].software == "rfc3686(ctr(aes-an7581))"
        drivers = [entry.driver for entry in cd.algorithms()]
        assert not [driver for driver in drivers if "fallback(fallback" in driver]


def small_and_large(cipher: cd.Cipher, key: bytes) -> None:
    for length in (16, 512, 528, 4096):
        _, iv, text = material("cbc", 16, length, 9)
        assert cipher.encrypt(text, iv) == oracle("cbc", key, iv, text)
        assert cipher.decrypt(oracle("cbc", key, iv, text), iv) == text


class TestDispatch:  # section 4
    def test_512_to_software_528_to_hardware(self, device: eip93.Device) -> None:
        device.fallback.enable()
        cipher = cd.Cipher("cbc(aes)", bytes(16))
        assert cipher.driver == "fallback(cbc(aes-eip93))"
        raw_aes = device.fallback["raw_aes"]
        before = raw_aes.counters
        cipher.encrypt(bytes(512), bytes(16))
        assert raw_aes.counters["within_threshold"] == before["within_threshold"] + 1
        cipher.encrypt(bytes(528), bytes(16))
        assert raw_aes.counters["above_threshold"] == before["above_threshold"] + 1
        assert (raw_aes.software_requests, raw_aes.hardware_requests) == (1, 1)

    # R047: both sides of the threshold are the same function.
    @pytest.mark.parametrize("mode", MODES)
    def test_r047_around_the_threshold(self, device: eip93.Device, mode: str) -> None:
        device.fallback.enable()
        raw_aes = device.fallback["raw_aes"]
        raw_aes.threshold = 256
        key, iv, text = material(mode, 16, 300, 1)
        cipher = cd.Cipher(f"{'rfc3686(ctr(aes))' if mode == 'rfc3686' else f'{mode}(aes)'}", key)
        for length in (240, 255, 256, 257, 272):
            if length % 16 and mode in ("ecb", "cbc"):
                continue
            before = raw_aes.software_requests, raw_aes.hardware_requests
            assert cipher.encrypt(text[:length], iv or None) == oracle(mode, key, iv, text[:length])
            after = raw_aes.software_requests, raw_aes.hardware_requests
            to_software = length <= 256
            assert after == (before[0] + to_software, before[1] + (not to_software))

    # R049: what the values mean.
    def test_r049_meanings(self, device: eip93.Device) -> None:
        device.fallback.enable()
        raw_aes = device.fallback["raw_aes"]
        cipher = cd.Cipher("ctr(aes)", bytes(16))
        for threshold, size, why in (
            (0, 1, "no_threshold"),
            (0, 4096, "no_threshold"),
            (-1, 16, "always_software"),
            (-1, 1 << 20, "always_software"),
            (256, 255, "within_threshold"),
            (256, 256, "within_threshold"),
            (256, 257, "above_threshold"),
            (2**31 - 1, 1 << 20, "within_threshold"),
        ):
            raw_aes.threshold = threshold
            before = raw_aes.counters
            _, iv, text = material("ctr", 16, size, 2)
            assert cipher.encrypt(text, iv) == oracle("ctr", bytes(16), iv, text)
            after = raw_aes.counters
            assert {name for name in after if after[name] != before[name]} == {why}

    def test_r049_threshold_changes_under_load(self) -> None:
        with eip93.Device.emulated() as device:
            device.fallback.enable()
            cipher = cd.Cipher("cbc(aes)", bytes(16))
            raw_aes = device.fallback["raw_aes"]
            before = sum(raw_aes.counters.values())
            stop, good, bad = threading.Event(), [0] * 4, [0] * 4

            def work(number: int) -> None:
                source = random.Random(number)
                while not stop.is_set():
                    text, iv = source.randbytes(16 * source.randrange(1, 80)), source.randbytes(16)
                    if cipher.encrypt(text, iv) == oracle("cbc", bytes(16), iv, text):
                        good[number] += 1
                    else:
                        bad[number] += 1

            threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
            for thread in threads:
                thread.start()
            for turn in range(100):
                raw_aes.threshold = (-1, 0, 256, 512)[turn % 4]
                time.sleep(0.01)
            stop.set()
            for thread in threads:
                thread.join()
            assert bad == [0] * 4
            assert min(good) > 0
            assert sum(raw_aes.counters.values()) - before == sum(good)

    def test_set_key_reaches_both_sides(self, device: eip93.Device) -> None:
        device.fallback.enable()
        cipher = cd.Cipher("cbc(aes)", bytes(16))
        for size in (16, 24, 32):
            key, iv, _ = material("cbc", size, 0, 3)
            cipher.set_key(key)
            for length in (16, 1024):
                text = bytes(length)
                assert cipher.encrypt(text, iv) == oracle("cbc", key, iv, text)
        with pytest.raises(cd.InvalidKeyError):
            cipher.set_key(bytes(15))
        for length in (16, 1024):
            with pytest.raises(cd.InvalidKeyError):
                cipher.encrypt(bytes(length), bytes(16))


class TestProxies:  # section 5
    def test_facts_of_a_proxy(self, device: eip93.Device) -> None:
        device.fallback.enable()
        entries = {entry.driver: entry for entry in cd.algorithms()}
        for member in eip93.GROUPS[0].members:
            hardware, proxy = entries[member], entries[f"fallback({member})"]
            assert proxy.name == hardware.name
            assert proxy.priority == hardware.priority + 1 == 1501
            assert proxy.asynchronous == hardware.asynchronous is True
            assert proxy.needs_fallback
            assert proxy.proxy
            assert (proxy.block_size, proxy.iv_size) == (hardware.block_size, hardware.iv_size)
            assert set(proxy.key_sizes) <= set(hardware.key_sizes)

    def test_key_sizes_are_the_intersection(self) -> None:
        # The 93i engine has AES-128 alone.
        with eip93.Device.emulated(variant="93i") as device:
            device.fallback.enable()
            entries = {entry.driver: entry for entry in cd.algorithms()}
            assert entries["cbc(aes-eip93)"].key_sizes == (16,)
            assert entries["fallback(cbc(aes-eip93))"].key_sizes == (16,)
            with pytest.raises(cd.InvalidKeyError, match=r"32 bytes .* 16"):
                cd.Cipher("cbc(aes)", bytes(32))

    def test_member_that_is_not_registered_is_skipped(self, device: eip93.Device) -> None:
        fallback = cd.Fallback(
            "test",
            [group(members=("cbc(aes-eip93)", "xts(aes-eip93)"))],
            clock=device.clock,
            modelled=True,
        )
        try:
            fallback.enable()
            proxies = [entry.driver for entry in cd.algorithms() if entry.proxy]
            assert proxies == ["fallback(cbc(aes-eip93))"]
        finally:
            fallback.close()

    def test_any_other_failure_undoes_the_enable(self, device: eip93.Device) -> None:
        first = cd.Fallback("first", [group()], clock=device.clock, modelled=True)
        second = cd.Fallback(
            "second",
            [group(members=("ecb(aes-eip93)", "cbc(aes-eip93)"))],
            clock=device.clock,
            modelled=True,
        )
        try:
            first.enable()
            before = cd.algorithms()
            with pytest.raises(cd.CryptoDispatchError, match=r"fallback\(cbc\(aes-eip93\)\)"):
                second.enable()  # the name of its second proxy is taken
            assert cd.algorithms() == before
            assert not second.enabled
            assert second.thresholds == {"pair": 0}
        finally:
            second.close()
            first.close()

    def test_any_pair_will_do(self) -> None:
        """Not only this engine: one software implementation as the `hardware` of another."""
        software = software_drivers("cbc(aes)")
        if "cbc(aes-ni)" not in software:
            pytest.skip("nothing here is faster than aes-lib at every size")
        fallback = cd.Fallback(
            "software", [group(driver="cbc(aes-lib)", members=("cbc(aes-lib)",))]
        )
        try:
            # Timed on this host for real: a burst of other work may make one run wrong.
            assert any(fallback.enable() == {"pair": -1} for _ in range(10))
            assert fallback["pair"].software == software[-1]
            small_and_large(cd.Cipher("fallback(cbc(aes-lib))", bytes(16)), bytes(16))
            assert fallback["pair"].hardware_requests == 0
        finally:
            fallback.close()


class TestLifetimes:  # section 6
    def test_off_by_default_and_absent(self, device: eip93.Device) -> None:
        assert not device.fallback.enabled
        assert not [entry for entry in cd.algorithms() if entry.proxy]
        assert cd.Cipher("cbc(aes)", bytes(16)).driver == "cbc(aes-eip93)"

    # R057: a transform keeps what it was bound to.
    def test_r057_live_transforms(self, device: eip93.Device) -> None:
        raw_aes = device.fallback["raw_aes"]
        key = bytes(16)

        def sides(cipher: cd.Cipher) -> tuple[int, int]:
            before = raw_aes.software_requests, raw_aes.hardware_requests
            _, iv, text = material("cbc", 16, 64, 1)
            assert cipher.encrypt(text, iv) == oracle("cbc", key, iv, text)
            return raw_aes.software_requests - before[0], raw_aes.hardware_requests - before[1]

        t0 = cd.Cipher("cbc(aes)", key)
        device.fallback.enable()
        t1 = cd.Cipher("cbc(aes)", key)
        assert (t0.driver, t1.driver) == ("cbc(aes-eip93)", "fallback(cbc(aes-eip93))")
        packets = device.emulator.counters.packets
        assert sides(t0) == (0, 0)
        assert device.emulator.counters.packets == packets + 1
        assert sides(t1) == (1, 0)
        device.fallback.disable()
        t2 = cd.Cipher("cbc(aes)", key)
        assert t2.driver == "cbc(aes-eip93)"
        assert sides(t1) == (0, 1)
        assert sides(t2) == (0, 0)
        device.fallback.enable()
        raw_aes.threshold = 32
        assert sides(t1) == (0, 1)
        raw_aes.threshold = 64
        assert sides(t1) == (1, 0)
        small_and_large(t1, key)

    def test_works_after_the_fallback_is_gone(self, device: eip93.Device) -> None:
        device.fallback.enable()
        cipher = cd.Cipher("cbc(aes)", bytes(16))
        device.fallback.close()
        assert not [entry for entry in cd.algorithms() if entry.proxy]
        small_and_large(cipher, bytes(16))

    def test_enable_while_enabled_measures_again(self, device: eip93.Device) -> None:
        device.fallback.enable()
        before = cd.algorithms()
        device.fallback["raw_aes"].threshold = 7
        assert device.fallback.enable() == AN7581
        assert cd.algorithms() == before

    def test_disable_while_off(self, device: eip93.Device) -> None:
        device.fallback.disable()
        assert not device.fallback.enabled

    def test_device_closed_under_live_transforms(self, device: eip93.Device) -> None:
        plain = cd.Cipher("cbc(aes-eip93)", bytes(16))
        device.fallback.enable()
        proxy = cd.Cipher("cbc(aes)", bytes(16))
        modelled = cd.Cipher("cbc(aes-an7581)", bytes(16))
        stream = proxy.encryptor(bytes(16))
        device.close()
        for cipher in (plain, proxy, modelled):
            for length in (16, 4096):
                with pytest.raises(cd.DeviceError):
                    cipher.encrypt(bytes(length), bytes(16))
        with pytest.raises(cd.DeviceError):
            stream.update(bytes(16))
        assert cd.Cipher("cbc(aes)", bytes(16)).driver.startswith("cbc(aes-")
        assert not [entry for entry in cd.algorithms() if "eip93" in entry.driver or entry.modelled]

    def test_enable_and_disable_many_times(self, device: eip93.Device) -> None:
        before = cd.algorithms()
        kept = []
        for _ in range(20):
            device.fallback.enable()
            kept.append(cd.Cipher("cbc(aes)", bytes(16)))
            device.fallback.disable()
            assert cd.algorithms() == before
        for cipher in kept:
            small_and_large(cipher, bytes(16))


def test_use_after_close(device: eip93.Device) -> None:
    fallback = device.fallback
    device.close()
    for call in (
        fallback.enable,
        fallback.disable,
        lambda: fallback.thresholds,
        lambda: fallback.read("enabled"),
    ):
        with pytest.raises(ValueError, match="closed"):
            call()
    fallback.close()
