"""The three kinds of known answers, and reading them from TOML files."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from importlib import resources
from pathlib import Path
from typing import Any, TypeAlias

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["AeadVector", "CipherVector", "HashVector", "Vector", "load"]


@dataclass(frozen=True, slots=True)
class CipherVector:
    """One known answer of a cipher.

    Attributes:
        algorithm: algorithm name.
        source: document and section.
        key, iv, plaintext, ciphertext: bytes. Keys of DES have odd parity, which the runner checks:
            the cipher itself ignores those bits, and a damaged vector must not pass.
    """

    algorithm: str
    source: str
    key: bytes
    iv: bytes
    plaintext: bytes
    ciphertext: bytes


@dataclass(frozen=True, slots=True)
class HashVector:
    """One known answer of a hash or, with a key, of an HMAC.

    Attributes:
        algorithm: algorithm name.
        source: document and section.
        key: bytes; of an HMAC only.
        message: bytes.
        digest: bytes; the first ones of a digest that the document shows truncated.
    """

    algorithm: str
    source: str
    key: bytes
    message: bytes
    digest: bytes


@dataclass(frozen=True, slots=True)
class AeadVector:
    """One known answer of an authenc.

    Attributes:
        algorithm: algorithm name.
        source: document and section, or generator and row.
        key, auth_key, iv, aad, plaintext, ciphertext: bytes; DES keys as in ``CipherVector``.
        tag: bytes; its length is the tag size.
    """

    algorithm: str
    source: str
    key: bytes
    auth_key: bytes
    iv: bytes
    aad: bytes
    plaintext: bytes
    ciphertext: bytes
    tag: bytes


Vector: TypeAlias = CipherVector | HashVector | AeadVector

_KINDS: Mapping[str, type[CipherVector | HashVector | AeadVector]] = {
    "cipher": CipherVector,
    "hash": HashVector,
    "aead": AeadVector,
}


def load(path: Path | None = None) -> list[Vector]:
    """Load the vectors of a TOML file, or all that come with the package.

    Raises:
        ValueError: the file is not of the form of the package's own.
        OSError: it cannot be read.
    """
    if path is not None:
        return list(_parse(path.read_bytes(), str(path)))
    files = resources.files("cryptodispatch.known_answers").iterdir()
    return [
        vector
        for file in sorted(files, key=lambda file: file.name)
        if file.name.endswith(".toml")
        for vector in _parse(file.read_bytes(), file.name)
    ]


def _parse(text: bytes, name: str) -> Iterator[Vector]:
    """Every row becomes a vector or an error: none may be left out unnoticed."""
    seen: set[tuple[str, str]] = set()
    allowed = ", ".join(f"[[{kind}]]" for kind in _KINDS)
    try:
        document = tomllib.loads(text.decode("utf-8"))
    except ValueError as error:
        raise ValueError(f"vectors: {name}: not TOML: {error}") from error
    if not any(document.values()):
        raise ValueError(f"vectors: {name}: no rows: {allowed} are allowed")
    for kind, rows in document.items():
        if kind not in _KINDS or not isinstance(rows, list):
            raise ValueError(f"vectors: {name}: {kind}: {allowed} are allowed")
        for index, row in enumerate(rows, start=1):
            try:
                vector = _vector(_KINDS[kind], row)
                if (vector.algorithm, vector.source) in seen:
                    raise ValueError(f"{vector.algorithm}, {vector.source}: it is there twice")  # noqa: TRY301
            except (TypeError, ValueError) as error:
                raise ValueError(f"vectors: {name}: {kind} {index}: {error}") from error
            seen.add((vector.algorithm, vector.source))
            yield vector


def _vector(kind: type[Vector], row: Mapping[str, Any]) -> Vector:
    names = [field.name for field in fields(kind)]
    if not isinstance(row, dict):
        raise TypeError(f"{row!r} was given, a table with {', '.join(names)} is needed")
    if sorted(row) != sorted(names):
        raise ValueError(f"a row has {', '.join(row)}; {', '.join(names)} are needed")
    if not (isinstance(row["algorithm"], str) and isinstance(row["source"], str)):
        raise TypeError("algorithm, source: text is needed")
    return kind(row["algorithm"], row["source"], *(_bytes(name, row[name]) for name in names[2:]))


def _bytes(name: str, value: object) -> bytes:
    if not isinstance(value, str):
        raise TypeError(f"{name}: {value!r} was given, hexadecimal text is needed")
    try:
        return bytes.fromhex(value)
    except ValueError as error:
        raise ValueError(f"{name}: {value!r} is no hexadecimal text: {error}") from error
