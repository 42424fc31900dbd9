"""How the peers encrypt and decrypt: one definition of each use.

*Documented* is what the peer's documentation shows, an object per message. *Reuse* is the cleverest
use we know: objects that are kept, buffers that are kept. PyNaCl has neither AES nor DES on its
own; its authenticated modes are other operations.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from Crypto.Cipher import AES, DES3
from cryptography.hazmat.decrepit.ciphers.algorithms import TripleDES
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes
from ways import Prepared, Way, plain


@dataclass(frozen=True)
class Spec:
    """A cipher in a direction.

    Attributes:
        mode: "ecb", "cbc" or "ctr".
        key, iv: as the cipher takes them; no IV for ecb.
        decrypt: the direction.
        des: triple DES instead of AES.
    """

    mode: str
    key: bytes
    iv: bytes = b""
    decrypt: bool = False
    des: bool = False

    @property
    def block(self) -> int:
        """What texts are multiples of."""
        return 1 if self.mode == "ctr" else 8 if self.des else 16

    def algorithm(self) -> Any:  # noqa: ANN401 - the two classes share no useful base
        """The key as `cryptography` takes it."""
        return TripleDES(self.key) if self.des else algorithms.AES(self.key)

    def pyca_mode(self, iv: bytes) -> modes.Mode:
        """The mode as `cryptography` takes it."""
        if self.mode == "ecb":
            return modes.ECB()
        return modes.CBC(iv) if self.mode == "cbc" else modes.CTR(iv)

    def pyca(self, iv: bytes, *, decrypt: bool) -> CipherContext:
        """A context of `cryptography`."""
        cipher: Cipher[Any] = Cipher(self.algorithm(), self.pyca_mode(iv))
        return cipher.decryptor() if decrypt else cipher.encryptor()

    def pycryptodome(self) -> Callable[[], Any]:
        """What makes an object of PyCryptodome."""
        module: Any = DES3 if self.des else AES
        mode = {"ecb": module.MODE_ECB, "cbc": module.MODE_CBC, "ctr": module.MODE_CTR}[self.mode]
        options: dict[str, dict[str, bytes]] = {
            "ecb": {},
            "cbc": {"iv": self.iv},
            "ctr": {"nonce": b"", "initial_value": self.iv},
        }
        return functools.partial(module.new, self.key, mode, **options[self.mode])

    def oracle(self, data: bytes, iv: bytes | None = None, *, back: bool = False) -> bytes:
        """The answer of libcrypto; `back`: in the other direction."""
        context = self.pyca(self.iv if iv is None else iv, decrypt=self.decrypt != back)
        return context.update(data) + context.finalize()


def documented(spec: Spec) -> dict[str, Way]:
    """An object per message."""
    algorithm, make_mode, iv = spec.algorithm(), type(spec.pyca_mode(spec.iv)), spec.iv
    arguments, decrypt, new = ((iv,) if iv else ()), spec.decrypt, spec.pycryptodome()

    def pyca(data: bytes) -> bytes:
        cipher: Cipher[Any] = Cipher(algorithm, make_mode(*arguments))
        context = cipher.decryptor() if decrypt else cipher.encryptor()
        return context.update(data) + context.finalize()

    def pycryptodome(data: bytes) -> bytes:
        return new().decrypt(data) if decrypt else new().encrypt(data)  # type: ignore[no-any-return]

    return {"cryptography": plain(pyca), "PyCryptodome": plain(pycryptodome)}


def reuse(spec: Spec) -> dict[str, Way]:
    """Objects and buffers that are kept."""
    return {"ecb": _ecb, "cbc": _cbc, "ctr": _ctr}[spec.mode](spec)


def _method(spec: Spec) -> Callable[..., bytes]:
    kept = spec.pycryptodome()()
    return kept.decrypt if spec.decrypt else kept.encrypt  # type: ignore[no-any-return]


def _ecb(spec: Spec) -> dict[str, Way]:
    update, update_into = (
        getattr(spec.pyca(b"", decrypt=spec.decrypt), name) for name in ("update", "update_into")
    )
    slack = spec.block - 1  # update_into wants it

    def pyca_into(data: bytes) -> Prepared:
        out = bytearray(len(data) + slack)
        return Prepared(update_into, (data, out), lambda _: bytes(out[: len(data)]))

    def pycryptodome_into(data: bytes) -> Prepared:
        out = bytearray(len(data))
        call = functools.partial(_method(spec), output=out)
        return Prepared(call, (data,), lambda _: bytes(out))

    return {
        "cryptography kept": plain(update),
        "cryptography kept into": pyca_into,
        "PyCryptodome kept": plain(_method(spec)),
        "PyCryptodome kept output": pycryptodome_into,
    }


def endless(spec: Spec) -> Callable[[bytes], bytes]:
    """One CBC context for ever, fed IV and text.

    Encrypting, the first block that comes out is the message's IV (`under_own_iv`). Decrypting, it
    is dropped.
    """
    update, iv, block = spec.pyca(spec.iv, decrypt=spec.decrypt).update, spec.iv, spec.block
    if spec.decrypt:
        return lambda data: update(iv + data)[block:]
    return lambda data: update(iv + data)


def under_own_iv(spec: Spec, value: bytes) -> bytes:
    """What the IV and ciphertext of an endless encryptor are under the IV of the oracle."""
    text = spec.oracle(value[spec.block :], value[: spec.block], back=True)
    return spec.oracle(text)


def _cbc(spec: Spec) -> dict[str, Way]:
    block, iv = spec.block, spec.iv

    def read(value: bytes) -> bytes:
        return value[block:] if spec.decrypt else under_own_iv(spec, value)

    def allocating(function: Callable[[bytes], bytes]) -> Way:
        return lambda data: Prepared(function, (data,), bytes if spec.decrypt else read)

    def writing(bind: Callable[[bytearray], Callable[[bytes], object]], slack: int) -> Way:
        def way(data: bytes) -> Prepared:
            out = bytearray(block + len(data) + slack)
            return Prepared(bind(out), (data,), lambda _: read(bytes(out[: block + len(data)])))

        return way

    method, other_method = _method(spec), _method(spec)
    update_into = spec.pyca(iv, decrypt=spec.decrypt).update_into
    if spec.decrypt:
        pycryptodome = allocating(lambda data: method(iv + data)[block:])
    else:
        pycryptodome = allocating(lambda data: method(iv + data))
    return {
        "cryptography endless": allocating(endless(spec)),
        "cryptography endless into": writing(
            lambda out: lambda data: update_into(iv + data, out), block - 1
        ),
        "PyCryptodome endless": pycryptodome,
        "PyCryptodome endless output": writing(
            lambda out: lambda data: other_method(iv + data, output=out), 0
        ),
    }


def _ctr(spec: Spec) -> dict[str, Way]:
    context, iv = spec.pyca(spec.iv, decrypt=spec.decrypt), spec.iv
    reset, update, update_into = context.reset_nonce, context.update, context.update_into

    def allocating(data: bytes) -> bytes:
        reset(iv)
        return update(data)

    def writing(data: bytes) -> Prepared:
        out = bytearray(len(data))

        def call(text: bytes) -> None:
            reset(iv)
            update_into(text, out)

        return Prepared(call, (data,), lambda _: bytes(out))

    return {
        "cryptography reset_nonce": plain(allocating),
        "cryptography reset_nonce into": writing,
        "PyCryptodome one stream": _one_stream(spec),
    }


def _one_stream(spec: Spec) -> Way:
    """A CTR object that is kept: its counter goes on, so that every message has one of its own."""
    kept = spec.pycryptodome()()
    initial = int.from_bytes(spec.iv, "big")
    raw = Spec("ecb", spec.key, decrypt=True)

    def position() -> int:
        """How many bytes the object has done."""
        # 16 of the next 31 bytes are a counter encrypted whole, and only those decrypt to one that
        # is near the initial counter.
        stream = kept.encrypt(bytes(31))
        distances = (
            (int.from_bytes(raw.oracle(stream[skip : skip + 16]), "big") - initial) % 2**128 * 16
            - skip
            for skip in range(16)
        )
        return next(distance for distance in distances if 0 <= distance < 2**64)

    def way(data: bytes) -> Prepared:
        def outcome(value: bytes) -> bytes:
            start = position() - len(data)
            counter = (initial + start // 16) % 2**128
            text = bytes(start % 16) + value
            plain_text = spec.oracle(text, counter.to_bytes(16, "big"))[start % 16 :]
            return spec.oracle(plain_text)

        return Prepared(kept.encrypt, (data,), outcome)

    return way
