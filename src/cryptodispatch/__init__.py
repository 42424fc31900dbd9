"""Every symmetric-crypto request on whichever implementation is measured to be faster for its size.

    import cryptodispatch as cd

    c = cd.Cipher("cbc(aes)", key)
    c.encrypt(data, iv)

Submodules: ``benchmark`` (measuring, choosing among software), ``eip93`` (the emulated engine and
its driver), ``machine`` (profiles of simulated machines), ``prediction`` (from a published table of
an engine to the size from which it pays); ``cli`` is the command, ``examples`` has a program.
"""

from __future__ import annotations

from cryptodispatch import benchmark
from cryptodispatch._algorithms import Algorithm, algorithms
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
