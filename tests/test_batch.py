"""Batches: lists and packed buffers, on software, on the engine and through the proxy."""

from __future__ import annotations

import array
import gc
import hashlib
import hmac
import mmap
import random
import sys
from collections.abc import Iterator
from typing import cast

import pytest
from aes_support import block_size, iv_size, material, oracle
from providers import software_drivers

import cryptodispatch as cd

LENGTHS = (0, 16, 32, 64, 4096, 48, 16, 1424, 256, 16384, 80)


def rows(mode: str, count: int, seed: int) -> list[tuple[bytes, bytes]]:
    """(iv, text) pairs of mixed lengths."""
    source = random.Random(seed)
    return [
        material(
            mode,
            16,
            source.choice(LENGTHS) + (source.randrange(16) if block_size(mode) == 1 else 0),
            i,
        )[1:]
        for i in range(count)
    ]


def pack(texts: list[bytes], kind: str) -> tuple[bytes, array.array]:
    offsets = array.array(kind, [0])
    for text in texts:
        offsets.append(offsets[-1] + len(text))
    return b"".join(texts), offsets


@pytest.mark.parametrize("kind", ["i", "q"])
@pytest.mark.parametrize("mode", ["ecb", "cbc", "ctr", "rfc3686"])
def test_packed_equals_one_by_one(make, mode, kind):
    key = material(mode, 16, 0, 1)[0]
    cipher = make(mode, key)
    for count in (0, 1, 2, 7, 300):
        pairs = rows(mode, count, count)
        values, offsets = pack([text for _, text in pairs], kind)
        ivs = b"".join(iv for iv, _ in pairs) if iv_size(mode) else None
        expected = b"".join(oracle(mode, key, iv, text) for iv, text in pairs)
        out = bytearray(len(values) + 5)
        assert cipher.encrypt_batch(values, offsets, ivs, out) == len(values)
        assert bytes(out[: len(values)]) == expected
        assert bytes(out[len(values) :]) == bytes(5)
        assert cipher.decrypt_batch(out, offsets, ivs, out) == len(values)  # in place
        assert bytes(out[: len(values)]) == values


def test_offsets_may_start_anywhere(make):
    cipher = make("ctr", bytes(16))
    out = bytearray(40)
    cipher.encrypt_batch(bytes(40), array.array("i", [8, 20, 20, 33]), bytes(48), out)
    assert bytes(out[:8]) == bytes(8)
    assert bytes(out[8:20]) == oracle("ctr", bytes(16), bytes(16), bytes(12))
    assert bytes(out[20:33]) == oracle("ctr", bytes(16), bytes(16), bytes(13))
    assert bytes(out[33:]) == bytes(7)


def test_bad_records_are_named_and_the_others_done(make):
    cipher = make("cbc", bytes(16))
    good = oracle("cbc", bytes(16), bytes(16), bytes(16))
    with pytest.raises(
        cd.BatchError, match=r"records\[1\]: data: 15 bytes .* \(and 1 more\)"
    ) as caught:
        cipher.encrypt_many([bytes(16), bytes(15), bytes(16), bytes(17)], [bytes(16)] * 4)
    assert set(caught.value.errors) == {1, 3}
    assert caught.value.results == [good, None, good, None]
    out = bytearray(48)
    with pytest.raises(cd.BatchError, match=r"records\[1\]: data: 15 bytes") as caught:
        cipher.encrypt_batch(bytes(48), array.array("q", [0, 16, 31, 47]), bytes(48), out)
    assert set(caught.value.errors) == {1}
    assert bytes(out[:16]) == bytes(out[31:47]) == good


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"offsets": array.array("i", [0, 32, 16])}, ValueError, r"offsets\[2\]: 16 was given, 32"),
        ({"offsets": array.array("i", [-1, 16, 32])}, ValueError, r"offsets\[0\]: -1"),
        ({"offsets": array.array("i", [0, 16, 33])}, ValueError, r"offsets\[2\]: 33 .* 32 bytes"),
        ({"offsets": array.array("q", [0, 16, 2**62])}, ValueError, r"offsets\[2\]"),
        ({"offsets": array.array("d", [0, 16, 32])}, ValueError, "offsets: items of format 'd'"),
        ({"offsets": array.array("H", [0, 16, 32])}, ValueError, "offsets: items of format 'H'"),
        ({"offsets": bytes(12)}, ValueError, "offset_size"),
        ({"offsets": bytes(11), "offset_size": 4}, ValueError, "offsets: 11 bytes"),
        ({"offsets": b"", "offset_size": 4}, ValueError, "offsets: 0 bytes"),
        ({"offsets": bytes(12), "offset_size": 2}, ValueError, "offset_size: 2"),
        ({"offsets": [0, 16, 32]}, TypeError, "offsets: list"),
        ({"ivs": bytes(31)}, ValueError, "ivs: 31 bytes"),
        ({"ivs": None}, ValueError, "ivs: 0 bytes"),
        ({"out": bytearray(31)}, ValueError, "out: 31 bytes"),
        ({"out": bytes(32)}, TypeError, "out: a read-only bytes"),
        ({"values": "text"}, TypeError, "values: str"),
    ],
)
def test_wrong_arguments(make, change, error, said):
    cipher = make("cbc", bytes(16))
    arguments = {
        "values": bytes(32),
        "offsets": array.array("i", [0, 16, 32]),
        "ivs": bytes(32),
        "out": bytearray(32),
    }
    with pytest.raises(error, match=said):
        cipher.encrypt_batch(**(arguments | change))
    assert cipher.encrypt_batch(**arguments) == 32


def test_overlap_is_refused(make):
    cipher = make("ctr", bytes(16))
    memory = memoryview(bytearray(64))
    with pytest.raises(ValueError, match="out: it overlaps"):
        cipher.encrypt_batch(memory[:32], array.array("i", [0, 16, 32]), bytes(32), memory[8:])


def test_wrong_lists(make):
    cipher = make("cbc", bytes(16))
    for records in (b"text", "text", bytearray(4), memoryview(b"text")):
        with pytest.raises(TypeError, match="records: "):
            cipher.encrypt_many(records, [bytes(16)] * 4)
    assert (
        cipher.encrypt_many((bytearray(16), memoryview(bytes(16))), (bytes(16), bytearray(16)))
        == [oracle("cbc", bytes(16), bytes(16), bytes(16))] * 2
    )
    assert cipher.encrypt_many(iter([bytes(16)]), iter([bytes(16)])) == [
        oracle("cbc", bytes(16), bytes(16), bytes(16))
    ]


@pytest.mark.parametrize("name", ["md5", "sha1", "sha224", "sha256"])
def test_hashes(name):
    source = random.Random(name)
    texts = [
        source.randbytes(source.choice([0, 1, 55, 56, 63, 64, 65, 119, 128, 1000, 5000]))
        for _ in range(300)
    ]
    values, offsets = pack(texts, "i")
    plain = [hashlib.new(name, text).digest() for text in texts]
    keyed = [hmac.new(b"key", text, name).digest() for text in texts]
    for algorithm, key, expected in ((name, None, plain), (f"hmac({name})", b"key", keyed)):
        for driver in software_drivers(algorithm):
            digester = cd.Hash(driver, key)
            assert digester.digest_many(texts) == expected
            out = bytearray(len(texts) * digester.digest_size)
            assert digester.digest_batch(values, offsets, out) == len(out)
            assert bytes(out) == b"".join(expected)
            assert digester.digest_many([]) == []


def test_hash_batch_arguments():
    digester = cd.Hash("sha256")
    with pytest.raises(ValueError, match="out: 63 bytes were given, at least 64"):
        digester.digest_batch(bytes(32), array.array("i", [0, 16, 32]), bytearray(63))
    with pytest.raises(TypeError, match=r"records\[1\]: str"):
        digester.digest_many([b"", "text"])
    with pytest.raises(cd.InvalidKeyError, match="none is set"):
        cd.Hash("hmac(sha256)").digest_many([b""])


@pytest.mark.parametrize(
    "name", ["authenc(hmac(sha256),cbc(aes))", "authenc(hmac(sha1),rfc3686(ctr(aes)))"]
)
def test_aead(name):
    key = bytes(range(16)) if "cbc" in name else bytes(range(20))
    mode = "cbc" if "cbc" in name else "rfc3686"
    aead = cd.Aead(name, key, auth_key=b"secret", tag_size=12)
    pairs = rows(mode, 60, 3)
    texts = [text for _, text in pairs]
    ivs = [iv for iv, _ in pairs]
    aads = [bytes([i]) * (i % 40) for i in range(60)]
    expected = [aead.encrypt(text, iv, aad) for text, iv, aad in zip(texts, ivs, aads, strict=True)]
    assert aead.encrypt_many(texts, ivs, aads) == expected
    assert aead.decrypt_many(expected, ivs, aads) == texts
    values, offsets = pack(texts, "i")
    packed_aads, aad_offsets = pack(aads, "i")
    out = bytearray(len(values) + 60 * 12)
    joined = b"".join(ivs)
    assert aead.encrypt_batch(values, offsets, joined, out, packed_aads, aad_offsets) == len(out)
    assert bytes(out) == b"".join(expected)
    sealed, sealed_offsets = pack(expected, "i")
    back = bytearray(len(values))
    assert aead.decrypt_batch(
        sealed, sealed_offsets, joined, back, packed_aads, aad_offsets
    ) == len(back)
    assert bytes(back) == values
    # Without AAD.
    assert aead.encrypt_batch(values, offsets, joined, out) == len(out)
    assert bytes(out) == b"".join(aead.encrypt(text, iv) for iv, text in pairs)


def test_aead_forged_record_is_named_and_gives_nothing():
    aead = cd.Aead("authenc(hmac(sha256),cbc(aes))", bytes(16), auth_key=b"k", tag_size=16)
    sealed = [aead.encrypt(bytes([i]) * 32, bytes(16)) for i in range(4)]
    forged = list(sealed)
    forged[2] = forged[2][:-1] + bytes([forged[2][-1] ^ 1])
    forged[3] = b"short"
    with pytest.raises(
        cd.BatchError, match=r"records\[2\]: data: the tag does not match"
    ) as caught:
        aead.decrypt_many(forged, [bytes(16)] * 4)
    assert isinstance(caught.value.errors[2], cd.AuthenticationError)
    assert isinstance(caught.value.errors[3], ValueError)
    assert caught.value.results == [bytes(32), bytes([1]) * 32, None, None]
    values, offsets = pack(forged[:3], "q")
    out = bytearray(b"\xee" * 96)
    with pytest.raises(cd.BatchError) as caught:
        aead.decrypt_batch(values, offsets, bytes(48), out)
    assert set(caught.value.errors) == {2}
    assert bytes(out[:64]) == bytes(32) + bytes([1]) * 32
    assert bytes(out[64:]) == b"\xee" * 32


def test_other_buffers():
    """NumPy arrays, mmap and bytearray need nothing of us but the buffer protocol."""
    cipher = cd.Cipher("ctr(aes)", bytes(16))
    expected = oracle("ctr", bytes(16), bytes(16), bytes(16)) * 2
    with mmap.mmap(-1, 4096) as memory:
        out = bytearray(32)
        cipher.encrypt_batch(memory, array.array("i", [0, 16, 32]), bytes(32), out)
        assert bytes(out) == expected
    numpy = pytest.importorskip("numpy")
    for kind in (numpy.int32, numpy.int64):
        out = numpy.zeros(32, numpy.uint8)
        cipher.encrypt_batch(
            numpy.zeros(32, numpy.uint8),
            numpy.array([0, 16, 32], kind),
            numpy.zeros((2, 16), numpy.uint8),
            out,
        )
        assert out.tobytes() == expected


# What buffers' code may do to a call


def test_offset_size_is_not_the_objects_own_number() -> None:
    class Lying:
        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 4

        def __int__(self) -> int:
            return 1

        __index__ = __int__

    out = bytearray(32)
    offsets = array.array("i", [0, 16]).tobytes()
    cd.Hash("sha256").digest_batch(bytes(16), offsets, out, offset_size=cast("int", Lying()))
    assert bytes(out) == hashlib.sha256(bytes(16)).digest()


def test_offset_size_that_contradicts_the_items_is_refused() -> None:
    with pytest.raises(ValueError, match="offset_size: 4 was given, the items of offsets have 8"):
        cd.Hash("sha256").digest_batch(
            bytes(16), array.array("q", [0, 16]), bytearray(64), offset_size=4
        )


def test_offsets_at_any_address() -> None:
    offsets = memoryview(b"-" + array.array("q", [0, 16]).tobytes())[1:]
    out = bytearray(32)
    cd.Hash("sha256").digest_batch(bytes(16), offsets, out, offset_size=8)
    assert bytes(out) == hashlib.sha256(bytes(16)).digest()


def test_a_generators_own_error_is_the_callers() -> None:
    def records() -> Iterator[bytes]:
        yield b"one"
        raise TypeError("of the caller")

    with pytest.raises(TypeError, match="of the caller"):
        cd.Hash("sha256").digest_many(records())


class Closing:
    """A buffer whose code closes a hash that is about to read it."""

    def __init__(self, digester: cd.Hash) -> None:
        self.digester = digester

    def __buffer__(self, flags: int) -> memoryview:
        self.digester.close()
        return memoryview(bytes(16))


@pytest.mark.skipif(sys.version_info < (3, 12), reason="buffers in Python came with 3.12")
@pytest.mark.parametrize("what", ["digest", "set_key"])
def test_closed_by_a_buffer(what: str) -> None:
    digester = cd.Hash("hmac(sha256)", b"key")
    with pytest.raises(ValueError, match="closed"):
        getattr(digester, what)(Closing(digester))


@pytest.mark.skipif(sys.version_info < (3, 12), reason="buffers in Python came with 3.12")
def test_a_batch_that_is_under_way_outlives_close() -> None:
    digester, out = cd.Hash("hmac(sha256)", b"key"), bytearray(32)
    expected = hmac.digest(b"key", bytes(16), "sha256")
    data = cast("bytes", Closing(digester))
    assert digester.digest_batch(data, array.array("q", [0, 16]), out) == 32
    assert bytes(out) == expected
    with pytest.raises(ValueError, match="closed"):
        digester.digest(b"")
    digester = cd.Hash("hmac(sha256)", b"key")
    data = cast("bytes", Closing(digester))
    assert digester.digest_many([bytes(16), data]) == [expected, expected]
    with pytest.raises(ValueError, match="closed"):
        digester.digest(b"")


@pytest.mark.skipif(sys.version_info < (3, 12), reason="buffers in Python came with 3.12")
def test_results_are_not_seen_before_they_are_whole() -> None:
    class Looking:
        def __buffer__(self, flags: int) -> memoryview:
            for seen in gc.get_objects():
                if type(seen) is list and len(seen) == 77:
                    assert all(item is not None for item in seen)
            return memoryview(b"record")

    records = [cast("bytes", Looking()), *[b"record"] * 76]
    assert cd.Hash("sha256").digest_many(records) == [hashlib.sha256(b"record").digest()] * 77
