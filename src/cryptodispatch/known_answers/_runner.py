"""Loading vectors and running them on every registered implementation."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from cryptodispatch._algorithms import Algorithm
from cryptodispatch._engine import Cipher
from cryptodispatch._errors import CryptoDispatchError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["Failure", "Report", "Vector", "load", "run"]


@dataclass(frozen=True, slots=True)
class Vector:
    """One known answer.

    Attributes:
        algorithm: algorithm name.
        source: document and section.
        key, iv, plaintext, ciphertext: bytes.
    """

    algorithm: str
    source: str
    key: bytes
    iv: bytes
    plaintext: bytes
    ciphertext: bytes


@dataclass(frozen=True, slots=True)
class Failure:
    """A vector that did not come out: which one, on which side, and what was wrong."""

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


def load(path: Path | None = None) -> list[Vector]:
    """Load the vectors of a TOML file, or all that come with the package.

    Raises:
        ValueError: the file is not of the form of the package's own.
        OSError: it cannot be read.
    """
    if path is not None:
        return list(_parse(path.read_text("utf-8"), path.name))
    files = resources.files("cryptodispatch.known_answers").iterdir()
    return [
        vector
        for file in sorted(files, key=lambda file: file.name)
        if file.name.endswith(".toml")
        for vector in _parse(file.read_text("utf-8"), file.name)
    ]


def _parse(text: str, name: str) -> Iterator[Vector]:
    try:
        rows = tomllib.loads(text)["cipher"]
        for row in rows:
            yield Vector(
                row["algorithm"],
                row["source"],
                *(bytes.fromhex(row[field]) for field in ("key", "iv", "plaintext", "ciphertext")),
            )
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"vectors: {name}: {type(error).__name__}: {error}") from error


def run(algorithm: Algorithm, vectors: Iterable[Vector], *, side: str = "") -> Report:
    """Run the vectors of an implementation's algorithm, both directions, and report.

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


def _check(driver: str, vector: Vector) -> Iterator[Failure]:
    for operation, given, expected in (
        ("encrypt", vector.plaintext, vector.ciphertext),
        ("decrypt", vector.ciphertext, vector.plaintext),
    ):
        try:
            with Cipher(driver, vector.key) as cipher:
                run_one = cipher.encrypt if operation == "encrypt" else cipher.decrypt
                result = run_one(given, vector.iv or None)
        except (CryptoDispatchError, ValueError, TypeError) as error:
            yield Failure(vector.source, operation, f"{type(error).__name__}: {error}")
            continue
        if result != expected:
            yield Failure(vector.source, operation, f"{result.hex()} is not {expected.hex()}")
