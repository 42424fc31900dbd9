"""Requests on every implementation against libcrypto: lengths, buffers, IVs, keys."""

from __future__ import annotations

import array
import hashlib
import mmap
import os
import random
import threading
from collections.abc import Callable

import pytest
from aes_support import MODES, PROVIDERS, block_size, iv_size, material, oracle
from providers import wrongly_unavailable

import cryptodispatch as cd

Make = Callable[[str, bytes], cd.Cipher]


def test_expected_implementations_ran(device: object) -> None:
    """A skip of an implementation that this machine can run would be a hole in every test here."""
    available = {entry.driver for entry in cd.algorithms() if entry.available}
    assert {"cbc(aes-lib)", "cbc(aes-eip93)"} <= available
    if not os.environ.get("CRYPTODISPATCH_CPU_DISABLE"):
        assert not wrongly_unavailable()


@pytest.mark.parametrize("key_size", [16, 24, 32])
@pytest.mark.parametrize("mode", MODES)
def test_all_lengths(make: Make, mode: str, key_size: int) -> None:
    """Lengths 0..4096, all results folded into one digest, against the oracle's."""
    ours, theirs = hashlib.sha256(), hashlib.sha256()
    key, iv, text = material(mode, key_size, 4096, 1)
    cipher = make(mode, key)
    for length in range(0, 4097, block_size(mode)):
        data = text[:length]
        encrypted = cipher.encrypt(data, iv or None)
        ours.update(encrypted)
        theirs.update(oracle(mode, key, iv, data))
        assert cipher.decrypt(encrypted, iv or None) == data
    assert ours.digest() == theirs.digest()


@pytest.mark.parametrize("mode", MODES)
def test_in_place_and_unaligned(make: Make, mode: str) -> None:
    key, iv, text = material(mode, 16, 1024, 2)
    cipher = make(mode, key)
    for offset in range(17):
        length = 1024 - 16 * (offset % 3) - (offset % 7 if block_size(mode) == 1 else 0)
        memory = bytearray(b"\xa5" * 1100)
        view = memoryview(memory)[offset : offset + length]
        view[:] = text[:length]
        assert cipher.encrypt_into(view, view, iv or None) == length
        assert bytes(view) == oracle(mode, key, iv, text[:length])
        assert cipher.decrypt_into(view, view, iv or None) == length
        assert bytes(view) == text[:length]
        assert set(memory[:offset]) <= {0xA5}
        assert set(memory[offset + length :]) == {0xA5}
        # Out of place with another alignment.
        out = bytearray(1100)
        target = memoryview(out)[16 - offset % 16 :]
        cipher.encrypt_into(view, target, iv or None)
        assert bytes(target[:length]) == oracle(mode, key, iv, text[:length])


# R077: CBC decryption in place went wrong from the second block on.
def test_r077_cbc_decrypt_in_place(make: Make) -> None:
    key = bytes.fromhex("cdc9b7d04d649dad5ad5030944ed0485d6d583d9191d54032b2d313ddd1c9d86")
    iv = bytes.fromhex("89fddec061532f8a28bf2e44de8b6cbd")
    text = bytearray.fromhex("3d31b7479eab5c15f3d96395b14058113980d56cfab141b73e95b6e7f9eeb7b2")
    expected = bytes.fromhex("ffd8ac06851b20e559a219f19c1c9ab9a6f2c43c485a21f2f2becfef179c361f")
    cipher = make("cbc", key)
    assert cipher.decrypt(bytes(text), iv) == expected
    cipher.decrypt_into(text, text, iv)
    assert bytes(text) == expected


# R073: left-over key stream of one call must not reach the next.
def test_r073_ctr_left_over_key_stream(make: Make) -> None:
    cipher = make("ctr", b"A" * 32)
    stream = cipher.encryptor(bytes(16))
    stream.update(b"A" * 85)
    second = stream.update(b"B" * 105)
    assert (
        hashlib.sha256(second).hexdigest()
        == "cb63c4329281824c7803c3b23b6047bdf7f95842a7b49d46f83a675afa4b7414"
    )


# R075: the counter is 128 bits wide on every path.
@pytest.mark.parametrize(
    ("length", "prefix"),
    [
        (64, "0b9b772f0c9ed27ddfb849724f2a9cee"),
        (128, "7600ffd5a8ee141b48e8c16d8e209dc8"),
        (144, "4c09b6010ea89563a41e072d89019644"),
    ],
)
def test_r075_ctr_carry_over_128_bits(make: Make, length: int, prefix: str) -> None:
    cipher = make("ctr", bytes(range(16)))
    out = cipher.encrypt(bytes(length), bytes.fromhex("ff" * 15 + "fd"))
    assert hashlib.sha256(out).hexdigest()[:32] == prefix


@pytest.mark.parametrize("ones", range(1, 17))
def test_ctr_carries_into_every_byte(make: Make, ones: int) -> None:
    key = bytes(range(16))
    for before in (1, 2, 7, 8, 9):
        counter = int.from_bytes(bytes(range(16 - ones)) + b"\xff" * ones, "big") + 1 - before
        iv = (counter % 2**128).to_bytes(16, "big")
        data = random.Random(ones).randbytes(16 * 20 + 3)
        cipher = make("ctr", key)
        assert cipher.encrypt(data, iv) == oracle("ctr", key, iv, data)
        stream = cipher.encryptor(iv)
        assert b"".join(stream.update(data[i : i + 16]) for i in range(0, len(data), 16)) == oracle(
            "ctr", key, iv, data
        )


# R019: a direction flag of one request must not reach the next.
def test_r019_encrypt_decrypt_encrypt(make: Make) -> None:
    key, iv, text = material("cbc", 16, 64, 3)
    cipher = make("cbc", key)
    first = cipher.encrypt(text, iv)
    assert cipher.decrypt(first, iv) == text
    assert cipher.encrypt(text, iv) == first == oracle("cbc", key, iv, text)


def test_r019_threads_mix_directions_on_one_object(make: Make) -> None:
    key = bytes(16)
    cipher = make("cbc", key)
    problems: list[str] = []

    def work(seed: int) -> None:
        source = random.Random(seed)
        for _ in range(250):
            text, iv = source.randbytes(64), source.randbytes(16)
            expected = oracle("cbc", key, iv, text)
            if cipher.encrypt(text, iv) != expected or cipher.decrypt(expected, iv) != text:
                problems.append(text.hex())

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems


# R009: longer than the engine's length field; the driver splits and chains.
@pytest.mark.parametrize("length", [2**20 - 16, 2**20, 2**20 + 16, 2**22])
@pytest.mark.parametrize("mode", ["cbc", "ctr", "ecb"])
def test_r009_long_requests(make: Make, mode: str, length: int) -> None:
    key, iv, text = material(mode, 32, length, 4)
    cipher = make(mode, key)
    encrypted = cipher.encrypt(text, iv or None)
    assert encrypted == oracle(mode, key, iv, text)
    assert cipher.decrypt(encrypted, iv or None) == text


def test_key_sizes_and_facts(make: Make) -> None:
    for mode in MODES:
        extra = 4 if mode == "rfc3686" else 0
        cipher = make(mode, bytes(16 + extra))
        assert cipher.key_sizes == (16 + extra, 24 + extra, 32 + extra)
        assert cipher.iv_size == iv_size(mode)
        assert cipher.block_size == block_size(mode)
        assert cipher.name == ("rfc3686(ctr(aes))" if mode == "rfc3686" else f"{mode}(aes)")


def test_set_key_again(make: Make) -> None:
    cipher = make("cbc", bytes(16))
    for size in (32, 24, 16):
        key, iv, text = material("cbc", size, 48, 5)
        cipher.set_key(key)
        assert cipher.encrypt(text, iv) == oracle("cbc", key, iv, text)


# R029 (cipher part): after a failed set_key nothing is encrypted until a key is set.
def test_failed_set_key_leaves_no_key(make: Make) -> None:
    cipher = make("cbc", bytes(16))
    for bad in (b"", bytes(15), bytes(17), bytes(64)):
        with pytest.raises(cd.InvalidKeyError, match=rf"key: {len(bad)} bytes? .* 16, 24 or 32"):
            cipher.set_key(bad)
        with pytest.raises(cd.InvalidKeyError, match="none is set"):
            cipher.encrypt(bytes(16), bytes(16))
        with pytest.raises(cd.InvalidKeyError, match="none is set"):
            cipher.encryptor(bytes(16))
    cipher.set_key(bytes(16))
    assert cipher.encrypt(bytes(16), bytes(16)) == oracle("cbc", bytes(16), bytes(16), bytes(16))


def test_many(make: Make) -> None:
    for mode in MODES:
        key, _iv, _text = material(mode, 16, 0, 6)
        lengths = [0, 16, 32, 48, 64, 4096, 16, 1024] * 80
        rows = [material(mode, 16, n, 100 + i) for i, n in enumerate(lengths)]
        cipher = make(mode, key)
        texts = [text for _, _, text in rows]
        ivs = [iv for _, iv, _ in rows] if iv_size(mode) else None
        out = cipher.encrypt_many(texts, ivs)
        assert out == [oracle(mode, key, iv, text) for _, iv, text in rows]
        assert cipher.decrypt_many(out, ivs) == texts
        assert cipher.encrypt_many([], None) == []


def test_many_names_the_bad_record(make: Make) -> None:
    cipher = make("cbc", bytes(16))
    ivs = [bytes(16)] * 3
    with pytest.raises(ValueError, match=r"records\[1\]: data: 15 bytes"):
        cipher.encrypt_many([bytes(16), bytes(15), bytes(16)], ivs)
    with pytest.raises(TypeError, match=r"records\[2\]"):
        cipher.encrypt_many([bytes(16), bytes(16), "text"], ivs)
    with pytest.raises(ValueError, match=r"ivs\[1\]: 15 bytes"):
        cipher.encrypt_many([bytes(16)] * 3, [bytes(16), bytes(15), bytes(16)])
    with pytest.raises(ValueError, match="ivs: 3 were given for 2 records"):
        cipher.encrypt_many([bytes(16)] * 2, ivs)
    with pytest.raises(TypeError, match="ivs: None"):
        cipher.encrypt_many([bytes(16)] * 2)
    assert cipher.encrypt_many([bytes(16)], [bytes(16)])[0] == oracle(
        "cbc", bytes(16), bytes(16), bytes(16)
    )


# R097 and its relatives: every wrong argument is an exception, and the object works afterwards.
@pytest.mark.parametrize("mode", ["ecb", "cbc"])
@pytest.mark.parametrize("length", [1, 5, 15, 17, 4097])
def test_r097_length_is_checked(make: Make, mode: str, length: int) -> None:
    key, iv, text = material(mode, 16, 16, 7)
    cipher = make(mode, key)
    for call in (cipher.encrypt, cipher.decrypt):
        with pytest.raises(
            ValueError, match=rf"data: {length} bytes? (was|were) given, .* multiples of 16"
        ):
            call(bytes(length), iv or None)
    with pytest.raises(ValueError, match="multiples of 16"):
        cipher.encrypt_into(bytes(length), bytearray(length), iv or None)
    assert cipher.encrypt(text, iv or None) == oracle(mode, key, iv, text)


@pytest.mark.parametrize("value", ["text", None, 16, -1, 2**70, 1.5, [1, 2], object()])
def test_r097_types_are_checked(make: Make, value: object) -> None:
    cipher = make("cbc", bytes(16))
    calls: list[Callable[[], object]] = [
        lambda: cipher.encrypt(value, bytes(16)),  # type: ignore[arg-type]
        lambda: cipher.decrypt(value, bytes(16)),  # type: ignore[arg-type]
        lambda: cipher.encrypt(bytes(16), value),  # type: ignore[arg-type]
        lambda: cipher.encrypt_into(bytes(16), value, bytes(16)),  # type: ignore[arg-type]
        lambda: cipher.encrypt_into(value, bytearray(16), bytes(16)),  # type: ignore[arg-type]
        lambda: cipher.encryptor(bytes(16)).update(value),  # type: ignore[arg-type]
        lambda: cipher.submit_encrypt(value, bytes(16)),  # type: ignore[arg-type]
    ]
    for call in calls:
        with pytest.raises(TypeError, match=r"^(data|iv|out):"):
            call()
    assert cipher.encrypt(bytes(16), bytes(16)) == oracle("cbc", bytes(16), bytes(16), bytes(16))


def test_iv_is_checked(make: Make) -> None:
    cipher = make("cbc", bytes(16))
    for length in (0, 8, 15, 17):
        with pytest.raises(
            ValueError, match=f"iv: {length} bytes? (was|were) given, cbc\\(aes\\) takes 16"
        ):
            cipher.encrypt(bytes(16), bytes(length))
    with pytest.raises(TypeError, match="iv: None"):
        cipher.encrypt(bytes(16))
    with pytest.raises(ValueError, match="iv: 16 bytes were given, ecb"):
        make("ecb", bytes(16)).encrypt(bytes(16), bytes(16))


def test_buffers_are_checked(make: Make) -> None:
    cipher = make("ctr", bytes(16))
    iv = bytes(16)
    with pytest.raises(ValueError, match=r"data: .* not contiguous"):
        cipher.encrypt(memoryview(bytes(64))[::2], iv)
    with pytest.raises(ValueError, match=r"out: .* not contiguous"):
        cipher.encrypt_into(bytes(32), memoryview(bytearray(64))[::2], iv)
    with pytest.raises(TypeError, match="out: a read-only bytes was given"):
        cipher.encrypt_into(bytes(32), bytes(32), iv)
    with pytest.raises(ValueError, match="out: 31 bytes were given, at least 32"):
        cipher.encrypt_into(bytes(32), bytearray(31), iv)
    memory = memoryview(bytearray(64))
    for shift in (1, 8, 16, 31):
        with pytest.raises(ValueError, match="out: it overlaps data"):
            cipher.encrypt_into(memory[:32], memory[shift : shift + 32], iv)
        with pytest.raises(ValueError, match="out: it overlaps data"):
            cipher.encrypt_into(memory[shift : shift + 32], memory[:32], iv)
    # Neighbours do not overlap.
    assert cipher.encrypt_into(memory[:32], memory[32:], iv) == 32
    assert bytes(memory[32:]) == oracle("ctr", bytes(16), iv, bytes(32))


def test_every_bytes_like_type_works(make: Make) -> None:
    key, iv, text = material("cbc", 16, 64, 8)
    expected = oracle("cbc", key, iv, text)
    cipher = make("cbc", key)
    with mmap.mmap(-1, 4096) as memory:
        memory[:64] = text
        with memoryview(memory)[:64] as view:
            assert cipher.encrypt(view, iv) == expected
    for value in (bytearray(text), memoryview(text), array.array("I", text)):
        assert cipher.encrypt(value, bytearray(iv)) == expected
        assert cipher.encrypt(value, memoryview(iv)) == expected


def test_close(make: Make) -> None:
    cipher = make("cbc", bytes(16))
    stream = cipher.encryptor(bytes(16))
    cipher.close()
    cipher.close()
    for call in (
        lambda: cipher.encrypt(bytes(16), bytes(16)),
        lambda: cipher.set_key(bytes(16)),
        lambda: cipher.name,
        lambda: cipher.encryptor(bytes(16)),
        lambda: cipher.encrypt_many([], []),
        lambda: stream.update(bytes(16)),
    ):
        with pytest.raises(ValueError, match="closed"):
            call()
    assert "closed" in repr(cipher)


def test_unknown_algorithms() -> None:
    with pytest.raises(
        cd.UnknownAlgorithmError,
        match=r"'cbc\(aess\)' is not registered; did you mean 'cbc\(aes\)'",
    ):
        cd.Cipher("cbc(aess)", bytes(16))
    with pytest.raises(LookupError):
        cd.Cipher("", bytes(16))
    with pytest.raises(cd.UnknownAlgorithmError):
        cd.Cipher("cbc(aes)\0", bytes(16))
    with pytest.raises(TypeError, match="algorithm: bytes was given"):
        cd.Cipher(b"cbc(aes)", bytes(16))  # type: ignore[arg-type]
    with pytest.raises(cd.UnknownAlgorithmError):
        cd.Cipher("x" * 100_000, bytes(16))


def test_no_key() -> None:
    cipher = cd.Cipher("cbc(aes)")
    with pytest.raises(cd.InvalidKeyError, match="none is set"):
        cipher.encrypt(bytes(16), bytes(16))
    with pytest.raises(cd.InvalidKeyError, match="none is set"):
        cipher.encrypt_many([bytes(16)], [bytes(16)])
    cipher.set_key(bytes(16))
    assert len(cipher.encrypt(bytes(16), bytes(16))) == 16


def test_algorithms_describe_what_names_stand_for() -> None:
    best: dict[str, cd.Algorithm] = {}
    for entry in cd.algorithms():
        beaten = entry.name in best and entry.priority <= best[entry.name].priority
        if entry.type == "cipher" and entry.available and not entry.modelled and not beaten:
            best[entry.name] = entry
    for name, entry in best.items():
        cipher = cd.Cipher(name)
        assert cipher.driver == entry.driver
        assert (cipher.block_size, cipher.iv_size) == (entry.block_size, entry.iv_size)
        assert cipher.key_sizes == entry.key_sizes
    assert {"lib", "eip93"} <= {provider.name for provider in PROVIDERS.values()}
