"""The exceptions of cryptodispatch.

``CryptoDispatchError`` is the base. Wrong arguments are plain ``TypeError`` or ``ValueError`` and
name the argument, what it was and what is allowed; those about keys and batches are both.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing is not light
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

_LONGEST = 96  # CD_NAME_MAX


class CryptoDispatchError(Exception):
    """Base of the errors of this package's own.

    Other wrong arguments are plain ``TypeError`` or ``ValueError``.
    """


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

    def __reduce__(
        self,
    ) -> tuple[
        type[BatchError], tuple[object, dict[int, Exception], list[bytes | None]], dict[str, object]
    ]:
        """Pickle all three arguments: worker processes hand their errors back that way."""
        return type(self), (self.args[0], self.errors, self.results), self.__dict__


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


# Tracebacks and pickles name them as users do.
for _error in (
    CryptoDispatchError,
    BatchError,
    UnknownAlgorithmError,
    InvalidKeyError,
    AuthenticationError,
    DeviceError,
    DeviceTimeoutError,
):
    _error.__module__ = "cryptodispatch"


def shown(name: str) -> str:
    """Quote a name that somebody gave, cut where no name is that long."""
    return repr(name) if len(name) < _LONGEST else f"{name[:32]!r}... ({len(name)} characters)"


def unknown_algorithm(
    name: str, known: Iterable[str], argument: str = "algorithm"
) -> UnknownAlgorithmError:
    """Make the error for a name nobody registered, with names that are near it."""
    hint = _hint(name, sorted(set(known)))
    return UnknownAlgorithmError(f"{argument}: {shown(name)} is not registered; {hint}")


def _hint(name: str, known: list[str]) -> str:
    if "-eip93" in name and not any("-eip93" in other for other in known):
        return "an engine registers it while it is open: cryptodispatch.eip93.Device.emulated()"
    if name.startswith("fallback(") and not any(other.startswith("fallback(") for other in known):
        return "a cryptodispatch.Fallback registers it while it is enabled"
    from difflib import get_close_matches  # noqa: PLC0415 - not light, and errors are rare

    near = get_close_matches(name.lower(), known, n=3, cutoff=0.5) if len(name) < _LONGEST else ()
    if near:
        return f"did you mean {' or '.join(map(repr, near))}?"
    return "cryptodispatch.algorithms() lists what is"
