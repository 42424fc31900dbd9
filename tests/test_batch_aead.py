"""Batches of authenc on every implementation, as lists and packed, against the oracle."""

from __future__ import annotations

import array
import itertools
import random
from dataclasses import dataclass

import pytest
from aead_support import block_size, digest_size, flipped, iv_size, key_sizes, oracle
from providers import Family

import cryptodispatch as cd

NAME = "authenc(hmac(sha256),cbc(aes))"


@dataclass(frozen=True)
class Batch:
    """Records with their AAD, and what they become."""

    aead: cd.Aead
    texts: list[bytes]
    ivs: list[bytes]
    aads: list[bytes]
    sealed: list[bytes]

    def packed(self, records: list[bytes]) -> tuple[bytes, array.array, bytes]:
        return *pack(records), b"".join(self.ivs)


def pack(records: list[bytes]) -> tuple[bytes, array.array]:
    return b"".join(records), array.array("q", itertools.accumulate(map(len, records), initial=0))


def batch(driver: str, name: str, count: int, tag_size: int, *, aads: bool = True) -> Batch:
    """Lengths are mixed: none, some blocks, now and then a long one; AAD likewise."""
    source = random.Random(f"{name} {count} {tag_size}")
    key, auth_key = source.randbytes(key_sizes(name)[0]), source.randbytes(20)
    texts = [
        source.randbytes(
            source.choice((0, 1, 2, 3, 4, 7, 16, 17, 89 if index % 20 == 0 else 5))
            * block_size(name)
        )
        for index in range(count)
    ]
    ivs = [source.randbytes(iv_size(name)) for _ in texts]
    extra = [source.randbytes(source.choice((0, 8, 12, 64, 100)) if aads else 0) for _ in texts]
    sealed = [
        oracle(name, key, auth_key, iv, text, aad, tag_size)
        for iv, text, aad in zip(ivs, texts, extra, strict=True)
    ]
    aead = cd.Aead(driver, key, auth_key=auth_key, tag_size=tag_size)
    return Batch(aead, texts, ivs, extra, sealed)


@pytest.mark.parametrize("count", [0, 1, 3, 40])
def test_lists_and_packed_equal_the_oracle(aeads: Family, count: int) -> None:
    for name in aeads.names:
        for tag_size in (digest_size(name), 12):
            it = batch(aeads.driver(name), name, count, tag_size)
            assert it.aead.encrypt_many(it.texts, it.ivs, it.aads) == it.sealed
            assert it.aead.decrypt_many(it.sealed, it.ivs, it.aads) == it.texts
            out = bytearray(b"\xee" * (sum(map(len, it.sealed)) + 5))
            written = it.aead.encrypt_batch(*it.packed(it.texts), out, *pack(it.aads))
            assert bytes(out) == b"".join(it.sealed) + b"\xee" * 5
            back = bytearray(b"\xee" * (sum(map(len, it.texts)) + 5))
            assert it.aead.decrypt_batch(*it.packed(it.sealed), back, *pack(it.aads)) == (
                written - count * tag_size
            )
            assert bytes(back) == b"".join(it.texts) + b"\xee" * 5


def test_without_aad(aeads: Family) -> None:
    for name in aeads.names:
        it = batch(aeads.driver(name), name, 20, 10, aads=False)
        assert it.aead.encrypt_many(it.texts, it.ivs) == it.sealed
        assert it.aead.decrypt_many(it.sealed, it.ivs, None) == it.texts
        out = bytearray(sum(map(len, it.sealed)))
        it.aead.encrypt_batch(*it.packed(it.texts), out)
        assert bytes(out) == b"".join(it.sealed)


def test_forged_records_give_nothing_and_the_others_all(aeads: Family) -> None:
    """One changed bit in tag, text or AAD; in the IV, which is not covered, another text."""
    for name in aeads.names:
        it = batch(aeads.driver(name), name, 40, 12)
        source = random.Random(name)
        sealed, aads = list(it.sealed), list(it.aads)
        for index in range(0, 40, 3):
            if aads[index] and index % 2:
                aads[index] = flipped(aads[index], source.randrange(8 * len(aads[index])))
            else:
                sealed[index] = flipped(sealed[index], source.randrange(8 * len(sealed[index])))
        with pytest.raises(cd.BatchError, match=r"^records\[0\]: data: the tag .*13 more") as many:
            it.aead.decrypt_many(sealed, it.ivs, aads)
        assert list(many.value.errors) == list(range(0, 40, 3))
        assert {type(error) for error in many.value.errors.values()} == {cd.AuthenticationError}
        expected = [None if index % 3 == 0 else text for index, text in enumerate(it.texts)]
        assert many.value.results == expected
        out = bytearray(b"\xee" * sum(map(len, it.texts)))
        with pytest.raises(cd.BatchError) as packed:
            it.aead.decrypt_batch(*it.packed(sealed), out, *pack(aads))
        assert list(packed.value.errors) == list(range(0, 40, 3))
        assert bytes(out) == b"".join(
            b"\xee" * len(text) if index % 3 == 0 else text for index, text in enumerate(it.texts)
        )


def test_more_records_than_are_described_at_once() -> None:
    for count in (127, 128, 129, 256, 257, 700):
        it = batch(NAME, NAME, count, 32)
        assert it.aead.encrypt_many(it.texts, it.ivs, it.aads) == it.sealed
        assert it.aead.decrypt_many(it.sealed, it.ivs, it.aads) == it.texts
        out = bytearray(sum(map(len, it.sealed)))
        it.aead.encrypt_batch(*it.packed(it.texts), out, *pack(it.aads))
        assert bytes(out) == b"".join(it.sealed)


def test_lists_of_any_buffers_and_iterators() -> None:
    it = batch(NAME, NAME, 30, 16)
    kinds = [bytes, bytearray, memoryview, lambda data: array.array("B", data)]

    def mixed(records: list[bytes]) -> list:
        return [kinds[index % 4](record) for index, record in enumerate(records)]

    columns = [mixed(it.texts), mixed(it.ivs), mixed(it.aads)]
    for make in (list, tuple, iter):
        assert it.aead.encrypt_many(*map(make, columns)) == it.sealed
        assert it.aead.decrypt_many(*map(make, (it.sealed, it.ivs, it.aads))) == it.texts


def test_each_bad_record_is_named_once() -> None:
    """A wrong IV, a text that is no whole block, one too short for a tag, and both at once."""
    aead = cd.Aead(NAME, bytes(16), auth_key=b"k", tag_size=16)
    iv, good = bytes(16), aead.encrypt(bytes(32), bytes(16))
    with pytest.raises(cd.BatchError) as caught:
        aead.encrypt_many([bytes(32), bytes(31), bytes(32), bytes(32)], [iv, iv, b"", iv])
    assert caught.value.results == [good, None, None, good]
    said = {index: str(error) for index, error in caught.value.errors.items()}
    assert list(said) == [1, 2]
    assert said[1].startswith("records[1]: data: 31 bytes of text")
    assert said[2].startswith("ivs[2]: 0 bytes")
    with pytest.raises(cd.BatchError, match=r"^ivs\[0\]: 17 bytes .*\(and 3 more\)$") as caught:
        aead.decrypt_many(
            [good[:15], good[:15], good, good[1:], good], [bytes(17), iv, iv, iv, b"1"]
        )
    assert caught.value.results == [None, None, bytes(32), None, None]
    said = {index: str(error) for index, error in caught.value.errors.items()}
    assert list(said) == [0, 1, 3, 4]
    assert said[0].startswith("ivs[0]: 17 bytes")
    assert said[1].startswith("records[1]: data: 15 bytes were given, at least the 16 of a tag")
    assert said[3].startswith("records[3]: data: 31 bytes of text")
    assert said[4].startswith("ivs[4]: 1 byte was")


@pytest.mark.parametrize(
    ("columns", "error", "said"),
    [
        (([b""] * 2, [bytes(16)]), ValueError, "ivs: 1 were given for 2 records"),
        (([b""], [bytes(16)] * 2), ValueError, "ivs: 2 were given for 1 records"),
        (([b""], None), TypeError, "ivs: NoneType was given"),
        (([b""], bytes(16)), TypeError, "ivs: bytes was given"),
        (([b""], ["text"]), TypeError, r"ivs\[0\]: str was given"),
        (([b"", 5], [bytes(16)] * 2), TypeError, r"records\[1\]: int was given"),
        (([b""], [bytes(16)], []), ValueError, "aads: 0 were given for 1 records"),
        (([b""], [bytes(16)], [b"", b""]), ValueError, "aads: 2 were given for 1 records"),
        (([b""], [bytes(16)], [None]), TypeError, r"aads\[0\]: NoneType was given"),
        (([b""], [bytes(16)], b"a"), TypeError, "aads: bytes was given"),
    ],
)
def test_wrong_lists(columns: tuple, error: type[Exception], said: str) -> None:
    aead = cd.Aead(NAME, bytes(16), auth_key=b"k")
    for many in (aead.encrypt_many, aead.decrypt_many):
        with pytest.raises(error, match=said):
            many(*columns)


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"ivs": bytes(31)}, ValueError, "ivs: 31 bytes were given"),
        ({"out": bytearray(95)}, ValueError, "out: 95 bytes were given, at least 96"),
        ({"out": bytes(96)}, TypeError, "out: a read-only bytes"),
        ({"aads": b"abc"}, ValueError, "aads, aad_offsets: one was given"),
        ({"aad_offsets": array.array("i", [0, 1, 2])}, ValueError, "aads, aad_offsets: one was"),
        (
            {"aads": b"abc", "aad_offsets": array.array("i", [0, 3])},
            ValueError,
            "aad_offsets: 1 records were given, 2 are needed",
        ),
        (
            {"aads": b"abc", "aad_offsets": array.array("i", [0, 3, 4])},
            ValueError,
            r"offsets\[2\]: 4 was given, the values have 3 bytes",
        ),
    ],
)
def test_wrong_packed_arguments(change: dict, error: type[Exception], said: str) -> None:
    aead = cd.Aead(NAME, bytes(16), auth_key=b"k")
    arguments = {
        "values": bytes(32),
        "offsets": array.array("i", [0, 16, 32]),
        "ivs": bytes(32),
        "out": bytearray(96),
    }
    with pytest.raises(error, match=said):
        aead.encrypt_batch(**(arguments | change))
    assert aead.encrypt_batch(**arguments) == 96


def test_packed_records_shorter_than_a_tag_are_refused_before_any_is_decrypted() -> None:
    aead = cd.Aead(NAME, bytes(16), auth_key=b"k", tag_size=16)
    sealed = aead.encrypt(bytes(16), bytes(16))
    out = bytearray(b"\xee" * 32)
    with pytest.raises(ValueError, match=r"records\[1\]: 15 bytes .* the 16 of a tag"):
        aead.decrypt_batch(sealed + sealed[:15], array.array("i", [0, 32, 47]), bytes(32), out)
    assert set(out) == {0xEE}
