"""Forged messages of authenc: refused by every implementation, and nothing of them given out."""

from __future__ import annotations

import pytest
from aead_support import (
    batch_gives_nothing,
    crypt,
    decrypt_is_refused,
    digest_size,
    flipped,
    material,
)
from providers import Family

import cryptodispatch as cd


@pytest.mark.parametrize("tag_size", [4, 12, None])
def test_every_flipped_bit_is_refused(aeads: Family, tag_size: int | None) -> None:
    for name in aeads.names:
        key, auth_key, iv, text = material(name, 16, 1)
        aead = cd.Aead(aeads.driver(name), key, auth_key=auth_key, tag_size=tag_size)
        aad = bytes(range(12))
        sealed = aead.encrypt(text, iv, aad)
        step = 1 if tag_size == 12 else 7
        for bit in range(0, 8 * len(sealed), step):
            decrypt_is_refused(aead, flipped(sealed, bit), iv, aad)
            if bit % 16 == 0:
                batch_gives_nothing(aead, flipped(sealed, bit), iv, aad)
        for bit in range(0, 8 * len(aad), step):
            decrypt_is_refused(aead, sealed, iv, flipped(aad, bit))
        assert aead.decrypt(sealed, iv, aad) == text


# The driver does odd ones in software; they are checked no less.
def test_every_flipped_bit_of_odd_sizes_is_refused(aeads: Family) -> None:
    for name in aeads.names:
        for length, aad_size, tag_size in ((0, 0, 7), (0, 12, 12), (48, 13, 13)):
            key, auth_key, iv, text = material(name, length, 2)
            aead = cd.Aead(aeads.driver(name), key, auth_key=auth_key, tag_size=tag_size)
            aad = bytes(range(aad_size))
            sealed = aead.encrypt(text, iv, aad)
            for bit in range(0, 8 * len(sealed), 3):
                decrypt_is_refused(aead, flipped(sealed, bit), iv, aad)
            for bit in range(0, 8 * aad_size, 3):
                decrypt_is_refused(aead, sealed, iv, flipped(aad, bit))
            assert aead.decrypt(sealed, iv, aad) == text


def test_iv_is_covered_only_by_the_aad(aeads: Family) -> None:
    """The documented rule, as in the kernel: an IV outside of the AAD is not authenticated."""
    for name in aeads.names:
        key, auth_key, iv, text = material(name, 32, 5)
        aead = cd.Aead(aeads.driver(name), key, auth_key=auth_key)
        sealed = aead.encrypt(text, iv)
        other = aead.decrypt(sealed, flipped(iv, 0))
        assert other != text
        assert other == crypt(name, key, flipped(iv, 0), sealed[: -digest_size(name)], decrypt=True)


# R093: a tag is there in full or there is no message.
def test_r093_tags_of_the_wrong_length(aeads: Family) -> None:
    for name in aeads.names:
        key, auth_key, iv, text = material(name, 48, 6)
        aead = cd.Aead(aeads.driver(name), key, auth_key=auth_key)
        sealed = aead.encrypt(text, iv)
        body, tag = sealed[:48], sealed[48:]
        for wrong in (b"", tag[:1], tag[:2], tag[:3], tag[:-1], tag + b"\0", tag + tag):
            with pytest.raises((cd.AuthenticationError, ValueError)):
                aead.decrypt(body + wrong, iv)
            with pytest.raises((cd.AuthenticationError, ValueError)):
                aead.decrypt(wrong if wrong != tag else b"", iv)
        other = cd.Aead(aeads.driver(name), key, auth_key=auth_key, tag_size=12)
        decrypt_is_refused(other, body + bytes(12), iv, b"")
        # A message sealed with a shorter tag is opened by that tag size alone.
        short = other.encrypt(text, iv)
        assert short == body + tag[:12]
        assert other.decrypt(short, iv) == text


def test_wrong_keys_are_refused(aeads: Family) -> None:
    for name in aeads.names:
        key, auth_key, iv, text = material(name, 48, 7)
        aead = cd.Aead(aeads.driver(name), key, auth_key=auth_key)
        sealed = aead.encrypt(text, iv, b"aad")
        for bit in (0, 77, 8 * len(auth_key) - 1):
            aead.set_key(key, flipped(auth_key, bit))
            decrypt_is_refused(aead, sealed, iv, b"aad")
        aead.set_key(key, auth_key)
        assert aead.decrypt(sealed, iv, b"aad") == text
