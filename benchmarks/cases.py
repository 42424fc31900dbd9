"""What is measured: one operation, ours and the peers' ways of doing it.

A case makes callables that take the text and return the result; keys are kept outside, every call
uses a fresh IV where the mode has one. ``documented`` is the peer used as its documentation says,
``reuse`` its cleverest use. Results are checked after timing.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from Crypto.Cipher import AES
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

import cryptodispatch as cd

KEY = bytes(range(16))
IV = bytes(range(16, 32))

Run = Callable[[bytes], bytes]


@dataclass(frozen=True)
class Case:
    """One operation.

    Attributes:
        name: as in the tables.
        ours: our call.
        limit: name of the yardstick's function; empty: there is none.
        documented, reuse: peers by name.
        check: turns a text into the expected result.
    """

    name: str
    ours: Run
    limit: str
    documented: dict[str, Run]
    reuse: dict[str, Run]
    check: Run


def _pyca(mode: Callable[[], modes.Mode], *, decrypt: bool = False) -> Run:
    algorithm = algorithms.AES(KEY)

    def run(data: bytes) -> bytes:
        cipher: Cipher[Any] = Cipher(algorithm, mode())
        context = cipher.decryptor() if decrypt else cipher.encryptor()
        return context.update(data) + context.finalize()

    return run


def _cbc_endless() -> Run:
    """One encryptor for ever, fed IV and text: the first block of output is the message's IV."""
    update = Cipher(algorithms.AES(KEY), modes.CBC(bytes(16))).encryptor().update
    return lambda data: update(IV + data)


def _ctr_reset() -> Run:
    context = Cipher(algorithms.AES(KEY), modes.CTR(IV)).encryptor()
    reset, update = context.reset_nonce, context.update

    def run(data: bytes) -> bytes:
        reset(IV)
        return update(data)

    return run


def _cbc_decrypt_endless() -> Run:
    """One decryptor for ever, fed IV and ciphertext: the first block of output is dropped."""
    update = Cipher(algorithms.AES(KEY), modes.CBC(bytes(16))).decryptor().update
    return lambda data: update(IV + data)[16:]


def _ecb_endless() -> Run:
    return Cipher(algorithms.AES(KEY), modes.ECB()).encryptor().update


def _copy(base: object) -> Run:
    copy = base.copy  # type: ignore[attr-defined]

    def run(data: bytes) -> bytes:
        context = copy()
        context.update(data)
        return bytes(context.digest())

    return run


def _hash(name: str) -> Case:
    new = getattr(hashlib, name)
    ours = cd.Hash(name)
    return Case(
        name.upper().replace("SHA", "SHA-"),
        ours.digest,
        name,
        {"hashlib": lambda data: new(data).digest()},
        {"hashlib .copy()": _copy(new())},
        lambda data: new(data).digest(),
    )


def _hmac(name: str) -> Case:
    ours = cd.Hash(f"hmac({name})", KEY)
    return Case(
        f"HMAC-{name.upper().replace('SHA', 'SHA-')}",
        ours.digest,
        f"hmac_{name}",
        {"hmac": lambda data: hmac.new(KEY, data, name).digest()},
        {
            "hmac .copy()": _copy(hmac.new(KEY, digestmod=name)),
            "hmac.digest": lambda data: hmac.digest(KEY, data, name),
        },
        lambda data: hmac.digest(KEY, data, name),
    )


def _authenc(name: str) -> Case:
    aead = cd.Aead(f"authenc(hmac({name}),cbc(aes))", KEY, auth_key=KEY)
    plain, endless = _pyca(lambda: modes.CBC(IV)), _cbc_endless()
    mac = _copy(hmac.new(KEY, digestmod=name))

    def documented(data: bytes) -> bytes:
        text = plain(data)
        return text + hmac.new(KEY, text, name).digest()

    def reuse(data: bytes) -> bytes:
        text = endless(data)
        return text + mac(text)

    def check(data: bytes) -> bytes:
        text = plain(data)
        return text + hmac.digest(KEY, text, name)

    return Case(
        f"CBC + HMAC-{name.upper().replace('SHA', 'SHA-')}",
        lambda data: aead.encrypt(data, IV),
        "",
        {"cryptography + hmac": documented},
        {"endless + .copy()": reuse},
        check,
    )


def cases() -> list[Case]:
    """Make every case anew."""
    cbc, ctr, ecb = (cd.Cipher(f"{mode}(aes)", KEY) for mode in ("cbc", "ctr", "ecb"))
    check_cbc = _pyca(lambda: modes.CBC(IV))
    return [
        Case(
            "AES-128-CBC encrypt",
            lambda data: cbc.encrypt(data, IV),
            "cbc_encrypt",
            {
                "cryptography": _pyca(lambda: modes.CBC(IV)),
                "PyCryptodome": lambda data: AES.new(KEY, AES.MODE_CBC, iv=IV).encrypt(data),
            },
            {"endless CBC": _cbc_endless()},
            check_cbc,
        ),
        Case(
            "AES-128-CBC decrypt",
            lambda data: cbc.decrypt(data, IV),
            "cbc_decrypt",
            {
                "cryptography": _pyca(lambda: modes.CBC(IV), decrypt=True),
                "PyCryptodome": lambda data: AES.new(KEY, AES.MODE_CBC, iv=IV).decrypt(data),
            },
            {"endless CBC": _cbc_decrypt_endless()},
            _pyca(lambda: modes.CBC(IV), decrypt=True),
        ),
        Case(
            "AES-128-CTR",
            lambda data: ctr.encrypt(data, IV),
            "ctr",
            {
                "cryptography": _pyca(lambda: modes.CTR(IV)),
                "PyCryptodome": lambda data: AES.new(
                    KEY, AES.MODE_CTR, nonce=b"", initial_value=IV
                ).encrypt(data),
            },
            {"reset_nonce": _ctr_reset()},
            _pyca(lambda: modes.CTR(IV)),
        ),
        Case(
            "AES-128-ECB",
            ecb.encrypt,
            "ecb_encrypt",
            {
                "cryptography": _pyca(modes.ECB),
                "PyCryptodome": lambda data: AES.new(KEY, AES.MODE_ECB).encrypt(data),
            },
            {"kept encryptor": _ecb_endless()},
            _pyca(modes.ECB),
        ),
        *(_hash(name) for name in ("sha256", "sha1", "md5")),
        *(_hmac(name) for name in ("sha256", "sha1")),
        *(_authenc(name) for name in ("sha1", "sha256")),
    ]
