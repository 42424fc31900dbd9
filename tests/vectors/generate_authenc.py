"""Make known answers of authenc: no document publishes any for most of the sixteen names.

    python tests/vectors/generate_authenc.py > src/cryptodispatch/known_answers/authenc.toml

Encrypt-then-MAC as in the kernel's authenc: the tag is the start of the HMAC over AAD and
ciphertext; the IV is not covered. Ciphers are libcrypto's (package cryptography), HMACs are of
Python's own hashlib and hmac, and both are checked against PyCryptodome before a row is written.
Inputs are SHAKE-128 of the row's label, so that the output is the same everywhere and for ever.
"""

from __future__ import annotations

import hashlib
import hmac
import sys
from collections.abc import Iterator
from itertools import product

from Crypto.Cipher import AES, DES, DES3
from Crypto.Hash import HMAC, MD5, SHA1, SHA224, SHA256
from Crypto.Util import Counter
from cryptography.hazmat.decrepit.ciphers.algorithms import TripleDES
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

HASHES = {"md5": MD5, "sha1": SHA1, "sha224": SHA224, "sha256": SHA256}
# Key sizes without nonce, IV size, block size.
CIPHERS = {
    "cbc(aes)": ((16, 24, 32), 16, 16),
    "rfc3686(ctr(aes))": ((16, 24, 32), 8, 1),
    "cbc(des)": ((8,), 8, 8),
    "cbc(des3_ede)": ((24,), 8, 8),
}
# Text in blocks for cbc, in bytes for counter modes; AAD bytes; tag bytes (0: the whole digest). No
# text is so short that a wrong bit of key or IV could leave it as it is.
SHAPES = (
    (1, 17, 0, 0),
    (2, 20, 8, 12),
    (15, 31, 12, 0),
    (16, 64, 13, 11),
    (33, 100, 20, 12),
    (67, 255, 64, 16),
)


def material(label: str, size: int) -> bytes:
    """`size` bytes that belong to the label."""
    return hashlib.shake_128(label.encode()).digest(size)


def odd_parity(key: bytes) -> bytes:
    """The same DES key with the parity that the standard asks for."""
    return bytes(byte ^ 1 ^ (byte.bit_count() & 1) for byte in key)


def encrypt(name: str, key: bytes, iv: bytes, text: bytes) -> bytes:
    """The cipher by libcrypto; for rfc3686 the nonce is at the end of the key (RFC 3686, 5.1)."""
    if name == "rfc3686(ctr(aes))":
        algorithm, mode = algorithms.AES(key[:-4]), modes.CTR(key[-4:] + iv + b"\0\0\0\1")
    elif name == "cbc(aes)":
        algorithm, mode = algorithms.AES(key), modes.CBC(iv)
    else:
        algorithm, mode = TripleDES(key * (24 // len(key))), modes.CBC(iv)
    context = Cipher(algorithm, mode).encryptor()
    return context.update(text) + context.finalize()


def encrypt_again(name: str, key: bytes, iv: bytes, text: bytes) -> bytes:
    """The same by PyCryptodome."""
    if name == "rfc3686(ctr(aes))":
        counter = Counter.new(32, prefix=key[-4:] + iv, initial_value=1)
        return AES.new(key[:-4], AES.MODE_CTR, counter=counter).encrypt(text)
    if name == "cbc(aes)":
        return AES.new(key, AES.MODE_CBC, iv).encrypt(text)
    kind = DES if len(key) == 8 else DES3
    return kind.new(key, kind.MODE_CBC, iv).encrypt(text)


def row(digest: str, cipher: str, key_size: int, shape: tuple[int, int, int, int]) -> Iterator[str]:
    """Yield the lines of one vector."""
    _, iv_size, block = CIPHERS[cipher]
    blocks, counter_size, aad_size, tag_size = shape
    size = counter_size if block == 1 else blocks * block
    source = (
        f"generate_authenc.py, {digest}, {cipher}, key {key_size}, text {size}, "
        f"AAD {aad_size}, tag {tag_size or HASHES[digest].digest_size}"
    )
    key = material(source + ", key", key_size + (4 if cipher.startswith("rfc3686") else 0))
    if "des" in cipher:
        key = odd_parity(key)
    auth_key = material(source + ", auth_key", HASHES[digest].digest_size)
    iv = material(source + ", iv", iv_size)
    aad = material(source + ", aad", aad_size)
    text = material(source + ", plaintext", size)
    ciphertext = encrypt(cipher, key, iv, text)
    tag = hmac.new(auth_key, aad + ciphertext, digest).digest()
    if ciphertext != encrypt_again(cipher, key, iv, text):
        raise SystemExit(f"{source}: the libraries disagree about the cipher")
    if tag != HMAC.new(auth_key, aad + ciphertext, HASHES[digest]).digest():
        raise SystemExit(f"{source}: the libraries disagree about the hmac")
    yield "[[aead]]"
    yield f'algorithm = "authenc(hmac({digest}),{cipher})"'
    yield f'source = "{source}"'
    for name, value in (
        ("key", key),
        ("auth_key", auth_key),
        ("iv", iv),
        ("aad", aad),
        ("plaintext", text),
        ("ciphertext", ciphertext),
        ("tag", tag[: tag_size or None]),
    ):
        yield f'{name} = "{value.hex()}"'


def lines() -> Iterator[str]:
    """Yield the whole file."""
    yield "# Known answers of authenc, made by tests/vectors/generate_authenc.py: ciphers by"
    yield "# libcrypto, HMACs by hashlib and hmac, both checked against PyCryptodome."
    for digest, cipher in product(HASHES, CIPHERS):
        key_sizes = CIPHERS[cipher][0]
        for index, shape in enumerate(SHAPES):
            yield ""
            yield from row(digest, cipher, key_sizes[index % len(key_sizes)], shape)


if __name__ == "__main__":
    sys.stdout.write("\n".join(lines()) + "\n")
