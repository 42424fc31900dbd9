"""What the tests of the AES modes share: the implementations, and an oracle that is not ours."""

from __future__ import annotations

import random
from dataclasses import dataclass

from cryptography.hazmat.primitives.ciphers import (
    Cipher as OracleCipher,
    algorithms as oracle_algorithms,
    modes as oracle_modes,
)
from providers import FORMS

MODES = ("ecb", "cbc", "ctr", "rfc3686")


@dataclass(frozen=True)
class Provider:
    """One way of running the AES modes: software by name, the engine, or a side of the proxy."""

    name: str
    threshold: int | None = None

    def driver(self, mode: str) -> str:
        inner = f"ctr(aes-{self.name})" if mode == "rfc3686" else f"aes-{self.name}"
        driver = f"{mode}({inner})"
        return driver if self.threshold is None else f"fallback({driver})"


PROVIDERS = {
    **{name: Provider(name) for name, found in FORMS.items() if "cbc(aes)" in found},
    "eip93": Provider("eip93"),
    "proxy-hardware": Provider("eip93", 0),
    "proxy-software": Provider("eip93", -1),
}


def oracle(mode: str, key: bytes, iv: bytes, data: bytes, *, decrypt: bool = False) -> bytes:
    """The answer of libcrypto (package cryptography)."""
    if mode == "rfc3686":
        key, iv, mode = key[:-4], key[-4:] + iv + b"\0\0\0\1", "ctr"
    chosen = {
        "ecb": oracle_modes.ECB,
        "cbc": lambda: oracle_modes.CBC(iv),
        "ctr": lambda: oracle_modes.CTR(iv),
    }[mode]()
    cipher = OracleCipher(oracle_algorithms.AES(key), chosen)
    context = cipher.decryptor() if decrypt else cipher.encryptor()
    return context.update(data) + context.finalize()


def iv_size(mode: str) -> int:
    """Bytes of an IV of the mode."""
    return {"ecb": 0, "rfc3686": 8}.get(mode, 16)


def block_size(mode: str) -> int:
    """What lengths are multiples of."""
    return 16 if mode in ("ecb", "cbc") else 1


def material(mode: str, key_size: int, length: int, seed: int) -> tuple[bytes, bytes, bytes]:
    """Key, IV and text, reproducibly random. `key_size` is that of AES."""
    source = random.Random(f"{mode} {key_size} {length} {seed}")
    key = source.randbytes(key_size + (4 if mode == "rfc3686" else 0))
    return key, source.randbytes(iv_size(mode)), source.randbytes(length)
