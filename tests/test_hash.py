"""Hashes and HMACs of whole messages, on every implementation, against hashlib and hmac."""

from __future__ import annotations

import array
import hashlib
import mmap
import os
import random
import threading

import pytest
from hash_support import KEY, digest_name, is_keyed, make, message, oracle
from providers import HASHES, Family, driver_of, wrongly_unavailable

import cryptodispatch as cd
from cryptodispatch import eip93


def test_expected_implementations_ran(device: eip93.Device) -> None:
    """A skip of an implementation that this machine can run would be a hole in every test here."""
    available = {entry.driver for entry in cd.algorithms() if entry.available}
    assert {driver_of(name, hash_) for name in ("lib", "eip93") for hash_ in HASHES} <= available
    if not os.environ.get("CRYPTODISPATCH_CPU_DISABLE"):
        assert not wrongly_unavailable()


def test_facts(hashes: Family) -> None:
    for name in hashes.names:
        digester = make(hashes.driver(name), name)
        assert (digester.name, digester.driver) == (name, hashes.driver(name))
        assert digester.digest_size == len(oracle(name, b""))
        assert digester.block_size == 64
        assert name in repr(digester)


def test_all_lengths(hashes: Family) -> None:
    """Lengths 0..1024, all digests folded into one, against hashlib's."""
    for name in hashes.names:
        ours, theirs = hashlib.sha256(), hashlib.sha256()
        text = message(1024)
        digester = make(hashes.driver(name), name)
        for length in range(1025):
            ours.update(digester.digest(text[:length]))
            theirs.update(oracle(name, text[:length]))
        assert ours.digest() == theirs.digest(), name


def test_long_messages(hashes: Family) -> None:
    for name in hashes.names:
        digester = make(hashes.driver(name), name)
        for length in (4095, 4096, 65537, 2**20 - 1, 2**20, 2**20 + 63, 5 * 2**20 + 1):
            assert digester.digest(message(length)) == oracle(name, message(length)), (name, length)


def test_unaligned_into_and_overlapping(hashes: Family) -> None:
    for name in hashes.names:
        digester = make(hashes.driver(name), name)
        size = digester.digest_size
        for offset in range(17):
            memory = bytearray(message(400))
            view = memoryview(memory)[offset : offset + 300 - 7 * offset]
            expected = oracle(name, bytes(view))
            out = bytearray(b"\xa5" * 80)
            assert digester.digest_into(view, memoryview(out)[offset:]) == size
            assert bytes(out) == b"\xa5" * offset + expected + b"\xa5" * (80 - offset - size)
            # The digest may replace a part of its message.
            digester.digest_into(view, view[offset:])
            assert bytes(view[offset : offset + size]) == expected, (name, offset)


# R079: HMAC keys longer than a block.
def test_r079_key_of_131_bytes(hashes: Family) -> None:
    text = b"Test Using Larger Than Block-Size Key - Hash Key First"
    for name, expected in {
        "hmac(md5)": "bfecaf4efff90a3a668f3922fec3762d",
        "hmac(sha1)": "90d0dace1c1bdc957339307803160335bde6df2b",
        "hmac(sha224)": "95e9a0db962095adaebe9b2d6f0dbce2d499f112f2d2b7273fa6870e",
        "hmac(sha256)": "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
    }.items():
        if name in hashes.names:
            digester = cd.Hash(hashes.driver(name), b"\xaa" * 131)
            assert digester.digest(text).hex() == expected


# R081: nothing to hash and nothing to key it with.
def test_r081_empty_key_and_message(hashes: Family) -> None:
    for name, expected in {
        "hmac(md5)": "74e6f7298a9c2d168935f58c001bad88",
        "hmac(sha1)": "fbdb1d1b18aa6c08324b7d64b71fb76370690e1d",
        "hmac(sha224)": "5ce14f72894662213e2748d2a6ba234b74263910cedde2f5a9271524",
        "hmac(sha256)": "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad",
    }.items():
        if name in hashes.names:
            digester = cd.Hash(hashes.driver(name), b"")
            assert digester.digest(b"").hex() == expected
            assert digester.new().hexdigest() == expected


# R083: two and more blocks at once, and every cut of the same bytes.
def test_r083_two_blocks(hashes: Family) -> None:
    text = bytes(range(128))
    for name, expected in {
        "md5": "37eff01866ba3f538421b30b7cbefcac",
        "sha1": "e6434bc401f98603d7eda504790c98c67385d535",
        "sha224": "67d88da33fd632d8742424791dface672ff59d597fe38b3f2a998386",
        "sha256": "471fb943aa23c511f6f72f8d1652d9c880cfa392ad80503120547703e56a2be5",
    }.items():
        if name in hashes.names:
            digester = cd.Hash(hashes.driver(name))
            assert digester.digest(text).hex() == expected
            for cut in (0, 1, 63, 64, 127, 128):
                stream = digester.new(text[:cut])
                stream.update(text[cut:])
                assert stream.hexdigest() == expected, (name, cut)


def test_keys_of_any_length(hashes: Family) -> None:
    for name in filter(is_keyed, hashes.names):
        digester = cd.Hash(hashes.driver(name), b"first")
        for length in (*range(130), 255, 256, 1000, 65536, 2**20):
            key = message(length, 1)
            digester.set_key(key)
            for size in (0, 1, 64, 100):
                expected = oracle(name, message(size), key)
                assert digester.digest(message(size)) == expected, (name, length, size)


def test_key_that_is_too_long_leaves_no_key(hashes: Family) -> None:
    for name in filter(is_keyed, hashes.names):
        digester = make(hashes.driver(name), name)
        with pytest.raises(cd.InvalidKeyError, match=r"key: 1048577 bytes .* at most 1048576"):
            digester.set_key(bytes(2**20 + 1))
        with pytest.raises(cd.InvalidKeyError, match="none is set"):
            digester.digest(b"")
        digester.set_key(KEY)
        assert digester.digest(b"abc") == oracle(name, b"abc")


# R027: an HMAC without key gives no digest, at any size, in any way.
def test_r027_no_key(hashes: Family) -> None:
    for name in filter(is_keyed, hashes.names):
        digester = cd.Hash(hashes.driver(name))
        for size in (0, 1, 64, 1000, 70_000):
            out = bytearray(32)
            for call, arguments in (
                (digester.digest, (bytes(size),)),
                (digester.digest_into, (bytes(size), out)),
                (digester.digest_many, ([bytes(size)],)),
                (digester.new, (bytes(size),)),
            ):
                with pytest.raises(cd.InvalidKeyError, match="key: none is set"):
                    call(*arguments)
            assert bytes(out) == bytes(32)


def test_hash_takes_no_key(hashes: Family) -> None:
    for name in hashes.names:
        if not is_keyed(name):
            with pytest.raises(cd.InvalidKeyError, match=rf"{name} takes no key"):
                cd.Hash(hashes.driver(name), b"key")
            digester = cd.Hash(hashes.driver(name))
            with pytest.raises(cd.InvalidKeyError):
                digester.set_key(b"")


@pytest.mark.parametrize("value", ["text", None, 16, -1, 2**70, 1.5, [1, 2], object()])
def test_types_are_checked(hashes: Family, value: object) -> None:
    name = hashes.names[-1]
    digester = make(hashes.driver(name), name)
    stream = digester.new(b"ab")
    calls = [
        lambda: digester.digest(value),
        lambda: digester.digest_into(b"", value),
        lambda: digester.digest_into(value, bytearray(32)),
        lambda: digester.new(value),
        lambda: digester.set_key(value),
        lambda: stream.update(value),
        lambda: stream.import_state(value),
    ]
    for call in calls:
        with pytest.raises((TypeError, RuntimeError), match=r"^(data|out|key|blob|set_key):"):
            call()
    stream.update(b"c")
    assert stream.digest() == digester.digest(b"abc") == oracle(name, b"abc")


def test_buffers_are_checked(hashes: Family) -> None:
    name = hashes.names[0]
    digester = make(hashes.driver(name), name)
    with pytest.raises(ValueError, match=r"data: .* not contiguous"):
        digester.digest(memoryview(bytes(64))[::2])
    with pytest.raises(TypeError, match="out: a read-only bytes"):
        digester.digest_into(b"", bytes(32))
    size = digester.digest_size
    with pytest.raises(ValueError, match=f"out: {size - 1} bytes were given, at least {size}"):
        digester.digest_into(b"", bytearray(size - 1))
    text = message(64)
    with mmap.mmap(-1, 4096) as memory:
        memory[:64] = text
        with memoryview(memory)[:64] as view:
            assert digester.digest(view) == oracle(name, text)
    for value in (bytearray(text), memoryview(text), array.array("I", text)):
        assert digester.digest(value) == oracle(name, text)


def test_many(hashes: Family) -> None:
    source = random.Random(1)
    lengths = [0, 1, 55, 56, 63, 64, 65, 119, 127, 128, 129, 1000, 5000]
    texts = [message(source.choice(lengths), i) for i in range(200)]
    for name in hashes.names:
        digester = make(hashes.driver(name), name)
        expected = [oracle(name, text) for text in texts]
        assert digester.digest_many(texts) == expected
        offsets = array.array("i", [0])
        for text in texts:
            offsets.append(offsets[-1] + len(text))
        out = bytearray(len(texts) * digester.digest_size)
        assert digester.digest_batch(b"".join(texts), offsets, out) == len(out)
        assert bytes(out) == b"".join(expected)


def test_one_object_from_eight_threads(hashes: Family) -> None:
    """R031: all hashes at once from several threads."""
    digesters = {name: make(hashes.driver(name), name) for name in hashes.names}
    bad: list[str] = []

    def work(seed: int) -> None:
        source = random.Random(seed)
        for _ in range(60):
            name = source.choice(hashes.names)
            text = source.randbytes(source.choice([0, 1, 64, 100, 1000, 10_000]))
            if digesters[name].digest(text) != oracle(name, text):
                bad.append(f"{name} {len(text)}")

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not bad


def test_close(hashes: Family) -> None:
    name = hashes.names[0]
    digester = make(hashes.driver(name), name)
    stream = digester.new(b"a")
    digester.close()
    digester.close()
    for call in (
        lambda: digester.digest(b""),
        digester.new,
        lambda: digester.name,
        lambda: digester.digest_many([]),
        lambda: stream.update(b""),
        stream.digest,
        stream.export_state,
    ):
        with pytest.raises(ValueError, match="closed"):
            call()
    assert "closed" in repr(digester)


def test_every_provider_is_meant(hashes: Family) -> None:
    """The engine's requests are counted by the engine, and a proxy's by its side."""
    before, packets = hashes.device.counters, hashes.device.emulator.counters.packets
    for name in hashes.names:
        make(hashes.driver(name), name).digest(message(1000))
    used = hashes.device.counters.requests - before.requests
    if hashes.on_engine:
        assert used >= len(hashes.names)
        assert hashes.device.emulator.counters.packets - packets >= len(hashes.names)
    else:
        assert used == 0


def test_unknown_hash() -> None:
    with pytest.raises(cd.UnknownAlgorithmError, match="did you mean 'sha256'"):
        cd.Hash("sha265")
    with pytest.raises(cd.UnknownAlgorithmError):
        cd.Hash("cbc(aes)")  # of another type
    assert digest_name(cd.Hash("hmac(md5)", b"").name) == "md5"
