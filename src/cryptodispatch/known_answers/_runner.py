"""Running vectors on every registered implementation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from cryptodispatch._algorithms import Algorithm
from cryptodispatch._engine import Aead, Cipher, Hash
from cryptodispatch._errors import CryptoDispatchError
from cryptodispatch.known_answers._vectors import AeadVector, CipherVector, HashVector, Vector

__all__ = ["Failure", "Report", "run", "unrun"]


@dataclass(frozen=True, slots=True)
class Failure:
    """A vector that did not come out: which one, in which operation, and what was wrong."""

    source: str
    operation: str
    problem: str


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of one implementation: vectors run, and those that failed.

    ``skipped`` says why none was run; empty if some were.
    """

    driver: str
    algorithm: str
    side: str
    vectors: int
    failures: tuple[Failure, ...]
    skipped: str


def run(algorithm: Algorithm, vectors: Iterable[Vector], *, side: str = "") -> Report:
    """Run the vectors of an implementation's algorithm, in every direction, and report.

    Args:
        algorithm: the implementation.
        vectors: those of other algorithms are left out.
        side: a word for the report, as which side a proxy was made to use.
    """
    own = [vector for vector in vectors if vector.algorithm == algorithm.name]
    skipped = algorithm.reason or ("" if own else "no vectors of this algorithm")
    failures: list[Failure] = []
    if not skipped:
        for vector in own:
            failures.extend(_check(algorithm.driver, vector))
    return Report(
        driver=algorithm.driver,
        algorithm=algorithm.name,
        side=side,
        vectors=0 if skipped else len(own),
        failures=tuple(failures),
        skipped=skipped,
    )


def unrun(reports: Iterable[Report], vectors: Iterable[Vector]) -> Iterator[Report]:
    """Report as failed the vectors that no implementation ran, by algorithm."""
    ran = {report.algorithm for report in reports if report.vectors}
    left: dict[str, list[Failure]] = {}
    for vector in vectors:
        if vector.algorithm not in ran:
            problem = "no implementation of this algorithm ran it"
            left.setdefault(vector.algorithm, []).append(Failure(vector.source, "run", problem))
    for name, failures in left.items():
        yield Report(
            driver="-",
            algorithm=name,
            side="",
            vectors=len(failures),
            failures=tuple(failures),
            skipped="",
        )


def _check(driver: str, vector: Vector) -> Iterator[Failure]:
    """Compare each result with what is expected; an exception is a failure too."""
    operation = "key"
    try:
        if isinstance(vector, CipherVector):
            results = _cipher(driver, vector)
        elif isinstance(vector, HashVector):
            results = _hash(driver, vector)
        else:
            results = _aead(driver, vector)
        for operation, result, expected in results:
            if result != expected:
                yield Failure(vector.source, operation, f"{result.hex()} is not {expected.hex()}")
    except (CryptoDispatchError, ValueError, TypeError) as error:
        yield Failure(vector.source, f"after {operation}", f"{type(error).__name__}: {error}")


_Results = Iterator[tuple[str, bytes, bytes]]  # operation, result, expected


def _cipher(driver: str, vector: CipherVector) -> _Results:
    _check_parity(vector)
    with Cipher(driver, vector.key) as cipher:
        iv = vector.iv or None
        yield "encrypt", cipher.encrypt(vector.plaintext, iv), vector.ciphertext
        yield "decrypt", cipher.decrypt(vector.ciphertext, iv), vector.plaintext


def _hash(driver: str, vector: HashVector) -> _Results:
    keyed = vector.algorithm.startswith("hmac(")
    if not keyed and vector.key:
        raise ValueError(f"key: {len(vector.key)} bytes, and {vector.algorithm} takes none")
    size = len(vector.digest)
    with Hash(driver, vector.key if keyed else None) as digester:
        if not 0 < size <= digester.digest_size:
            raise ValueError(f"digest: {size} bytes, {digester.digest_size} are the whole")
        yield "digest", digester.digest(vector.message)[:size], vector.digest
        stream = digester.new()
        half = len(vector.message) // 2
        stream.update(vector.message[:half])
        stream.update(vector.message[half:])
        yield "stream", stream.digest()[:size], vector.digest


def _aead(driver: str, vector: AeadVector) -> _Results:
    _check_parity(vector)
    sealed = vector.ciphertext + vector.tag
    with Aead(driver, vector.key, auth_key=vector.auth_key, tag_size=len(vector.tag)) as aead:
        yield "encrypt", aead.encrypt(vector.plaintext, vector.iv, vector.aad), sealed
        yield "decrypt", aead.decrypt(sealed, vector.iv, vector.aad), vector.plaintext


def _check_parity(vector: CipherVector | AeadVector) -> None:
    """The cipher ignores parity bits; checked here, no bit of a vector can change unnoticed."""
    if "des" in vector.algorithm:
        for index, value in enumerate(vector.key):
            if value.bit_count() % 2 == 0:
                raise ValueError(f"key: byte {index} has even parity, so the vector is damaged")
