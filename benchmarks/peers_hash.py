"""How the peers hash, authenticate and seal: one definition of each use; see peers.py.

PyNaCl has SHA-256 of these; its bindings have no SHA-1, MD5 or HMAC. No peer has encrypt-then-MAC
of CBC and HMAC as one call: a user makes it of two.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from typing import Any

from Crypto.Hash import HMAC, MD5, SHA1, SHA256
from cryptography.hazmat.primitives import hashes, hmac as pyca_hmac
from nacl.bindings import crypto_hash_sha256
from nacl.encoding import RawEncoder
from nacl.hash import sha256 as nacl_sha256
from peers import Spec, documented, endless, under_own_iv
from ways import Prepared, Way, plain

Digest = Callable[[bytes], bytes]

_PYCA: dict[str, Callable[[], hashes.HashAlgorithm]] = {
    "sha256": hashes.SHA256,
    "sha1": hashes.SHA1,
    "md5": hashes.MD5,
}
_PYCRYPTODOME: dict[str, Any] = {"sha256": SHA256, "sha1": SHA1, "md5": MD5}


def copied(base: Any, end: str = "digest") -> Digest:  # noqa: ANN401 - whatever has copy()
    """A prepared object that is copied for every message."""
    copy = base.copy
    if end == "digest":

        def digest(data: bytes) -> bytes:
            context = copy()
            context.update(data)
            return context.digest()  # type: ignore[no-any-return]

        return digest

    def finalize(data: bytes) -> bytes:
        context = copy()
        context.update(data)
        return context.finalize()  # type: ignore[no-any-return]

    return finalize


def hash_documented(name: str) -> dict[str, Way]:
    """An object per message."""
    new, module, pyca_algorithm = getattr(hashlib, name), _PYCRYPTODOME[name], _PYCA[name]()

    def pyca(data: bytes) -> bytes:
        context = hashes.Hash(pyca_algorithm)
        context.update(data)
        return context.finalize()

    ways = {
        "hashlib": plain(lambda data: new(data).digest()),
        "cryptography": plain(pyca),
        "PyCryptodome": plain(lambda data: module.new(data).digest()),
    }
    if name == "sha256":
        ways["PyNaCl"] = plain(lambda data: nacl_sha256(data, RawEncoder))
    return ways


def hash_reuse(name: str) -> dict[str, Way]:
    """Copies of an empty object; PyNaCl's binding without its wrapper."""
    ways = {
        "hashlib copy": plain(copied(getattr(hashlib, name)())),
        "cryptography copy": plain(copied(hashes.Hash(_PYCA[name]()), "finalize")),
        "PyCryptodome copy": plain(copied(_PYCRYPTODOME[name].new())),
    }
    if name == "sha256":
        ways["PyNaCl binding"] = plain(crypto_hash_sha256)
    return ways


def hmac_documented(name: str, key: bytes) -> dict[str, Way]:
    """An object per message."""
    module, pyca_algorithm = _PYCRYPTODOME[name], _PYCA[name]()

    def pyca(data: bytes) -> bytes:
        context = pyca_hmac.HMAC(key, pyca_algorithm)
        context.update(data)
        return context.finalize()

    return {
        "hmac": plain(lambda data: hmac.new(key, data, name).digest()),
        "cryptography": plain(pyca),
        "PyCryptodome": plain(lambda data: HMAC.new(key, data, module).digest()),
    }


def hmac_reuse(name: str, key: bytes) -> dict[str, Way]:
    """Copies of a keyed object, and the one call of the standard library."""
    return {
        "hmac copy": plain(copied(hmac.new(key, digestmod=name))),
        "hmac.digest": plain(lambda data: hmac.digest(key, data, name)),
        "cryptography copy": plain(copied(pyca_hmac.HMAC(key, _PYCA[name]()), "finalize")),
        "PyCryptodome copy": plain(copied(HMAC.new(key, digestmod=_PYCRYPTODOME[name]))),
    }


# Encrypt-then-MAC


def seal(spec: Spec, name: str, key: bytes, data: bytes) -> bytes:
    """The oracle's ciphertext and tag, whatever the direction of `spec`."""
    text = spec.oracle(data, back=spec.decrypt)
    return text + hmac.digest(key, text, name)


def unseal(spec: Spec, name: str, key: bytes, sealed: bytes) -> bytes:
    """The oracle's text; ValueError if the tag is another one."""
    size = hashlib.new(name).digest_size
    text, tag = sealed[:-size], sealed[-size:]
    if not hmac.compare_digest(hmac.digest(key, text, name), tag):
        raise ValueError("the tag does not match")
    return spec.oracle(text, back=not spec.decrypt)


def _both(spec: Spec, cipher: Digest, mac: Digest, size: int) -> Digest:
    """A cipher and a MAC one after the other, with the tag at the end."""
    if not spec.decrypt:

        def run(data: bytes) -> bytes:
            text = cipher(data)
            return text + mac(text)

        return run

    equal = hmac.compare_digest

    def back(sealed: bytes) -> bytes:
        text = sealed[:-size]
        if not equal(mac(text), sealed[-size:]):
            raise ValueError("the tag does not match")
        return cipher(text)

    return back


def authenc_documented(spec: Spec, name: str, key: bytes) -> dict[str, Way]:
    """An object of each kind per message."""
    size = hashlib.new(name).digest_size
    ciphers = {peer: way(b"").function for peer, way in documented(spec).items()}
    macs = {peer: way(b"").function for peer, way in hmac_documented(name, key).items()}
    return {
        label: plain(_both(spec, ciphers[cipher], macs[mac], size))
        for label, cipher, mac in (
            ("cryptography + hmac", "cryptography", "hmac"),
            ("cryptography", "cryptography", "cryptography"),
            ("PyCryptodome", "PyCryptodome", "PyCryptodome"),
        )
    }


def authenc_reuse(spec: Spec, name: str, key: bytes) -> dict[str, Way]:
    """One endless CBC context, and copies of a keyed HMAC."""
    size = hashlib.new(name).digest_size

    def outcome(value: bytes) -> bytes:
        text = value[:-size]
        if hmac.digest(key, text, name) != value[-size:]:
            raise ValueError("the tag does not match")
        own = under_own_iv(spec, text)
        return own + hmac.digest(key, own, name)

    def way(mac: Digest) -> Way:
        function = _both(spec, endless(spec), mac, size)
        return lambda data: Prepared(function, (data,), bytes if spec.decrypt else outcome)

    return {
        "endless + hmac copy": way(copied(hmac.new(key, digestmod=name))),
        "endless + cryptography copy": way(copied(pyca_hmac.HMAC(key, _PYCA[name]()), "finalize")),
    }
