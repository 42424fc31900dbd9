"""Messages hashed in pieces: any split, copies, bad states, threads."""

from __future__ import annotations

import random
import threading

import pytest
from hash_support import is_keyed, make, message, oracle
from hypothesis import HealthCheck, given, settings, strategies as st
from providers import Family

import cryptodispatch as cd


def test_every_split_of_a_short_message(hashes: Family) -> None:
    text = message(200)
    for name in hashes.names:
        digester = make(hashes.driver(name), name)
        expected = oracle(name, text)
        for cut in range(201):
            stream = digester.new(text[:cut])
            stream.update(text[cut:])
            assert stream.digest() == expected, (name, cut)


def test_two_cuts_around_blocks(hashes: Family) -> None:
    text = message(260)
    edges = (0, 1, 55, 56, 63, 64, 65, 127, 128, 129, 192, 259, 260)
    for name in hashes.names:
        digester = make(hashes.driver(name), name)
        expected = oracle(name, text)
        for first in edges:
            for second in edges:
                if first <= second:
                    stream = digester.new()
                    for piece in (text[:first], text[first:second], text[second:]):
                        stream.update(piece)
                    assert stream.digest() == expected, (name, first, second)


def test_byte_by_byte(hashes: Family) -> None:
    text = message(300)
    for name in hashes.names:
        stream = make(hashes.driver(name), name).new()
        for index in range(300):
            stream.update(text[index : index + 1])
        assert stream.digest() == oracle(name, text), name


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(sizes=st.lists(st.integers(0, 700), max_size=10))
def test_random_splits(hashes: Family, sizes: list[int]) -> None:
    text = message(sum(sizes))
    for name in hashes.names:
        stream, position = make(hashes.driver(name), name).new(), 0
        for size in sizes:
            stream.update(text[position : position + size])
            position += size
        assert stream.digest() == oracle(name, text), name


# R105: a digest in the middle does not end or change the message.
def test_r105_update_after_digest(hashes: Family) -> None:
    for name in hashes.names:
        digester = make(hashes.driver(name), name)
        for sizes in ((0, 0), (0, 5), (5, 59), (64, 64), (63, 1), (100, 1000), (64, 0)):
            text = message(sum(sizes))
            stream = digester.new(text[: sizes[0]])
            first = stream.digest()
            assert first == stream.digest() == oracle(name, text[: sizes[0]]), (name, sizes)
            stream.update(text[sizes[0] :])
            assert stream.hexdigest() == oracle(name, text).hex(), (name, sizes)


def test_copies_go_their_own_way(hashes: Family) -> None:
    for name in hashes.names:
        digester = make(hashes.driver(name), name)
        for size in (0, 1, 63, 64, 65, 1000):
            stream = digester.new(message(size))
            copy = stream.copy()
            stream.update(b"stream")
            copy.update(b"copy")
            again = copy.copy()
            del stream
            again.update(b" again")
            assert copy.digest() == oracle(name, message(size) + b"copy")
            assert again.digest() == oracle(name, message(size) + b"copy again")


def test_facts_of_a_stream(hashes: Family) -> None:
    for name in hashes.names:
        stream = make(hashes.driver(name), name).new()
        assert (stream.name, stream.block_size) == (name, 64)
        assert stream.digest_size == len(stream.digest())


def test_key_cannot_change_under_a_stream(hashes: Family) -> None:
    for name in filter(is_keyed, hashes.names):
        digester = make(hashes.driver(name), name)
        stream = digester.new(b"a")
        copy = stream.copy()
        with pytest.raises(RuntimeError, match="under way"):
            digester.set_key(b"new")
        del stream
        with pytest.raises(RuntimeError, match="under way"):
            digester.set_key(b"new")
        del copy
        digester.set_key(b"new")
        assert digester.digest(b"a") == oracle(name, b"a", b"new")


def test_bad_states_are_refused_and_change_nothing(hashes: Family) -> None:
    for name in hashes.names:
        stream = make(hashes.driver(name), name).new(b"abc")
        blob = stream.export_state()
        assert len(blob) == 240
        other = "md5" if name != "md5" else "sha1"
        foreign = make(f"{other}-lib", other).new(b"abc").export_state()
        with pytest.raises(ValueError, match=f"of another algorithm .* {name.split('(')[0]}"):
            stream.import_state(foreign)
        for bad in (b"", blob[:-1], blob + b"\0", bytes(240), b"\xff" * 240):
            with pytest.raises(ValueError, match="blob: "):
                stream.import_state(bad)
        assert stream.digest() == oracle(name, b"abc")


def test_damaged_states_never_crash(hashes: Family) -> None:
    """Whatever bit is wrong: an error, or a state that gives some digest; the stream works on."""
    name = hashes.names[-1]
    digester = make(hashes.driver(name), name)
    blob = digester.new(message(100)).export_state()
    for bit in range(0, 8 * len(blob), 3):
        damaged = bytearray(blob)
        damaged[bit // 8] ^= 1 << bit % 8
        stream = digester.new()
        try:
            stream.import_state(damaged)
            stream.update(message(70))
            stream.digest()
        except ValueError:
            pass
        stream.import_state(blob)
        assert stream.digest() == oracle(name, message(100)), bit


# R103: updates of one stream from two threads are each taken whole.
def test_r103_two_threads_update_one_stream(hashes: Family) -> None:
    slow = hashes.on_engine
    count = 1000 if slow else 10_000
    for name in hashes.names[:: 3 if slow else 2]:
        stream = make(hashes.driver(name), name).new()

        def work(size: int, stream: cd.HashStream = stream) -> None:
            for _ in range(count):
                stream.update(b"x" * size)

        threads = [threading.Thread(target=work, args=(size,)) for size in (1, 4096)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert stream.digest() == oracle(name, b"x" * (count * 4097)), name


# R071: copies in opposite directions must not wait for each other.
def test_r071_states_exchanged_in_opposite_directions(hashes: Family) -> None:
    name = hashes.names[0]
    digester = make(hashes.driver(name), name)
    a, b = digester.new(b"a"), digester.new(b"b")

    def work(target: cd.HashStream, source: cd.HashStream) -> None:
        for _ in range(10_000):
            target.import_state(source.export_state())
            source.copy()

    threads = [threading.Thread(target=work, args=pair) for pair in ((a, b), (b, a))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
        assert not thread.is_alive()
    a.import_state(a.export_state())
    assert {a.digest(), b.digest()} <= {oracle(name, b"a"), oracle(name, b"b")}


def test_streams_in_threads_of_one_object(hashes: Family) -> None:
    digesters = {name: make(hashes.driver(name), name) for name in hashes.names}
    bad: list[str] = []

    def work(seed: int) -> None:
        source = random.Random(seed)
        for _ in range(15):
            name = source.choice(hashes.names)
            stream, text = digesters[name].new(), b""
            for _ in range(source.randrange(6)):
                piece = source.randbytes(source.choice([0, 1, 63, 64, 65, 1000]))
                stream.update(piece)
                text += piece
            if stream.digest() != oracle(name, text):
                bad.append(f"{name} {len(text)}")

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not bad
