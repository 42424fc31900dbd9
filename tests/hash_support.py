"""What the tests of hashes share: an oracle that is not ours, and reproducible messages."""

from __future__ import annotations

import functools
import hashlib
import hmac
import random

import cryptodispatch as cd

KEY = b"a key of the hash tests"


def digest_name(algorithm: str) -> str:
    """The hash inside an HMAC, or the hash itself."""
    return algorithm.removeprefix("hmac(").removesuffix(")")


def is_keyed(algorithm: str) -> bool:
    return algorithm.startswith("hmac(")


def oracle(algorithm: str, data: bytes, key: bytes = KEY) -> bytes:
    """The answer of hashlib and hmac; the key counts for HMACs only."""
    if is_keyed(algorithm):
        return hmac.new(key, data, digest_name(algorithm)).digest()
    return hashlib.new(digest_name(algorithm), data).digest()


def make(driver: str, algorithm: str, key: bytes = KEY) -> cd.Hash:
    """A transform of a driver, keyed if the algorithm takes a key."""
    return cd.Hash(driver, key if is_keyed(algorithm) else None)


@functools.cache
def message(length: int, seed: int = 0) -> bytes:
    return random.Random(f"hash {length} {seed}").randbytes(length)
