"""Objects that die in the wrong order, code that runs inside a call, memory that changes."""

from __future__ import annotations

import array
import contextlib
import gc
import os
import subprocess
import sys
import threading
import time

import pytest
from aes_support import oracle

import cryptodispatch as cd
from cryptodispatch import eip93


def run(code: str) -> None:
    """Run a program of its own, which must end by itself."""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60, capture_output=True)


OPEN = """
import gc, threading
import cryptodispatch as cd
from cryptodispatch.eip93 import Device
d = Device.emulated()
d.fallback.enable()
c = cd.Cipher("cbc(aes)", bytes(16))
"""


@pytest.mark.parametrize(
    "rest",
    [
        "def f(): return d",
        "d.me = d\ndel d\ngc.collect()",
        "d.me = d\nc.encrypt(bytes(16), bytes(16))\ndel d, c\ngc.collect()",
        "s = c.encryptor(bytes(16))\nl = [s, d, c]\nl.append(l)\ndel s, l, d, c\ngc.collect()",
        "r = c.submit_encrypt(bytes(4096), bytes(16))",
        "d.emulator.start_thread(max_delay_us=100, seed=1)",
    ],
)
def test_devices_that_nobody_closes(rest):
    run(OPEN + rest)


def test_dropped_device_leaves_nothing_registered():
    before = cd.algorithms()
    for _ in range(3):
        device = eip93.Device.emulated()
        device.fallback.enable()
        del device
        gc.collect()
        assert cd.algorithms() == before


def test_listing_while_the_collector_frees_a_device():
    """The collector may run at any allocation of the listing, and must not meet its lock."""
    run(
        OPEN
        + """
e = d.emulator
d.cycle = d
gc.collect(); gc.disable()
del d, c
gc.set_threshold(gc.get_count()[0] + 40); gc.enable()
for _ in range(50):
    cd.algorithms()
"""
    )


def transforms():
    return [
        (cd.Cipher("cbc(aes)", bytes(16)), lambda t, r: t.encrypt_many(r, [bytes(16)] * 2)),
        (cd.Hash("sha256"), lambda t, r: t.digest_many(r)),
        (
            cd.Aead("authenc(hmac(sha1),cbc(aes))", bytes(16), auth_key=b"k"),
            lambda t, r: t.encrypt_many(r, [bytes(16)] * 2),
        ),
    ]


@pytest.mark.parametrize("index", range(3))
def test_iterator_that_closes_the_transform(index):
    transform, call = transforms()[index]

    def records():
        yield bytes(16)
        transform.close()
        yield bytes(16)

    with pytest.raises(ValueError, match="closed"):
        call(transform, records())


def test_iterator_that_empties_the_other_list():
    cipher = cd.Cipher("cbc(aes)", bytes(16))
    records = [bytes([i]) * 64 for i in range(64)]
    expected = [oracle("cbc", bytes(16), bytes(16), record) for record in records]

    def ivs():
        records.clear()
        gc.collect()
        for _ in range(64):
            yield bytes(16)

    assert cipher.encrypt_many(records, ivs()) == expected


def test_lists_that_another_thread_empties():
    cipher = cd.Cipher("cbc(aes-lib)", bytes(16))
    stop = threading.Event()
    records: list[bytes] = []

    def churn():
        while not stop.is_set():
            fresh = [os.urandom(4096) for _ in range(64)]
            records.clear()
            records.extend(fresh)
            del fresh

    thread = threading.Thread(target=churn)
    thread.start()
    ivs = [bytes(16)] * 64
    done = 0
    end = time.monotonic() + 1
    while time.monotonic() < end:
        with contextlib.suppress(ValueError):  # so many IVs for so few records
            done += len(cipher.encrypt_many(records, ivs)) == 64
    stop.set()
    thread.join()
    assert done > 0


def test_offsets_inside_out():
    """The offsets are copied: writing results over them changes nothing."""
    digester = cd.Hash("sha256")
    count = 2000
    out = bytearray(32 * count)
    offsets = memoryview(out)[: 8 * (count + 1)].cast("q")
    for index in range(count + 1):
        offsets[index] = 16 * index
    assert digester.digest_batch(bytes(16 * count), offsets, out) == len(out)
    assert bytes(out) == digester.digest(bytes(16)) * count


def test_offsets_that_change_meanwhile():
    digester = cd.Hash("sha256-lib")
    count = 20_000
    offsets = array.array("q", range(0, 16 * (count + 1), 16))
    good = offsets[:]
    out = bytearray(32 * count)
    done = threading.Event()

    def churn():
        while not done.is_set():
            for index in range(1, count, 997):
                offsets[index] = 1 << 60
            for index in range(1, count, 997):
                offsets[index] = good[index]

    thread = threading.Thread(target=churn)
    thread.start()
    for _ in range(20):
        try:
            digester.digest_batch(bytes(16 * count), offsets, out)
        except ValueError:
            continue
        assert bytes(out) == digester.digest(bytes(16)) * count
    done.set()
    thread.join()


def test_ivs_inside_out_are_refused():
    cipher = cd.Cipher("cbc(aes)", bytes(16))
    memory = memoryview(bytearray(64))
    with pytest.raises(ValueError, match="out: it overlaps ivs"):
        cipher.encrypt_batch(bytes(32), array.array("i", [0, 16, 32]), memory[:32], memory[16:])


def test_short_iv_of_an_aead_record():
    aead = cd.Aead("authenc(hmac(sha1),cbc(aes))", bytes(16), auth_key=b"k")
    with pytest.raises(cd.BatchError, match=r"ivs\[0\]: 3 bytes") as caught:
        aead.encrypt_many([bytes(16), bytes(16)], [bytearray(b"abc"), bytes(16)])
    assert caught.value.results == [None, aead.encrypt(bytes(16), bytes(16))]


def test_failed_digest_is_none():
    with eip93.Device.emulated() as device:
        digester = cd.Hash("sha256-eip93")
        device.emulator.inject("dma_read", skip=1, count=1)
        with pytest.raises(cd.BatchError) as caught:
            digester.digest_many([b"a" * 100, b"b" * 100, b"c" * 100])
        failed = set(caught.value.errors)
        assert failed
        for index, result in enumerate(caught.value.results):
            assert (result is None) == (index in failed)


def test_stream_in_a_cycle_gives_its_use_back():
    digester = cd.Hash("hmac(sha256)", b"key")
    cipher = cd.Cipher("ctr(aes)", bytes(16))
    for stream in (digester.new(), cipher.encryptor(bytes(16))):
        cycle = [stream]
        cycle.append(cycle)
        del stream, cycle
    gc.collect()
    digester.set_key(b"other")
    cipher.set_key(bytes(32))


def test_close_while_measuring_is_refused_and_can_be_repeated():
    device = eip93.Device.emulated("an7581")
    seen: list[str] = []

    def close_it(progress: cd.Progress) -> None:
        with pytest.raises(RuntimeError, match="measured"):
            device.close()
        seen.append(progress.group)

    device.fallback.enable(progress=close_it)
    assert seen
    assert cd.Cipher("cbc(aes-eip93)", bytes(16)).encrypt(bytes(16), bytes(16))
    device.close()
    assert not [entry for entry in cd.algorithms() if "eip93" in entry.driver]


def test_close_against_writers():
    fallback = eip93.Device.emulated("an7581")
    stop = threading.Event()

    def write():
        while not stop.is_set():
            try:
                fallback.fallback["raw_aes"].threshold = 5
            except (ValueError, cd.CryptoDispatchError):
                return

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    fallback.fallback.enable()
    for _ in range(1000):
        try:
            fallback.close()
            break
        except RuntimeError:
            continue
    stop.set()
    for thread in threads:
        thread.join()
    fallback.close()


@pytest.mark.parametrize("kind", ["i4", "i8"])
def test_offsets_of_another_byte_order(kind):
    numpy = pytest.importorskip("numpy")
    other = ">" if sys.byteorder == "little" else "<"
    cipher = cd.Cipher("ctr(aes)", bytes(16))
    for offsets in (numpy.array([0, 16], other + kind), numpy.array([[0, 16]], kind)):
        with pytest.raises(ValueError, match="offsets: items of format"):
            cipher.encrypt_batch(bytes(16), offsets, bytes(16), bytearray(16))


@pytest.mark.parametrize("value", [None, 5])
def test_columns_that_are_no_sequences_are_named(value):
    aead = cd.Aead("authenc(hmac(sha1),cbc(aes))", bytes(16), auth_key=b"k")
    with pytest.raises(TypeError, match="ivs: "):
        aead.encrypt_many([bytes(16)], value)
    with pytest.raises(TypeError, match="records: "):
        aead.encrypt_many(value, [])
