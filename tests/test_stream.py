"""Messages in pieces: any split gives the one-shot bytes, on every implementation."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator

import pytest
from aes_support import MODES, block_size, material, oracle
from hypothesis import HealthCheck, given, settings, strategies as st

import cryptodispatch as cd

Make = Callable[[str, bytes], cd.Cipher]


def pieces(data: bytes, sizes: list[int]) -> Iterator[bytes]:
    position = 0
    for size in sizes:
        yield data[position : position + size]
        position += size
    yield data[position:]


@pytest.mark.parametrize("mode", MODES)
def test_every_split_of_a_short_message(make: Make, mode: str) -> None:
    key, iv, text = material(mode, 16, 80, 1)
    cipher = make(mode, key)
    expected = oracle(mode, key, iv, text)
    for first in range(81):
        for decrypt in (False, True):
            stream = (cipher.decryptor if decrypt else cipher.encryptor)(iv or None)
            given_text = expected if decrypt else text
            out = b"".join(map(stream.update, pieces(given_text, [first]))) + stream.finalize()
            assert out == (text if decrypt else expected), (first, decrypt)


@pytest.mark.parametrize("mode", MODES)
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(sizes=st.lists(st.integers(0, 700), max_size=12), tail=st.integers(0, 40))
def test_random_splits(make: Make, mode: str, sizes: list[int], tail: int) -> None:
    length = sum(sizes) + tail
    length -= length % block_size(mode)
    key, iv, text = material(mode, 24, length, 2)
    stream = make(mode, key).encryptor(iv or None)
    out = bytearray()
    for piece in pieces(text, sizes):
        target = bytearray(len(piece) + 16)
        written = stream.update_into(piece, target)
        out += target[:written]
    stream.finalize()
    assert bytes(out) == oracle(mode, key, iv, text)


def test_iv_continues_the_message(make: Make) -> None:
    for mode in ("cbc", "ctr"):
        key, iv, text = material(mode, 16, 160, 3)
        cipher = make(mode, key)
        expected = oracle(mode, key, iv, text)
        stream = cipher.encryptor(iv)
        head = stream.update(text[:64])
        assert head + cipher.encrypt(text[64:], stream.iv) == expected
        back = cipher.decryptor(iv)
        head = back.update(expected[:64])
        assert head + cipher.decrypt(expected[64:], back.iv) == text


# R041: the chaining value after a CTR request is the counter, not ciphertext.
def test_r041_ctr_next_counter(make: Make) -> None:
    stream = make("ctr", bytes(16)).encryptor(bytes.fromhex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"))
    stream.update(bytes(64))
    assert stream.iv.hex() == "f0f1f2f3f4f5f6f7f8f9fafbfcfdff03"


# R053: key stream and offset belong to the stream.
def test_r053_interleaved_streams(make: Make) -> None:
    sizes = [("a", 5), ("b", 7), ("a", 11), ("b", 3), ("a", 64), ("b", 64)]
    keys = {name: material("ctr", 16, 80, ord(name)) for name in "ab"}
    streams = {name: make("ctr", key).encryptor(iv) for name, (key, iv, _) in keys.items()}
    done = dict.fromkeys("ab", b"")
    for name, size in sizes:
        text = keys[name][2]
        start = len(done[name])
        done[name] += streams[name].update(text[start : start + size])
    for name, (key, iv, text) in keys.items():
        assert done[name] == oracle("ctr", key, iv, text[: len(done[name])])


def test_r053_from_two_threads(make: Make) -> None:
    results: dict[int, bool] = {}

    def work(seed: int) -> None:
        key, iv, text = material("ctr", 16, 20_000, seed)
        source, stream, out, position = random.Random(seed), make("ctr", key).encryptor(iv), b"", 0
        while position < len(text):
            size = source.randrange(1, 100)
            out += stream.update(text[position : position + size])
            position += size
        results[seed] = out == oracle("ctr", key, iv, text)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {0: True, 1: True}


def test_partial_block_is_an_error_at_the_end(make: Make) -> None:
    for mode in ("ecb", "cbc"):
        key, iv, _ = material(mode, 16, 0, 4)
        cipher = make(mode, key)
        stream = cipher.encryptor(iv or None)
        assert stream.update(bytes(5)) == b""
        with pytest.raises(ValueError, match="5 bytes of a block of 16"):
            stream.finalize()
        with pytest.raises(ValueError, match="finalized"):
            stream.update(bytes(16))
        with pytest.raises(ValueError, match="finalized"):
            stream.finalize()
        assert cipher.encrypt(bytes(16), iv or None) == oracle(mode, key, iv, bytes(16))


def test_key_cannot_change_under_a_stream(make: Make) -> None:
    cipher = make("ctr", bytes(16))
    stream = cipher.encryptor(bytes(16))
    with pytest.raises(RuntimeError, match="under way"):
        cipher.set_key(bytes(16))
    stream.finalize()
    cipher.set_key(bytes(16))
    del stream
    abandoned = cipher.encryptor(bytes(16))
    del abandoned
    cipher.set_key(bytes(32))


def test_update_in_place(make: Make) -> None:
    key, iv, text = material("ctr", 16, 100, 5)
    stream = make("ctr", key).encryptor(iv)
    memory = bytearray(text)
    view = memoryview(memory)
    stream.update_into(view[:37], view[:37])
    stream.update_into(view[37:], view[37:])
    assert bytes(memory) == oracle("ctr", key, iv, text)


def test_update_into_refuses_what_it_cannot_do(make: Make) -> None:
    stream = make("cbc", bytes(16)).encryptor(bytes(16))
    stream.update(bytes(8))
    memory = memoryview(bytearray(64))
    with pytest.raises(ValueError, match="overlaps"):
        stream.update_into(memory[:24], memory[:32])
    with pytest.raises(ValueError, match="out: 8 bytes were given, at least 32"):
        stream.update_into(bytes(24), bytearray(8))
    assert stream.update(bytes(8)) == oracle("cbc", bytes(16), bytes(16), bytes(16))


def test_rfc3686_counts_on_through_pieces(make: Make) -> None:
    key, iv, text = material("rfc3686", 16, 1000, 6)
    stream = make("rfc3686", key).encryptor(iv)
    out = stream.update(text[:16]) + stream.update(text[16:33]) + stream.update(text[33:])
    assert out == oracle("rfc3686", key, iv, text)
    assert stream.iv == iv
