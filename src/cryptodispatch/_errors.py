"""The exceptions of cryptodispatch.

``CryptoDispatchError`` is the base. Wrong arguments are plain ``TypeError`` or ``ValueError`` and
name the argument, what it was and what is allowed.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "AuthenticationError",
    "BatchError",
    "CryptoDispatchError",
    "DeviceError",
    "DeviceTimeoutError",
    "InvalidKeyError",
    "UnknownAlgorithmError",
]


class CryptoDispatchError(Exception):
    """Base of the errors that are not about an argument's type or value."""


class BatchError(CryptoDispatchError, ValueError):
    """Some records of a batch failed; the others are done.

    Attributes:
        errors: the exception of each failed record, by index.
        results: what the other records gave, None at failed indices; empty for packed batches,
            whose results are in the caller's buffer.
    """

    def __init__(
        self, message: str, errors: dict[int, Exception], results: list[bytes | None]
    ) -> None:
        """Keep both."""
        super().__init__(message)
        self.errors = errors
        self.results = results


class UnknownAlgorithmError(CryptoDispatchError, LookupError):
    """No implementation of that name, or none that this CPU can run."""


class InvalidKeyError(CryptoDispatchError, ValueError):
    """The key has a length the algorithm does not take, or no key is set."""


class AuthenticationError(CryptoDispatchError):
    """The tag does not match; nothing was released."""


class DeviceError(CryptoDispatchError):
    """The engine failed, answered with an error, or is closed."""


class DeviceTimeoutError(DeviceError):
    """The engine did not answer within the bound."""


def unknown_algorithm(name: str, known: Iterable[str]) -> UnknownAlgorithmError:
    """Make the error for a name nobody registered, with names that are near it."""
    near = difflib.get_close_matches(name, sorted(set(known)), n=3, cutoff=0.5)
    hint = (
        f"did you mean {' or '.join(map(repr, near))}?"
        if near
        else "cryptodispatch.algorithms() lists what is"
    )
    return UnknownAlgorithmError(f"algorithm: {name!r} is not registered; {hint}")
