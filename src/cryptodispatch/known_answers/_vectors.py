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
        return list(_parse(path.read_bytes(), path.name))
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
    try:
        document = tomllib.loads(text.decode("utf-8"))
        if not document:
            allowed = ", ".join(f"[[{kind}]]" for kind in _KINDS)
            raise ValueError(f"no rows: {allowed} are allowed")  # noqa: TRY301 - one message for all
        for kind, rows in document.items():
            for row in rows:
                vector = _vector(_KINDS[kind], row)
                if (vector.algorithm, vector.source) in seen:
                    raise ValueError(f"{vector.algorithm}, {vector.source}: it is there twice")  # noqa: TRY301
                seen.add((vector.algorithm, vector.source))
                yield vector
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"vectors: {name}: {type(error).__name__}: {error}") from error


def _vector(kind: type[Vector], row: Mapping[str, Any]) -> Vector:
    names = [field.name for field in fields(kind)]
    if sorted(row) != sorted(names):
        raise ValueError(f"a row has {', '.join(row)}; {', '.join(names)} are needed")
    if not (isinstance(row["algorithm"], str) and isinstance(row["source"], str)):
        raise TypeError("algorithm, source: text is needed")
    return kind(row["algorithm"], row["source"], *(bytes.fromhex(row[name]) for name in names[2:]))
