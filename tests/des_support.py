"""What the tests of DES and 3DES share: an oracle that is not ours, and reproducible material."""

from __future__ import annotations

import random

from cryptography.hazmat.decrepit.ciphers.algorithms import TripleDES
from cryptography.hazmat.primitives.ciphers import Cipher, modes


def iv_size(algorithm: str) -> int:
    return 8 if algorithm.startswith("cbc") else 0


def key_size(algorithm: str) -> int:
    return 24 if "des3" in algorithm else 8


def oracle(algorithm: str, key: bytes, iv: bytes, data: bytes, *, decrypt: bool = False) -> bytes:
    """The answer of libcrypto; single DES is 3DES with three equal keys."""
    mode = modes.CBC(iv) if iv else modes.ECB()
    assert bool(iv) == algorithm.startswith("cbc")
    cipher = Cipher(TripleDES(key * (24 // len(key))), mode)
    context = cipher.decryptor() if decrypt else cipher.encryptor()
    return context.update(data) + context.finalize()


def material(algorithm: str, length: int, seed: int) -> tuple[bytes, bytes, bytes]:
    """Key, IV and text, reproducibly random."""
    source = random.Random(f"{algorithm} {length} {seed}")
    return (
        source.randbytes(key_size(algorithm)),
        source.randbytes(iv_size(algorithm)),
        source.randbytes(length),
    )
