"""DES and 3DES requests on every implementation against libcrypto."""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
import sys
import threading

import pytest
from des_support import iv_size, key_size, material, oracle
from providers import DES, Family, driver_of

import cryptodispatch as cd
from cryptodispatch import eip93

# FIPS 74, and NIST SP 800-67, 3.3.2: four weak keys, and two of the semi-weak ones.
WEAK = (
    "0101010101010101",
    "fefefefefefefefe",
    "e0e0e0e0f1f1f1f1",
    "1f1f1f1f0e0e0e0e",
    "01fe01fe01fe01fe",
    "fe01fe01fe01fe01",
)


def make(des: Family, algorithm: str, key: bytes) -> cd.Cipher:
    return cd.Cipher(des.driver(algorithm), key)


def test_expected_implementations_ran(device: eip93.Device) -> None:
    available = {entry.driver for entry in cd.algorithms() if entry.available}
    assert {driver_of(name, cipher) for name in ("lib", "eip93") for cipher in DES} <= available


def test_facts(des: Family) -> None:
    assert des.names == DES
    for name in DES:
        cipher = make(des, name, bytes(key_size(name)))
        assert (cipher.name, cipher.driver) == (name, des.driver(name))
        assert cipher.key_sizes == (key_size(name),)
        assert (cipher.block_size, cipher.iv_size) == (8, iv_size(name))


@pytest.mark.parametrize("name", DES)
def test_all_lengths(des: Family, name: str) -> None:
    """Lengths 0..4096, all results folded into one digest, against the oracle's."""
    ours, theirs = hashlib.sha256(), hashlib.sha256()
    key, iv, text = material(name, 4096, 1)
    cipher = make(des, name, key)
    for length in range(0, 4097, 8):
        encrypted = cipher.encrypt(text[:length], iv or None)
        ours.update(encrypted)
        theirs.update(oracle(name, key, iv, text[:length]))
        assert cipher.decrypt(encrypted, iv or None) == text[:length]
    assert ours.digest() == theirs.digest()


@pytest.mark.parametrize("name", DES)
def test_in_place_and_unaligned(des: Family, name: str) -> None:
    key, iv, text = material(name, 512, 2)
    cipher = make(des, name, key)
    for offset in range(17):
        length = 512 - 8 * (offset % 5)
        memory = bytearray(b"\xa5" * 600)
        view = memoryview(memory)[offset : offset + length]
        view[:] = text[:length]
        assert cipher.encrypt_into(view, view, iv or None) == length
        expected = oracle(name, key, iv, text[:length])
        assert bytes(view) == expected
        assert cipher.decrypt_into(view, view, iv or None) == length
        assert bytes(view) == text[:length]
        assert set(memory[:offset]) | set(memory[offset + length :]) == {0xA5}
        out = bytearray(600)
        cipher.encrypt_into(view, memoryview(out)[16 - offset % 16 :], iv or None)
        assert bytes(out[16 - offset % 16 :][:length]) == expected


@pytest.mark.parametrize("name", DES)
def test_every_split(des: Family, name: str) -> None:
    """A message in two pieces, cut anywhere, in both directions."""
    key, iv, text = material(name, 72, 3)
    cipher = make(des, name, key)
    expected = oracle(name, key, iv, text)
    for cut in range(73):
        stream = cipher.encryptor(iv or None)
        assert stream.update(text[:cut]) + stream.update(text[cut:]) == expected
        stream.finalize()
        back = cipher.decryptor(iv or None)
        assert back.update(expected[:cut]) + back.update(expected[cut:]) == text
        back.finalize()


# R041: the IV after a request continues the message, also after decrypting in place.
@pytest.mark.parametrize("name", ["cbc(des)", "cbc(des3_ede)"])
def test_r041_next_iv(des: Family, name: str) -> None:
    key, iv, text = material(name, 160, 4)
    cipher = make(des, name, key)
    expected = oracle(name, key, iv, text)
    stream = cipher.encryptor(iv)
    head = stream.update(text[:80])
    assert stream.iv == expected[72:80]
    assert head + cipher.encrypt(text[80:], stream.iv) == expected
    memory = bytearray(expected[:80])
    back = cipher.decryptor(iv)
    back.update_into(memory, memory)
    assert bytes(memory) == text[:80]
    assert back.iv == expected[72:80]


# R009: longer than the engine's length field; the driver splits and chains.
def test_r009_long_requests(des: Family) -> None:
    for name in DES:
        for length in (2**20 - 8, 2**20, 2**20 + 8) if name == "cbc(des)" else (2**20 + 16,):
            key, iv, text = material(name, length, 5)
            cipher = make(des, name, key)
            encrypted = cipher.encrypt(text, iv or None)
            assert encrypted == oracle(name, key, iv, text)
            assert cipher.decrypt(encrypted, iv or None) == text


# R085: the jobs of a batch all differ, and none gets another's result.
@pytest.mark.parametrize("name", DES)
def test_r085_sixteen_different_jobs(des: Family, name: str) -> None:
    rows = [material(name, 8 * (1 + i % 5), 100 + i) for i in range(16)]
    expected = [oracle(name, key, iv, text) for key, iv, text in rows]
    # Sixteen keys in flight at once.
    requests = [make(des, name, key).submit_encrypt(text, iv or None) for key, iv, text in rows]
    assert [request.result() for request in requests] == expected
    # One key, sixteen IVs and texts of equal and of different length.
    key = rows[0][0]
    cipher = make(des, name, key)
    for lengths in ([64] * 16, [8 * (1 + i % 7) for i in range(16)]):
        own = [material(name, length, 200 + i) for i, length in enumerate(lengths)]
        texts = [text for _, _, text in own]
        ivs = [iv for _, iv, _ in own] if iv_size(name) else None
        out = cipher.encrypt_many(texts, ivs)
        assert out == [oracle(name, key, iv, text) for _, iv, text in own]
        assert cipher.decrypt_many(out, ivs) == texts


# R087: decryption of two-key 3DES is D-E-D, and equal neighbours cancel out.
@pytest.mark.parametrize(
    ("order", "expected"),
    [("121", "08d7b4fb629d0885"), ("112", "a68cdca90c9021f9"), ("122", "d5d44ff720683d0d")],
)
def test_r087_two_key_3des(des: Family, order: str, expected: str) -> None:
    keys = {"1": bytes.fromhex("0123456789abcdef"), "2": bytes.fromhex("fedcba9876543210")}
    cipher = make(des, "ecb(des3_ede)", b"".join(keys[number] for number in order))
    encrypted = cipher.encrypt(bytes(8))
    assert encrypted.hex() == expected
    assert cipher.decrypt(encrypted) == bytes(8)
    single = {"112": keys["2"], "122": keys["1"]}
    if order in single:
        assert make(des, "ecb(des)", single[order]).encrypt(bytes(8)) == encrypted


def test_weak_keys_are_accepted(des: Family) -> None:
    """One rule for every implementation: weak keys work, and parity bits count for nothing."""
    for name in DES:
        for weak in map(bytes.fromhex, WEAK):
            key = weak * (key_size(name) // 8)
            _, iv, text = material(name, 64, 6)
            assert make(des, name, key).encrypt(text, iv or None) == oracle(name, key, iv, text)
    for weak in map(bytes.fromhex, WEAK[:4]):
        cipher = make(des, "ecb(des)", weak)
        assert cipher.encrypt(cipher.encrypt(b"8 bytes.")) == b"8 bytes."


def test_parity_is_ignored(des: Family) -> None:
    for name in DES:
        key, iv, text = material(name, 64, 7)
        expected = oracle(name, key, iv, text)
        for mask in (b"\x01", b"\x00\x01"):
            other = bytes(k ^ m for k, m in zip(key, mask * 24, strict=False))
            assert make(des, name, other).encrypt(text, iv or None) == expected


def test_wrong_keys(des: Family) -> None:
    for name in DES:
        cipher = make(des, name, bytes(key_size(name)))
        allowed = {key_size(name)}
        for size in {0, 7, 8, 9, 16, 23, 24, 25, 32} - allowed:
            with pytest.raises(cd.InvalidKeyError, match=f"key: {size} bytes"):
                cipher.set_key(bytes(size))
            with pytest.raises(cd.InvalidKeyError, match="none is set"):
                cipher.encrypt(bytes(8), bytes(8) if iv_size(name) else None)
        key, iv, text = material(name, 8, 8)
        cipher.set_key(key)
        assert cipher.encrypt(text, iv or None) == oracle(name, key, iv, text)


@pytest.mark.parametrize("length", [1, 4, 7, 9, 4095])
def test_r097_length_is_checked(des: Family, length: int) -> None:
    for name in DES:
        key, iv, text = material(name, 8, 9)
        cipher = make(des, name, key)
        for call in (cipher.encrypt, cipher.decrypt):
            with pytest.raises(ValueError, match=f"data: {length} bytes? .* multiples of 8"):
                call(bytes(length), iv or None)
        assert cipher.encrypt(text, iv or None) == oracle(name, key, iv, text)


# R019: four threads, both directions, one object.
def test_r019_threads_mix_directions(des: Family) -> None:
    ciphers = {name: (material(name, 0, 10)[0], name) for name in DES}
    made = {name: make(des, name, key) for name, (key, _) in ciphers.items()}
    bad: list[str] = []

    def work(seed: int) -> None:
        source = random.Random(seed)
        for _ in range(80):
            name = source.choice(DES)
            key, iv = ciphers[name][0], source.randbytes(iv_size(name))
            text = source.randbytes(8 * source.randrange(1, 20))
            expected = oracle(name, key, iv, text)
            if made[name].encrypt(text, iv or None) != expected:
                bad.append(f"{name} encrypt")
            if made[name].decrypt(expected, iv or None) != text:
                bad.append(f"{name} decrypt")

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not bad


# R113: what a libcrypto still has, or is configured to allow, changes nothing.
def test_r113_des_and_md5_are_our_own() -> None:
    program = (
        "import cryptodispatch as cd\n"
        "print(cd.Cipher('ecb(des)', bytes(8)).encrypt(bytes(8)).hex())\n"
        "print(cd.Hash('md5').digest(b'').hex())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"OPENSSL_CONF": os.devnull, "OPENSSL_MODULES": os.devnull},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["8ca64de9c1b123a7", "d41d8cd98f00b204e9800998ecf8427e"]
