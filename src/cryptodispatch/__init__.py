"""Every symmetric-crypto request on whichever implementation is measured to be faster for its size.

    import cryptodispatch as cd

    c = cd.Cipher("cbc(aes)", key)
    c.encrypt(data, iv)

Submodules: ``benchmark`` (measuring, choosing among software), ``eip93`` (the emulated engine and
its driver), ``machine`` (profiles of simulated machines), ``prediction`` (from a published table of
an engine to the size from which it pays); ``cli`` is the command, ``examples`` has a program.
"""

from __future__ import annotations

from importlib import import_module

from cryptodispatch import _engine
from cryptodispatch._engine import (
    Aead,
    Cipher,
    CipherStream,
    Hash,
    HashStream,
    Request,
    gil_release_size,
    set_gil_release_size,
    set_priority,
)
from cryptodispatch._errors import (
    AuthenticationError,
    BatchError,
    CryptoDispatchError,
    DeviceError,
    DeviceTimeoutError,
    InvalidKeyError,
    UnknownAlgorithmError,
)
from cryptodispatch.software._cache import apply_cached

TYPE_CHECKING = False  # typing's own takes a third of this import's time
if TYPE_CHECKING:
    from cryptodispatch import benchmark
    from cryptodispatch._algorithms import Algorithm, algorithms
    from cryptodispatch._fallback import Fallback, FallbackGroup, Group, Measurement, Progress
    from cryptodispatch._paths import get_include, get_library_dir

__all__ = [
    "Aead",
    "Algorithm",
    "AuthenticationError",
    "BatchError",
    "Cipher",
    "CipherStream",
    "CryptoDispatchError",
    "DeviceError",
    "DeviceTimeoutError",
    "Fallback",
    "FallbackGroup",
    "Group",
    "Hash",
    "HashStream",
    "InvalidKeyError",
    "Measurement",
    "Progress",
    "Request",
    "UnknownAlgorithmError",
    "algorithms",
    "benchmark",
    "get_include",
    "get_library_dir",
    "gil_release_size",
    "set_gil_release_size",
    "set_priority",
]

__version__ = "0.1.0"

_engine.on_first_lookup(apply_cached)

# Imported when they are asked for: dataclasses and pathlib take longer than all the rest.
_LATER = {
    "Algorithm": "_algorithms",
    "algorithms": "_algorithms",
    "Fallback": "_fallback",
    "FallbackGroup": "_fallback",
    "Group": "_fallback",
    "Measurement": "_fallback",
    "Progress": "_fallback",
    "get_include": "_paths",
    "get_library_dir": "_paths",
}

if not TYPE_CHECKING:  # or any name would do

    def __getattr__(name: str) -> object:
        """Import a name of `_LATER`, or the submodule benchmark."""
        if name == "benchmark":
            return import_module("cryptodispatch.benchmark")
        if name not in _LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"cryptodispatch.{_LATER[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """Name what is there, and what would be imported."""
    return sorted({*globals(), *__all__})
