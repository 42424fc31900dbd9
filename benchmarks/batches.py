"""Batches of 1000 records: lists and packed buffers beside the peers' loops.

A way takes no text: records, IVs and offsets are made with the case. What it returns is compared
with the oracle's records after it was timed.
"""

from __future__ import annotations

import array
import hashlib
import hmac
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import interleave
import options
from cryptography.hazmat.primitives.ciphers import Cipher, modes
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.hmac import HMAC
from nacl.bindings import crypto_hash_sha256
from peers import Spec
from ways import Prepared

import cryptodispatch as cd

COUNT = 1000
SIZES = (64, 256, 1424)
MIXED = "mixed"  # multiples of 16 from 16 to 1504 bytes
KEY = bytes(range(16))
SPEC = Spec("cbc", KEY, bytes(16))


@dataclass(frozen=True)
class Batch:
    """Records with an IV each."""

    records: list[bytes]
    ivs: list[bytes]

    @property
    def values(self) -> bytes:
        """The records in one piece."""
        return b"".join(self.records)

    @property
    def offsets(self) -> array.array[int]:
        """Where they begin and end, as in Arrow."""
        return array.array("i", accumulate(map(len, self.records), initial=0))


def batch(size: int | str) -> Batch:
    """The records of one size, or of mixed ones."""
    source = random.Random(size)
    lengths = [source.randrange(16, 1505, 16) if size == MIXED else int(size) for _ in range(COUNT)]
    return Batch(
        [bytes([i % 256]) * length for i, length in enumerate(lengths)],
        [i.to_bytes(16, "big") for i in range(COUNT)],
    )


def _listed(function: Callable[..., Any], *arguments: object) -> Prepared:
    return Prepared(function, arguments, list)


def _packed(function: Callable[..., Any], ends: Sequence[int], *arguments: Any) -> Prepared:  # noqa: ANN401
    """A call whose last argument is the buffer that it fills; `ends` cut it into records."""

    def outcome(_: object) -> list[bytes]:
        return [bytes(arguments[-1][start:end]) for start, end in pairwise(ends)]

    return Prepared(function, arguments, outcome)


def _under_own_ivs(values: list[bytes], ivs: list[bytes]) -> list[bytes]:
    """What an endless encryptor's IVs and ciphertexts are under the IVs that were meant."""
    pairs = zip(values, ivs, strict=True)
    return [SPEC.oracle(SPEC.oracle(value[16:], value[:16], back=True), iv) for value, iv in pairs]


def _cbc(work: Batch) -> dict[str, Prepared]:
    records, ivs = work.records, work.ivs
    cipher = cd.Cipher("cbc(aes)", KEY)
    out = bytearray(len(work.values))
    algorithm = SPEC.algorithm()

    def documented() -> list[bytes]:
        result = []
        for record, iv in zip(records, ivs, strict=True):
            context = Cipher(algorithm, modes.CBC(iv)).encryptor()
            result.append(context.update(record) + context.finalize())
        return result

    def endless(update: Callable[[bytes], bytes]) -> Prepared:
        return Prepared(
            lambda: [update(iv + record) for record, iv in zip(records, ivs, strict=True)],
            (),
            lambda values: _under_own_ivs(values, ivs),
        )

    return {
        "ours lists": _listed(cipher.encrypt_many, records, ivs),
        "ours packed": _packed(
            cipher.encrypt_batch, work.offsets, work.values, work.offsets, b"".join(ivs), out
        ),
        "documented: cryptography": _listed(documented),
        "reuse: cryptography endless": endless(SPEC.pyca(bytes(16), decrypt=False).update),
        "reuse: PyCryptodome endless": endless(SPEC.pycryptodome()().encrypt),
    }


def _macs(records: list[bytes]) -> list[bytes]:
    """Tags by copies of one keyed object of `cryptography`, the fastest way of a peer's HMAC."""
    copy = HMAC(KEY, SHA256()).copy
    result = []
    for record in records:
        context = copy()
        context.update(record)
        result.append(context.finalize())
    return result


def _digests(work: Batch, name: str, key: bytes | None, base: Any, new: Any) -> dict[str, Prepared]:  # noqa: ANN401
    records = work.records
    digester = cd.Hash(name, key)
    size = digester.digest_size
    out = bytearray(COUNT * size)
    copy = base.copy

    def reuse() -> list[bytes]:
        result = []
        for record in records:
            context = copy()
            context.update(record)
            result.append(context.digest())
        return result

    return {
        "ours lists": _listed(digester.digest_many, records),
        "ours packed": _packed(
            digester.digest_batch,
            range(0, (COUNT + 1) * size, size),
            work.values,
            work.offsets,
            out,
        ),
        "documented: standard library": _listed(lambda: [new(record) for record in records]),
        "reuse: copy": _listed(reuse),
    }


def _sha256(work: Batch) -> dict[str, Prepared]:
    binding, records = crypto_hash_sha256, work.records
    return {
        **_digests(
            work, "sha256", None, hashlib.sha256(), lambda record: hashlib.sha256(record).digest()
        ),
        "reuse: PyNaCl binding": _listed(lambda: [binding(record) for record in records]),
    }


def _hmac(work: Batch) -> dict[str, Prepared]:
    records = work.records
    return {
        **_digests(
            work,
            "hmac(sha256)",
            KEY,
            hmac.new(KEY, digestmod="sha256"),
            lambda record: hmac.new(KEY, record, "sha256").digest(),
        ),
        "reuse: hmac.digest": _listed(
            lambda: [hmac.digest(KEY, record, "sha256") for record in records]
        ),
        "reuse: cryptography copy": _listed(lambda: _macs(records)),
    }


def _authenc(work: Batch) -> dict[str, Prepared]:
    records, ivs = work.records, work.ivs
    aead = cd.Aead("authenc(hmac(sha256),cbc(aes))", KEY, auth_key=KEY)
    ends = array.array("i", accumulate((len(record) + 32 for record in records), initial=0))
    out = bytearray(ends[-1])
    algorithm = SPEC.algorithm()
    update = SPEC.pyca(bytes(16), decrypt=False).update
    copy = HMAC(KEY, SHA256()).copy

    def documented() -> list[bytes]:
        result = []
        for record, iv in zip(records, ivs, strict=True):
            context = Cipher(algorithm, modes.CBC(iv)).encryptor()
            text = context.update(record) + context.finalize()
            result.append(text + hmac.new(KEY, text, "sha256").digest())
        return result

    def reuse() -> list[bytes]:
        result = []
        for record, iv in zip(records, ivs, strict=True):
            text = update(iv + record)
            mac = copy()
            mac.update(text)
            result.append(text + mac.finalize())
        return result

    def own(values: list[bytes]) -> list[bytes]:
        assert all(hmac.digest(KEY, value[:-32], "sha256") == value[-32:] for value in values)
        texts = _under_own_ivs([value[:-32] for value in values], ivs)
        return [text + hmac.digest(KEY, text, "sha256") for text in texts]

    return {
        "ours lists": _listed(aead.encrypt_many, records, ivs),
        "ours packed": _packed(
            aead.encrypt_batch, ends, work.values, work.offsets, b"".join(ivs), out
        ),
        "documented: cryptography + hmac": _listed(documented),
        "reuse: endless + cryptography copy": Prepared(reuse, (), own),
    }


# As in names of benchmarks.
OPERATIONS = {
    "AES-128-CBC": "cbc(aes)128_encrypt",
    "SHA-256": "sha256",
    "HMAC-SHA-256": "hmac(sha256)",
    "CBC + HMAC-SHA-256": "authenc(hmac(sha256),cbc(aes))_encrypt",
}
MAKERS: dict[str, Callable[[Batch], dict[str, Prepared]]] = {
    "AES-128-CBC": _cbc,
    "SHA-256": _sha256,
    "HMAC-SHA-256": _hmac,
    "CBC + HMAC-SHA-256": _authenc,
}


def expected(name: str, work: Batch) -> list[bytes]:
    """The oracle's records."""
    if name == "SHA-256":
        return [hashlib.sha256(record).digest() for record in work.records]
    if name == "HMAC-SHA-256":
        return [hmac.digest(KEY, record, "sha256") for record in work.records]
    pairs = zip(work.records, work.ivs, strict=True)
    texts = [SPEC.oracle(record, iv) for record, iv in pairs]
    if name == "AES-128-CBC":
        return texts
    return [text + hmac.digest(KEY, text, "sha256") for text in texts]


def main(rounds: int, only: str) -> list[dict[str, object]]:
    """Print nanoseconds per record, their spread, and how many times faster than the best peer."""
    figures: list[dict[str, object]] = []
    print(f"{'ns per record':20}{'bytes':>6}  {'':32}{'ns':>9}{'spread':>8}{'x':>7}")
    for name, make in MAKERS.items():
        for size in (*SIZES, MIXED) if options.matches(only, name) else ():
            work = batch(size)
            calls = make(work)
            results = interleave.run(calls, rounds)
            right = expected(name, work)
            for label, call in calls.items():
                assert call.outcome(call.function(*call.arguments)) == right, (name, size, label)
            best = min(result.median for key, result in results.items() if ": " in key)
            for label, result in results.items():
                print(
                    f"{name:20}{size!s:>6}  {label:32}{result.median / COUNT:9.1f}"
                    f"{result.spread:8.0%}{best / result.median:7.2f}",
                    flush=True,
                )
                figure = {"ns": result.median / COUNT, "spread": result.spread}
                figures.append({"case": name, "size": size, "way": label, **figure})
    return figures
