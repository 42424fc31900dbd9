"""The EIP-93's group table (fallback-semantics of the kernel series, section 2), as data."""

from __future__ import annotations

from cryptodispatch._fallback import Group

__all__ = ["GROUPS"]

# Fixed and not secret: they only feed measurements.
_AES_KEY = bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c")
_RFC3686_NONCE = bytes.fromhex("00000001")

GROUPS: tuple[Group, ...] = (
    Group(
        name="raw_aes",
        algorithm="rfc3686(ctr(aes))",
        driver="rfc3686(ctr(aes-eip93))",
        key=_AES_KEY + _RFC3686_NONCE,
        members=(
            "ecb(aes-eip93)",
            "cbc(aes-eip93)",
            "ctr(aes-eip93)",
            "rfc3686(ctr(aes-eip93))",
        ),
    ),
)
