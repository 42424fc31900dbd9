"""Batches of 1000 records, per record: lists and packed buffers beside the best peer's loop."""

from __future__ import annotations

import array
import hashlib
from collections.abc import Callable

import interleave
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

import cryptodispatch as cd

COUNT = 1000
SIZES = (64, 256, 1424)
KEY = bytes(range(16))


def _cbc(size: int) -> dict[str, Callable[[bytes], object]]:
    records = [bytes([i % 256]) * size for i in range(COUNT)]
    ivs = [i.to_bytes(16, "big") for i in range(COUNT)]
    cipher = cd.Cipher("cbc(aes)", KEY)
    offsets = array.array("i", range(0, COUNT * size + 1, size))
    values, packed_ivs, out = b"".join(records), b"".join(ivs), bytearray(COUNT * size)
    algorithm = algorithms.AES(KEY)
    update = Cipher(algorithm, modes.CBC(bytes(16))).encryptor().update

    def documented(_: bytes) -> object:
        result = []
        for record, iv in zip(records, ivs, strict=True):
            context = Cipher(algorithm, modes.CBC(iv)).encryptor()
            result.append(context.update(record) + context.finalize())
        return result

    expected = documented(b"")
    assert cipher.encrypt_many(records, ivs) == expected
    cipher.encrypt_batch(values, offsets, packed_ivs, out)
    assert bytes(out) == b"".join(expected)
    return {
        "ours, lists": lambda _: cipher.encrypt_many(records, ivs),
        "ours, packed": lambda _: cipher.encrypt_batch(values, offsets, packed_ivs, out),
        "peer, documented": documented,
        "peer, reuse": lambda _: [
            update(iv + record) for record, iv in zip(records, ivs, strict=True)
        ],
    }


def _sha256(size: int) -> dict[str, Callable[[bytes], object]]:
    records = [bytes([i % 256]) * size for i in range(COUNT)]
    digester = cd.Hash("sha256")
    offsets = array.array("i", range(0, COUNT * size + 1, size))
    values, out = b"".join(records), bytearray(COUNT * 32)
    base = hashlib.sha256()

    def reuse(_: bytes) -> object:
        result = []
        for record in records:
            context = base.copy()
            context.update(record)
            result.append(context.digest())
        return result

    expected = reuse(b"")
    assert digester.digest_many(records) == expected
    digester.digest_batch(values, offsets, out)
    assert bytes(out) == b"".join(expected)
    return {
        "ours, lists": lambda _: digester.digest_many(records),
        "ours, packed": lambda _: digester.digest_batch(values, offsets, out),
        "peer, documented": lambda _: [hashlib.sha256(record).digest() for record in records],
        "peer, reuse": reuse,
    }


def main(rounds: int) -> None:
    """Print nanoseconds per record and how many times the best peer's."""
    print(f"{'ns per record':16}{'bytes':>7}  {'':18}{'ns':>8}{'x':>7}")  # noqa: T201
    for name, make in (("AES-128-CBC", _cbc), ("SHA-256", _sha256)):
        for size in SIZES:
            results = interleave.run(make(size), b"", rounds)
            times = {key: result.median / COUNT for key, result in results.items()}
            best = min(times["peer, documented"], times["peer, reuse"])
            for key, value in times.items():
                print(f"{name:16}{size:7}  {key:18}{value:8.1f}{best / value:7.2f}")  # noqa: T201
