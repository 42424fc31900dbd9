"""Authenc on both sides of a threshold, between all implementations, and on a small ring."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from aead_support import (
    batch_gives_nothing,
    block_size,
    crypt,
    decrypt_is_refused,
    digest_size,
    flipped,
    iv_size,
    key_sizes,
    material,
    oracle,
)
from providers import AEADS, driver_of, software_drivers

import cryptodispatch as cd
from cryptodispatch import eip93


@pytest.fixture
def device() -> Iterator[eip93.Device]:
    with eip93.Device.emulated() as opened:
        yield opened


@pytest.mark.parametrize("name", AEADS)
def test_both_sides_of_the_threshold(device: eip93.Device, name: str) -> None:
    """One object, one key: a short message on the CPU, a long one on the engine."""
    device.fallback.enable()
    (group,) = [row.name for row in eip93.GROUPS if driver_of("eip93", name) in row.members]
    device.fallback[group].threshold = 96
    key, auth_key, iv, _ = material(name, 0, 3)
    aead = cd.Aead(name, key, auth_key=auth_key, tag_size=12)
    assert aead.driver == driver_of("proxy-hardware", name)
    for length in (96, 144):
        text = material(name, length, 3)[3]
        before = device.fallback[group].counters
        sealed = aead.encrypt(text, iv, bytes(16))
        assert sealed == oracle(name, key, auth_key, iv, text, bytes(16), 12)
        # The tag does not count: the decryption goes where the encryption went.
        assert aead.decrypt(sealed, iv, bytes(16)) == text
        for bit in range(8 * len(sealed)):
            decrypt_is_refused(aead, flipped(sealed, bit), iv, bytes(16))
        for bit in range(8 * 16):
            decrypt_is_refused(aead, sealed, iv, flipped(bytes(16), bit))
        batch_gives_nothing(aead, flipped(sealed, 5), iv, bytes(16))
        after = device.fallback[group].counters
        changed = {why for why in after if after[why] != before[why]}
        assert changed == {"within_threshold" if length == 96 else "above_threshold"}
    # Too short for its tag: an error before anything runs, so nothing is counted.
    before = device.fallback[group].counters
    for short in range(12):
        with pytest.raises(ValueError, match="of a tag"):
            aead.decrypt(bytes(short), iv)
    assert device.fallback[group].counters == before


# R045: what one seals all others open, and none opens it with a wrong bit.
@pytest.mark.parametrize("tag_size", [12, None])
@pytest.mark.parametrize("name", AEADS)
def test_r045_everybody_understands_everybody(
    device: eip93.Device, name: str, tag_size: int | None
) -> None:
    device.fallback.enable()
    drivers = [
        *software_drivers(name),
        driver_of("eip93", name),
        driver_of("proxy-hardware", name),
    ]
    size = tag_size or digest_size(name)
    for key_size in key_sizes(name):
        key, auth_key, iv, text = material(name, 240, 4, key_size)
        aad = b"header.." + iv  # so that the IV is covered, as in the kernel's authenc
        aeads = [cd.Aead(driver, key, auth_key=auth_key, tag_size=tag_size) for driver in drivers]
        sealed = oracle(name, key, auth_key, iv, text, aad, size)
        assert crypt(name, key, iv, sealed[:-size], decrypt=True) == text
        for aead in aeads:
            assert aead.encrypt(text, iv, aad) == sealed, aead
            assert aead.decrypt(sealed, iv, aad) == text, aead
            for part in (aad, sealed):
                for bit in (0, 8 * len(part) // 2, 8 * len(part) - 1):
                    wrong = flipped(part, bit)
                    given_aad, given = (wrong, sealed) if part is aad else (aad, wrong)
                    decrypt_is_refused(aead, given, iv, given_aad)
            wrong = flipped(iv, 3)
            decrypt_is_refused(aead, sealed, wrong, b"header.." + wrong)


# R061: far more jobs than the ring takes; each result is its own and final.
@pytest.mark.parametrize("name", AEADS)
def test_r061_two_hundred_jobs_on_a_ring_of_eight(name: str) -> None:
    with eip93.Device.emulated(ring_entries=8) as device:
        source = random.Random(name)
        key, auth_key, _, _ = material(name, 0, 8)
        aead = cd.Aead(driver_of("eip93", name), key, auth_key=auth_key, tag_size=12)
        unit = block_size(name)
        texts = [source.randbytes(unit * source.randrange(1, 40)) for _ in range(200)]
        ivs = [source.randbytes(iv_size(name)) for _ in texts]
        aads = [source.randbytes(4 * source.randrange(6)) for _ in texts]
        sealed = aead.encrypt_many(texts, ivs, aads)
        assert sealed == [
            oracle(name, key, auth_key, iv, text, aad, 12)
            for text, iv, aad in zip(texts, ivs, aads, strict=True)
        ]
        assert aead.decrypt_many(sealed, ivs, aads) == texts
        counters = device.counters
        assert counters.requests == counters.completed == 400
        assert counters.failed == 0
        assert counters.maps == counters.unmaps
        # A forged one among them is an error of its index alone.
        sealed[77] = flipped(sealed[77], 9)
        with pytest.raises(cd.BatchError) as caught:
            aead.decrypt_many(sealed, ivs, aads)
        assert set(caught.value.errors) == {77}
        expected = [None if index == 77 else text for index, text in enumerate(texts)]
        assert caught.value.results == expected
