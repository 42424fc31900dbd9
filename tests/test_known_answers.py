"""The known answers that come with the package: from outside, complete, all run, none spared."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from importlib import resources
from pathlib import Path

import aes_support
import des_support
import hash_support
import pytest
from aead_support import oracle as aead_oracle
from providers import AEADS, DES, FORMS, HASHES

import cryptodispatch as cd
from cryptodispatch import known_answers

GENERATOR = Path(__file__).parent / "vectors" / "generate_authenc.py"


def test_every_algorithm_has_vectors_and_every_row_a_source() -> None:
    vectors = known_answers.load()
    counts = Counter(vector.algorithm for vector in vectors)
    aes = {"rfc3686(ctr(aes))" if m == "rfc3686" else f"{m}(aes)": m for m in aes_support.MODES}
    assert set(counts) == {*aes, *DES, *HASHES, *AEADS}
    assert min(counts.values()) >= 3
    published = ("NIST SP 800-", "FIPS ", "RFC ", "NIST CAVS ")
    for vector in vectors:
        generated = isinstance(vector, known_answers.AeadVector)
        assert vector.source.startswith("generate_authenc.py, " if generated else published)
    assert len({vector.source for vector in vectors}) == len(vectors)


def test_ciphers_agree_with_libcrypto() -> None:
    vectors = [v for v in known_answers.load() if isinstance(v, known_answers.CipherVector)]
    for vector in vectors:
        if "des" in vector.algorithm:
            expected = des_support.oracle(vector.algorithm, vector.key, vector.iv, vector.plaintext)
        else:
            mode = vector.algorithm.split("(")[0]
            expected = aes_support.oracle(mode, vector.key, vector.iv, vector.plaintext)
        assert expected == vector.ciphertext, vector.source
    assert len(vectors) >= 60


def test_hashes_agree_with_hashlib() -> None:
    vectors = [v for v in known_answers.load() if isinstance(v, known_answers.HashVector)]
    for vector in vectors:
        expected = hash_support.oracle(vector.algorithm, vector.message, vector.key)
        assert expected[: len(vector.digest)] == vector.digest, vector.source
    assert len(vectors) >= 60


def test_aeads_agree_with_composition() -> None:
    vectors = [v for v in known_answers.load() if isinstance(v, known_answers.AeadVector)]
    for vector in vectors:
        expected = aead_oracle(
            vector.algorithm,
            vector.key,
            vector.auth_key,
            vector.iv,
            vector.plaintext,
            vector.aad,
            len(vector.tag),
        )
        assert expected == vector.ciphertext + vector.tag, vector.source
    assert len(vectors) == 96


def test_generator_makes_the_file_byte_for_byte() -> None:
    done = subprocess.run([sys.executable, str(GENERATOR)], capture_output=True, check=True)
    file = resources.files("cryptodispatch.known_answers") / "authenc.toml"
    assert done.stdout == file.read_bytes()


# R123: what is executed is what is in the files, and nothing of it is left out.
def test_r123_number_run_is_number_in_file() -> None:
    folder = resources.files("cryptodispatch.known_answers")
    texts = [f.read_text() for f in folder.iterdir() if f.name.endswith(".toml")]
    vectors = known_answers.load()
    assert len(vectors) == sum(line.startswith("[[") for t in texts for line in t.splitlines())
    own = Counter(vector.algorithm for vector in vectors)
    ran = set()
    for entry in cd.algorithms():
        report = known_answers.run(entry, vectors)
        if entry.available:
            assert (report.vectors, report.skipped) == (own[entry.name], ""), entry.driver
            assert report.failures == (), entry.driver
            ran.add(entry.name)
        else:
            assert (report.vectors, report.skipped) == (0, entry.reason)
    assert ran == set(own)


def test_r123_vectors_that_nothing_runs_are_failures() -> None:
    (vector,) = [v for v in known_answers.load() if v.source == "FIPS 180-2, B.1"]
    lost = known_answers.HashVector("sha255", "lost", b"", vector.message, vector.digest)
    reports = [known_answers.run(entry, [vector, lost]) for entry in cd.algorithms()]
    (left,) = known_answers.unrun(reports, [vector, lost])
    assert (left.algorithm, left.vectors) == ("sha255", 1)
    assert [failure.source for failure in left.failures] == ["lost"]


ROW = (
    '[[hash]]\nalgorithm = "md5"\nsource = "x"\nkey = ""\nmessage = ""\n'
    'digest = "d41d8cd98f00b204e9800998ecf8427e"\n'
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no rows"),
        ("hash = []", "no rows"),
        (ROW + ROW, "twice"),
        (ROW.replace("digest", "digset"), "digset"),
        (ROW.replace('key = ""\n', ""), "key"),
        (ROW.replace("[[hash]]", "[[hush]]"), r"hush: \[\[cipher\]\], "),
        (ROW.replace("d41d", "d41"), "hash 1: digest: .* non-hexadecimal"),
        (ROW.replace('"x"', "1"), "text is needed"),
        (ROW + 'extra = "00"\n', "extra"),
        (ROW.replace('key = ""', "key = 5"), "hash 1: key: 5 was given, hexadecimal text is"),
        ("hash = 1", r"hash: \[\[cipher\]\], "),
        ("hash = [1]", "hash 1: 1 was given, a table with algorithm, "),
        ("null = 5", r"null: \[\[cipher\]\], "),
        ("not toml", "vectors: .*not TOML"),
    ],
)
def test_files_that_are_no_vectors(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "vectors.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=said) as caught:
        known_answers.load(path)
    assert str(caught.value).startswith(f"vectors: {path}: ")
    assert "Error" not in str(caught.value)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "vectors.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match="vectors: "):
        known_answers.load(path)


def failures(vector: known_answers.Vector) -> tuple[known_answers.Failure, ...]:
    """Of the portable implementation."""
    form = "lib+lib" if vector.algorithm in AEADS else "lib"
    return known_answers.run(FORMS[form][vector.algorithm], [vector]).failures


def test_r123_a_wrong_bit_in_any_field_is_seen() -> None:
    """Also where the algorithm itself would not mind: parity of DES keys, truncated digests."""
    vectors = known_answers.load()
    for name in ("ecb(des)", "hmac(sha224)", "authenc(hmac(md5),cbc(des3_ede))", "ctr(aes)"):
        for vector in (v for v in vectors if v.algorithm == name):
            assert failures(vector) == ()
            fields = {f: getattr(vector, f) for f in vector.__dataclass_fields__}
            for field, value in fields.items():
                if isinstance(value, bytes) and value:
                    for bit in range(0, 8 * len(value), max(1, len(value))):
                        damaged = bytearray(value)
                        damaged[bit // 8] ^= 1 << bit % 8
                        changed = type(vector)(**fields | {field: bytes(damaged)})
                        assert failures(changed), (vector.source, field, bit)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"digest": b""}, "digest: 0 bytes"),
        ({"digest": bytes(17)}, "digest: 17 bytes"),
        ({"key": b"k"}, "takes none"),
        ({"algorithm": "hmac(md5)"}, "is not"),
    ],
)
def test_vectors_that_cannot_be_right(changes: dict[str, object], said: str) -> None:
    fields = {"algorithm": "md5", "source": "x", "key": b"", "message": b"", "digest": bytes(16)}
    (failure, *_) = failures(known_answers.HashVector(**fields | changes))
    assert said in failure.problem
