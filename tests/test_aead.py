"""Authenc requests on every implementation against libcrypto (cipher) and hmac (tag)."""

from __future__ import annotations

import functools
import hashlib
import os
import random
import threading

import pytest
from aead_support import block_size, digest_size, iv_size, key_sizes, material, oracle
from providers import AEADS, Family, driver_of, wrongly_unavailable

import cryptodispatch as cd
from cryptodispatch import eip93


@functools.cache
def answer(name: str, length: int, seed: int, aad_size: int, tag_size: int) -> bytes:
    """The oracle's answer for material of the same arguments and the AAD of `aad_of`."""
    key, auth_key, iv, text = material(name, length, seed)
    return oracle(name, key, auth_key, iv, text, aad_of(aad_size), tag_size)


@functools.cache
def aad_of(size: int) -> bytes:
    return random.Random(f"aad {size}").randbytes(size)


def make(aeads: Family, name: str, key: bytes, auth_key: bytes, tag: int | None = None) -> cd.Aead:
    return cd.Aead(aeads.driver(name), key, auth_key=auth_key, tag_size=tag)


def test_expected_implementations_ran(device: eip93.Device) -> None:
    """A skip of an implementation that this machine can run would be a hole in every test here."""
    available = {entry.driver for entry in cd.algorithms() if entry.available}
    portable = {driver_of("lib+lib", name) for name in AEADS}
    assert portable | {driver_of("eip93", name) for name in AEADS} <= available
    if not os.environ.get("CRYPTODISPATCH_CPU_DISABLE"):
        assert not wrongly_unavailable()


def test_facts(aeads: Family) -> None:
    for name in aeads.names:
        for size in key_sizes(name):
            aead = make(aeads, name, bytes(size), b"k")
            assert (aead.name, aead.driver) == (name, aeads.driver(name))
            assert aead.key_sizes == key_sizes(name)
            assert (aead.block_size, aead.iv_size) == (block_size(name), iv_size(name))
            assert aead.tag_size == aead.max_tag_size == digest_size(name)


def test_all_lengths(aeads: Family) -> None:
    """Lengths 0..1024 in and out, all results folded into one digest, against the oracle's."""
    for name in aeads.names:
        ours, theirs = hashlib.sha256(), hashlib.sha256()
        for length in range(0, 1025, block_size(name)):
            if length == 0 or block_size(name) > 1:
                key, auth_key, iv, text = material(name, length, 1)
                aead = make(aeads, name, key, auth_key)
                expected = answer(name, length, 1, 16, digest_size(name))
            else:  # one key for all: making the transform costs more than using it
                text = material(name, 1024, 1)[3][:length]
                expected = oracle(name, key, auth_key, iv, text, aad_of(16), digest_size(name))
            sealed = aead.encrypt(text, iv, aad_of(16))
            ours.update(sealed)
            theirs.update(expected)
            assert aead.decrypt(sealed, iv, aad_of(16)) == text, (name, length)
        assert ours.digest() == theirs.digest(), name


def test_aad_lengths(aeads: Family) -> None:
    """0..64 bytes, odd ones among them, and long ones; the engine counts AAD in words."""
    for name in aeads.names:
        key, auth_key, iv, text = material(name, 48, 2)
        aead = make(aeads, name, key, auth_key)
        for size in (*range(65), 255, 1000, 1023, 1024, 1028, 5000, 65536):
            sealed = aead.encrypt(text, iv, aad_of(size))
            assert sealed == answer(name, 48, 2, size, digest_size(name)), (name, size)
            assert aead.decrypt(sealed, iv, aad_of(size)) == text


# R021: the length of the AAD belongs to the request, not to the transform.
def test_r021_aad_length_may_change_from_request_to_request(aeads: Family) -> None:
    for name in aeads.names:
        key, auth_key, iv, text = material(name, 64, 3)
        aead = make(aeads, name, key, auth_key)
        for size in (8, 16, 12, 8, 0, 20, 13, 8):
            expected = answer(name, 64, 3, size, digest_size(name))
            assert aead.encrypt(text, iv, aad_of(size)) == expected, (name, size)
            assert aead.decrypt(expected, iv, aad_of(size)) == text, (name, size)


def test_tag_sizes(aeads: Family) -> None:
    """1 to the whole digest: the engine counts tags in words, so odd ones are the driver's."""
    for name in aeads.names:
        key, auth_key, iv, text = material(name, 32, 4)
        for size in range(1, digest_size(name) + 1):
            aead = make(aeads, name, key, auth_key, size)
            assert aead.tag_size == size
            expected = answer(name, 32, 4, 12, size)
            assert aead.encrypt(text, iv, aad_of(12)) == expected, (name, size)
            assert aead.decrypt(expected, iv, aad_of(12)) == text, (name, size)


def test_wrong_tag_sizes(aeads: Family) -> None:
    for name in aeads.names:
        for size in (0, -1, digest_size(name) + 1, 2**40):
            with pytest.raises(ValueError, match=f"tag_size: {size} was given, 1 to"):
                make(aeads, name, bytes(key_sizes(name)[0]), b"k", size)
        with pytest.raises(TypeError):
            make(aeads, name, bytes(key_sizes(name)[0]), b"k", "12")


# R043: the cipher's part of the key decides about the size, with the nonce at its end.
def test_r043_key_sizes(aeads: Family) -> None:
    for name in aeads.names:
        allowed = set(key_sizes(name))
        aead = cd.Aead(aeads.driver(name))
        for size in (0, 3, 7, 8, 9, 15, 16, 20, 23, 24, 25, 28, 32, 36, 40):
            if size in allowed:
                key, auth_key, iv, text = material(name, 48, 5, size)
                aead.set_key(key, auth_key)
                expected = oracle(name, key, auth_key, iv, text, b"aad", digest_size(name))
                assert aead.encrypt(text, iv, b"aad") == expected, (name, size)
                assert aead.decrypt(expected, iv, b"aad") == text
            else:
                with pytest.raises(cd.InvalidKeyError, match=f"key: {size} bytes"):
                    aead.set_key(bytes(size), b"k")


def test_authentication_keys_of_any_length(aeads: Family) -> None:
    for name in aeads.names:
        key, _, iv, text = material(name, 32, 6)
        aead = cd.Aead(aeads.driver(name))
        for size in (0, 1, 16, 63, 64, 65, 127, 1000, 2**20):
            auth_key = random.Random(size).randbytes(size)
            aead.set_key(key, auth_key)
            expected = oracle(name, key, auth_key, iv, text, b"", digest_size(name))
            assert aead.encrypt(text, iv) == expected, (name, size)


# R029, R027: no key, or none left after a failed set_key: an error, and nothing is encrypted.
def test_r029_no_key(aeads: Family) -> None:
    for name in aeads.names:
        size = key_sizes(name)[0]
        aead = cd.Aead(aeads.driver(name))
        for bad in (None, (bytes(size - 1), b"k"), (b"", b""), (bytes(size), bytes(2**20 + 1))):
            if bad is not None:
                with pytest.raises(cd.InvalidKeyError, match=r"^(auth_)?key: \d+ bytes"):
                    aead.set_key(*bad)
            for length in (0, 48, 4096):
                data, iv = bytes(length + digest_size(name)), bytes(iv_size(name))
                with pytest.raises(cd.InvalidKeyError, match="key: none is set"):
                    aead.encrypt(bytes(length), iv)
                with pytest.raises(cd.InvalidKeyError, match="key: none is set"):
                    aead.decrypt(data, iv)
                with pytest.raises(cd.InvalidKeyError, match="key: none is set"):
                    aead.encrypt_many([bytes(length)], [iv])
            aead.set_key(bytes(size), b"k")
            assert len(aead.encrypt(bytes(48), bytes(iv_size(name)))) == 48 + digest_size(name)


# R091: what goes in and what comes out.
def test_r091_length_rules(aeads: Family) -> None:
    for name in aeads.names:
        key, auth_key, iv, text = material(name, 16, 7)
        aead = make(aeads, name, key, auth_key, 12)
        sealed = aead.encrypt(text, iv, bytes(16))
        assert len(sealed) == 16 + 12
        assert len(aead.decrypt(sealed, iv, bytes(16))) == 16
        assert len(aead.encrypt(b"", iv)) == 12
        assert aead.decrypt(aead.encrypt(b"", iv), iv) == b""
        for short in range(12):
            with pytest.raises(
                ValueError, match=f"data: {short} bytes? .* at least the 12 of a tag"
            ):
                aead.decrypt(sealed[:short], iv, bytes(16))
        if block_size(name) > 1:
            for length in (1, 7, 15, 17, 1023):
                with pytest.raises(ValueError, match=f"{length} bytes of text .* multiples of"):
                    aead.encrypt(bytes(length), iv)
                with pytest.raises(ValueError, match=f"{length} bytes of text .* multiples of"):
                    aead.decrypt(bytes(length + 12), iv)
        assert aead.decrypt(sealed, iv, bytes(16)) == text


@pytest.mark.parametrize("value", ["text", None, 16, 2**70, 1.5, [1, 2], object()])
def test_types_are_checked(aeads: Family, value: object) -> None:
    name = aeads.names[-1]
    key, auth_key, iv, text = material(name, 48, 8)
    aead = make(aeads, name, key, auth_key)
    for call, arguments in (
        (aead.encrypt, (value, iv)),
        (aead.decrypt, (value, iv)),
        (aead.encrypt, (text, value)),
        (aead.encrypt, (text, iv, value)),
        (aead.decrypt, (text, iv, value)),
    ):
        with pytest.raises(TypeError, match=r"^(data|iv|aad):"):
            call(*arguments)
    for wrong in ((value, auth_key), (key, value)):
        with pytest.raises(TypeError, match=r"^(key|auth_key):"):
            cd.Aead(aeads.driver(name)).set_key(*wrong)
    assert aead.encrypt(text, iv) == answer(name, 48, 8, 0, digest_size(name))


def test_iv_is_checked(aeads: Family) -> None:
    for name in aeads.names:
        aead = make(aeads, name, bytes(key_sizes(name)[0]), b"k")
        for length in {0, 7, 8, 9, 15, 16, 17} - {iv_size(name)}:
            with pytest.raises(ValueError, match=f"iv: {length} bytes? (was|were) given, .* takes"):
                aead.encrypt(bytes(48), bytes(length))


def test_long_messages(aeads: Family) -> None:
    for name in aeads.names[:: 5 if len(aeads.names) > 8 else 3]:
        for length in (65536, 2**20 - 48, 2**20, 2**20 + 48):
            key, auth_key, iv, text = material(name, length, 9)
            aead = make(aeads, name, key, auth_key)
            sealed = aead.encrypt(text, iv, aad_of(20))
            assert sealed == answer(name, length, 9, 20, digest_size(name)), (name, length)
            assert aead.decrypt(sealed, iv, aad_of(20)) == text


def test_every_provider_is_meant(aeads: Family) -> None:
    """The engine really did what it can do, and counted what the driver did in software."""
    for name in aeads.names:
        key, auth_key, iv, text = material(name, 64, 10)
        for aad_size, tag_size, encrypts, decrypts in (
            (16, 12, True, True),
            (13, 11, True, True),
            (3, 12, False, False),  # an AAD of bytes that is too short for the engine
            (257, 12, False, False),  # or too long
            (16, 3, True, False),  # a tag too short for the engine to compare
        ):
            aead = make(aeads, name, key, auth_key, tag_size)
            sealed = answer(name, 64, 10, aad_size, tag_size)
            for call, given, wanted, by_engine in (
                (aead.encrypt, text, sealed, encrypts),
                (aead.decrypt, sealed, text, decrypts),
            ):
                before, packets = aeads.device.counters, aeads.device.emulator.counters.packets
                assert call(given, iv, aad_of(aad_size)) == wanted
                after = aeads.device.counters
                used = aeads.device.emulator.counters.packets - packets
                assert (used > 0) == (aeads.on_engine and by_engine), (name, aad_size, tag_size)
                software = after.software - before.software
                assert software == (aeads.on_engine and not by_engine), (name, aad_size, tag_size)


def test_one_object_from_four_threads(aeads: Family) -> None:
    rows = {name: material(name, 0, 11) for name in aeads.names}
    made = {name: make(aeads, name, *rows[name][:2]) for name in aeads.names}
    bad: list[str] = []

    def work(seed: int) -> None:
        source = random.Random(seed)
        for _ in range(40):
            name = source.choice(aeads.names)
            key, auth_key, _, _ = rows[name]
            iv, aad = source.randbytes(iv_size(name)), source.randbytes(source.randrange(30))
            text = source.randbytes(48 * source.randrange(1, 20))
            expected = oracle(name, key, auth_key, iv, text, aad, digest_size(name))
            if made[name].encrypt(text, iv, aad) != expected:
                bad.append(f"{name} encrypt")
            if made[name].decrypt(expected, iv, aad) != text:
                bad.append(f"{name} decrypt")

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not bad


def test_close(aeads: Family) -> None:
    name = aeads.names[0]
    aead = make(aeads, name, bytes(key_sizes(name)[0]), b"k")
    aead.close()
    aead.close()
    for call, arguments in (
        (aead.encrypt, (bytes(48), bytes(iv_size(name)))),
        (aead.set_key, (bytes(key_sizes(name)[0]), b"k")),
        (aead.encrypt_many, ([], [])),
    ):
        with pytest.raises(ValueError, match="closed"):
            call(*arguments)
    assert "closed" in repr(aead)
