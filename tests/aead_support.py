"""What the tests of authenc share: an oracle made of two libraries, and reproducible material."""

from __future__ import annotations

import array
import hmac
import random
import re

import aes_support
import des_support
import pytest

import cryptodispatch as cd


def parts(algorithm: str) -> tuple[str, str]:
    """Hash and cipher of an authenc name."""
    found = re.fullmatch(r"authenc\(hmac\((\w+)\),(.*)\)", algorithm)
    assert found is not None
    return found[1], found[2]


def block_size(algorithm: str) -> int:
    return 1 if "rfc3686" in algorithm else 16 if "aes" in algorithm else 8


def iv_size(algorithm: str) -> int:
    return 16 if "cbc(aes)" in algorithm else 8


def key_sizes(algorithm: str) -> tuple[int, ...]:
    cipher = parts(algorithm)[1]
    return {"cbc(aes)": (16, 24, 32), "rfc3686(ctr(aes))": (20, 28, 36), "cbc(des)": (8,)}.get(
        cipher, (24,)
    )


def digest_size(algorithm: str) -> int:
    return {"md5": 16, "sha1": 20, "sha224": 28, "sha256": 32}[parts(algorithm)[0]]


def crypt(algorithm: str, key: bytes, iv: bytes, data: bytes, *, decrypt: bool = False) -> bytes:
    """The cipher of an authenc by libcrypto."""
    cipher = parts(algorithm)[1]
    if "des" in cipher:
        return des_support.oracle(cipher, key, iv, data, decrypt=decrypt)
    return aes_support.oracle(cipher.split("(")[0], key, iv, data, decrypt=decrypt)


def oracle(
    algorithm: str,
    key: bytes,
    auth_key: bytes,
    iv: bytes,
    data: bytes,
    aad: bytes,
    tag_size: int,
) -> bytes:
    """Ciphertext and tag: encrypt, then HMAC over AAD and ciphertext; the IV is not covered."""
    sealed = crypt(algorithm, key, iv, data)
    return sealed + hmac.new(auth_key, aad + sealed, parts(algorithm)[0]).digest()[:tag_size]


def material(
    algorithm: str, length: int, seed: int, key_size: int | None = None
) -> tuple[bytes, bytes, bytes, bytes]:
    """Key, authentication key, IV and text, reproducibly random."""
    source = random.Random(f"{algorithm} {length} {seed}")
    return (
        source.randbytes(key_size or key_sizes(algorithm)[0]),
        source.randbytes(digest_size(algorithm)),
        source.randbytes(iv_size(algorithm)),
        source.randbytes(length),
    )


def decrypt_is_refused(aead: cd.Aead, data: bytes, iv: bytes, aad: bytes) -> None:
    with pytest.raises(cd.AuthenticationError, match="the tag does not match"):
        aead.decrypt(data, iv, aad)


def flipped(data: bytes, bit: int) -> bytes:
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def batch_gives_nothing(aead: cd.Aead, data: bytes, iv: bytes, aad: bytes) -> None:
    """The caller's own buffer is as it was: not one byte of plaintext of a forged record."""
    out = bytearray(b"\xee" * (len(data) - aead.tag_size))
    with pytest.raises(cd.BatchError) as caught:
        aead.decrypt_batch(
            data,
            array.array("i", [0, len(data)]),
            iv,
            out,
            aad,
            array.array("i", [0, len(aad)]),
        )
    assert isinstance(caught.value.errors[0], cd.AuthenticationError)
    assert set(out) <= {0xEE}
