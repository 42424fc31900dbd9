"""RFC vectors of HMACs from an outside package, on every implementation."""

from __future__ import annotations

import pytest
from cavs import parse, read
from providers import Family

import cryptodispatch as cd

FILES = {
    "hmac(md5)": ("rfc-2202-md5.txt", 7),
    "hmac(sha1)": ("rfc-2202-sha1.txt", 7),
    # Without case 5, which is truncated; it is among the package's own known answers.
    "hmac(sha224)": ("rfc-4231-sha224.txt", 6),
    "hmac(sha256)": ("rfc-4231-sha256.txt", 6),
}


@pytest.mark.parametrize("name", FILES)
def test_published_messages(hashes: Family, name: str) -> None:
    if name not in hashes.names:
        pytest.skip(f"{hashes.provider}: the same {name} as the portable one")
    file, count = FILES[name]
    done = 0
    for _section, fields in parse(read("cryptography_vectors", "HMAC", file)):
        if "MD" not in fields:
            continue
        done += 1
        data = bytes.fromhex(fields["Msg"])[: int(fields["Len"]) // 8]
        assert len(data) == int(fields["Len"]) // 8
        ours = cd.Hash(hashes.driver(name), bytes.fromhex(fields["Key"]))
        assert ours.digest(data).hex() == fields["MD"].lower()
        stream = ours.new()
        for index in range(len(data)):
            stream.update(data[index : index + 1])
        assert stream.hexdigest() == fields["MD"].lower()
    assert done == count
