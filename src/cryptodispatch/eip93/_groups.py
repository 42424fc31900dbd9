"""The EIP-93's group table (fallback-semantics of the kernel series, section 2), as data."""

from __future__ import annotations

from cryptodispatch._fallback import Group

__all__ = ["GROUPS"]

# Fixed and not secret: they only feed measurements.
_AES_KEY = bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c")
_RFC3686_KEY = _AES_KEY + bytes.fromhex("00000001")
_DES_KEY = bytes.fromhex("0123456789abcdef")
_DES3_KEY = _DES_KEY + bytes.fromhex("23456789abcdef01") + bytes.fromhex("456789abcdef0123")
_AUTH_KEY = b"\x0b" * 16
_TAG_SIZE = 16  # MD5
_HASHES = ("md5", "sha1", "sha224", "sha256")


def _authenc(*ciphers: str) -> tuple[str, ...]:
    """Driver names of all four hmacs with each of the ciphers."""
    return tuple(f"authenc(hmac({name}-eip93),{cipher})" for cipher in ciphers for name in _HASHES)


def _hashes(*names: str) -> tuple[str, ...]:
    return tuple(f"{name}-eip93" for name in names) + tuple(f"hmac({name}-eip93)" for name in names)


GROUPS: tuple[Group, ...] = (
    Group(
        name="raw_aes",
        algorithm="rfc3686(ctr(aes))",
        driver="rfc3686(ctr(aes-eip93))",
        key=_RFC3686_KEY,
        members=(
            "ecb(aes-eip93)",
            "cbc(aes-eip93)",
            "ctr(aes-eip93)",
            "rfc3686(ctr(aes-eip93))",
        ),
    ),
    Group(
        name="raw_des",
        algorithm="ecb(des)",
        driver="ecb(des-eip93)",
        key=_DES_KEY,
        members=("ecb(des-eip93)", "cbc(des-eip93)"),
    ),
    Group(
        name="raw_3des",
        algorithm="cbc(des3_ede)",
        driver="cbc(des3_ede-eip93)",
        key=_DES3_KEY,
        members=("ecb(des3_ede-eip93)", "cbc(des3_ede-eip93)"),
    ),
    Group(
        name="hash_md5",
        type="hash",
        algorithm="hmac(md5)",
        driver="hmac(md5-eip93)",
        key=_AUTH_KEY,
        members=_hashes("md5"),
    ),
    Group(
        name="hash_sha1",
        type="hash",
        algorithm="hmac(sha1)",
        driver="hmac(sha1-eip93)",
        key=_AUTH_KEY,
        members=_hashes("sha1"),
    ),
    Group(
        name="hash_sha2",
        type="hash",
        algorithm="hmac(sha256)",
        driver="hmac(sha256-eip93)",
        key=_AUTH_KEY,
        members=_hashes("sha224", "sha256"),
    ),
    Group(
        name="authenc_aes",
        type="aead",
        algorithm="authenc(hmac(md5),rfc3686(ctr(aes)))",
        driver="authenc(hmac(md5-eip93),rfc3686(ctr(aes-eip93)))",
        key=_RFC3686_KEY,
        auth_key=_AUTH_KEY,
        tag_size=_TAG_SIZE,
        members=_authenc("cbc(aes-eip93)", "rfc3686(ctr(aes-eip93))"),
    ),
    Group(
        name="authenc_des",
        type="aead",
        algorithm="authenc(hmac(md5),cbc(des))",
        driver="authenc(hmac(md5-eip93),cbc(des-eip93))",
        key=_DES_KEY,
        auth_key=_AUTH_KEY,
        tag_size=_TAG_SIZE,
        members=_authenc("cbc(des-eip93)"),
    ),
    Group(
        name="authenc_3des",
        type="aead",
        algorithm="authenc(hmac(md5),cbc(des3_ede))",
        driver="authenc(hmac(md5-eip93),cbc(des3_ede-eip93))",
        key=_DES3_KEY,
        auth_key=_AUTH_KEY,
        tag_size=_TAG_SIZE,
        members=_authenc("cbc(des3_ede-eip93)"),
    ),
)
