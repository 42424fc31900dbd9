"""Batches take and fill memory of any kind that has the buffer protocol, without copies of it."""

from __future__ import annotations

import array
import ctypes
import hashlib
import hmac
import mmap
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from aes_support import oracle

import cryptodispatch as cd

numpy = pytest.importorskip("numpy")
pyarrow = pytest.importorskip("pyarrow")

KEY = bytes(range(16))
NONCED = bytes(range(20))  # AES-128 key and RFC 3686 nonce
TEXTS = [random.Random(size).randbytes(size) for size in (0, 5, 16, 17, 0, 64, 100, 300, 1, 0)]
VALUES = b"".join(TEXTS)
BOUNDS = [sum(map(len, TEXTS[:index])) for index in range(len(TEXTS) + 1)]
IVS = [bytes([index]) * 16 for index in range(len(TEXTS))]
CIPHERED = b"".join(oracle("ctr", KEY, iv, text) for iv, text in zip(IVS, TEXTS, strict=True))
DIGESTS = b"".join(hashlib.sha256(text).digest() for text in TEXTS)


def mapped(data: bytes) -> mmap.mmap:
    memory = mmap.mmap(-1, max(len(data), 1))
    memory[: len(data)] = data
    return memory


def arrow_memory(data: bytes) -> object:
    memory = pyarrow.allocate_buffer(len(data))
    memoryview(memory).cast("B")[:] = data
    return memory


WRITABLE: dict[str, Callable[[bytes], object]] = {
    "bytearray": bytearray,
    "memoryview": lambda data: memoryview(bytearray(data)),
    "memoryview-slice": lambda data: memoryview(bytearray(b"12345" + data + b"6789"))[5:-4],
    "array": lambda data: array.array("B", data),
    "ctypes": lambda data: (ctypes.c_uint8 * len(data)).from_buffer_copy(data),
    "mmap": mapped,
    "numpy": lambda data: numpy.frombuffer(data, numpy.uint8).copy(),
    "numpy-slice": lambda data: numpy.frombuffer(b"123" + data + b"4", numpy.uint8).copy()[3:-1],
    "numpy-matrix": lambda data: numpy.frombuffer(data, numpy.int8).copy().reshape(1, -1),
    "pyarrow": arrow_memory,
}
READABLE: dict[str, Callable[[bytes], object]] = WRITABLE | {
    "bytes": bytes,
    "memoryview-of-bytes": memoryview,
    "numpy-read-only": lambda data: numpy.frombuffer(data, numpy.uint8),
    "numpy-void": lambda data: numpy.array([data], f"V{len(data)}"),
    "pyarrow-of-bytes": pyarrow.py_buffer,
    "pyarrow-slice": lambda data: arrow_memory(b"12" + data + b"345").slice(2, len(data)),
    "pyarrow-array": lambda data: pyarrow.array([data], pyarrow.large_binary()).buffers()[2],
}
OFFSETS: dict[str, Callable[[list[int]], object]] = {
    "array-i": lambda bounds: array.array("i", bounds),
    "array-l": lambda bounds: array.array("l", bounds),
    "array-q": lambda bounds: array.array("q", bounds),
    "memoryview": lambda bounds: memoryview(array.array("i", bounds)),
    "memoryview-cast": lambda bounds: memoryview(array.array("q", bounds).tobytes()).cast("q"),
    "ctypes": lambda bounds: (ctypes.c_int64 * len(bounds))(*bounds),
    "numpy-int32": lambda bounds: numpy.array(bounds, numpy.int32),
    "numpy-int64": lambda bounds: numpy.array(bounds, numpy.int64),
    "numpy-slice": lambda bounds: numpy.array([-7, *bounds, 9], numpy.int32)[1:-1],
}


def content(memory: object) -> bytes:
    return memoryview(memory).cast("B").tobytes() if memory is not None else b""


@pytest.fixture(params=list(READABLE))
def readable(request: pytest.FixtureRequest) -> Iterator[Callable[[bytes], object]]:
    return READABLE[request.param]


@pytest.fixture(params=list(WRITABLE))
def writable(request: pytest.FixtureRequest) -> Iterator[Callable[[bytes], object]]:
    return WRITABLE[request.param]


@pytest.fixture(params=list(OFFSETS))
def offsets(request: pytest.FixtureRequest) -> object:
    return OFFSETS[request.param](BOUNDS)


def sealed_by_others() -> tuple[bytes, list[int]]:
    """What authenc(hmac(sha256),rfc3686(ctr(aes))) gives, by other means; tags of 16 bytes."""
    cells = []
    for iv, text in zip(IVS, TEXTS, strict=True):
        cell = oracle("rfc3686", NONCED, iv[:8], text)
        cells.append(cell + hmac.digest(b"auth", iv[:8] + b"aad" + cell, "sha256")[:16])
    return b"".join(cells), [sum(map(len, cells[:index])) for index in range(len(cells) + 1)]


SEALED, SEALED_BOUNDS = sealed_by_others()


@pytest.fixture(scope="module")
def aead() -> cd.Aead:
    return cd.Aead("authenc(hmac(sha256),rfc3686(ctr(aes)))", NONCED, auth_key=b"auth", tag_size=16)


# What is read


def test_values_and_ivs_of_any_kind(readable, aead):
    out = bytearray(len(VALUES))
    bounds = array.array("q", BOUNDS)
    cipher = cd.Cipher("ctr(aes)", KEY)
    assert cipher.encrypt_batch(readable(VALUES), bounds, readable(b"".join(IVS)), out) == len(out)
    assert bytes(out) == CIPHERED
    cipher.decrypt_batch(readable(CIPHERED), bounds, readable(b"".join(IVS)), out)
    assert bytes(out) == VALUES
    digests = bytearray(len(DIGESTS))
    assert cd.Hash("sha256").digest_batch(readable(VALUES), bounds, digests) == len(DIGESTS)
    assert bytes(digests) == DIGESTS
    ivs = b"".join(iv[:8] for iv in IVS)
    aads = b"".join(iv[:8] + b"aad" for iv in IVS)
    aad_bounds = array.array("i", range(0, len(aads) + 1, 11))
    out = bytearray(len(SEALED))
    assert aead.encrypt_batch(
        readable(VALUES), bounds, readable(ivs), out, readable(aads), aad_bounds
    ) == len(SEALED)
    assert bytes(out) == SEALED
    back = bytearray(len(VALUES))
    sealed_bounds = array.array("i", SEALED_BOUNDS)
    assert aead.decrypt_batch(
        readable(SEALED), sealed_bounds, readable(ivs), back, readable(aads), aad_bounds
    ) == len(VALUES)
    assert bytes(back) == VALUES


def test_offsets_of_any_kind(offsets, aead):
    out = bytearray(len(VALUES))
    ivs = b"".join(IVS)
    cd.Cipher("ctr(aes)", KEY).encrypt_batch(VALUES, offsets, ivs, out)
    assert bytes(out) == CIPHERED
    digests = bytearray(len(DIGESTS))
    cd.Hash("sha256").digest_batch(VALUES, offsets, digests)
    assert bytes(digests) == DIGESTS
    out = bytearray(len(SEALED))
    # The records' own bytes as AAD too: offsets of one kind twice.
    aead.encrypt_batch(VALUES, offsets, ivs[: 8 * len(IVS)], out, VALUES, offsets)
    expected = [
        aead.encrypt(text, ivs[8 * index : 8 * index + 8], text) for index, text in enumerate(TEXTS)
    ]
    assert bytes(out) == b"".join(expected)


@pytest.mark.parametrize(
    "kind", [pyarrow.binary(), pyarrow.string(), pyarrow.large_binary(), pyarrow.large_string()]
)
def test_buffers_of_an_arrow_array(kind, aead):
    """Offsets and values as Arrow has them; its buffers do not say what is in them."""
    width = 8 if kind in (pyarrow.large_binary(), pyarrow.large_string()) else 4
    _, bounds, values = pyarrow.array(TEXTS, pyarrow.binary()).view(pyarrow.binary()).buffers()
    if width == 8:
        bounds = pyarrow.py_buffer(numpy.frombuffer(bounds, numpy.int32).astype(numpy.int64))
    column = pyarrow.Array.from_buffers(kind, len(TEXTS), [None, bounds, values])
    _, bounds, values = column.buffers()
    cipher = cd.Cipher("ctr(aes)", KEY)
    out = pyarrow.allocate_buffer(len(VALUES))
    with pytest.raises(ValueError, match=r"offsets: items of format 'b' .* offset_size"):
        cipher.encrypt_batch(values, bounds, b"".join(IVS), out)
    cipher.encrypt_batch(values, bounds, b"".join(IVS), out, offset_size=width)
    assert out.to_pybytes() == CIPHERED
    # A slice shares the buffers: its offsets are a part of theirs.
    part = column.slice(3, 4)
    item = numpy.int64 if width == 8 else numpy.int32
    here = numpy.frombuffer(part.buffers()[1], item)[part.offset : part.offset + len(part) + 1]
    out = numpy.full(len(VALUES), 7, numpy.uint8)
    assert cipher.encrypt_batch(values, here, b"".join(IVS[3:7]), out) == BOUNDS[7]
    assert out.tobytes() == bytes([7]) * BOUNDS[3] + CIPHERED[BOUNDS[3] : BOUNDS[7]] + bytes(
        [7]
    ) * (len(VALUES) - BOUNDS[7])


def test_file_mapped_for_reading(tmp_path):
    path = tmp_path / "values"
    path.write_bytes(VALUES)
    out = bytearray(len(VALUES))
    bounds, ivs = array.array("i", BOUNDS), b"".join(IVS)
    cipher = cd.Cipher("ctr(aes)", KEY)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as memory:
        cipher.encrypt_batch(memory, bounds, ivs, out)
        with pytest.raises(TypeError, match="out: a read-only mmap"):
            cipher.encrypt_batch(memory, bounds, ivs, memory)
    assert bytes(out) == CIPHERED
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
        cipher.encrypt_batch(memory, bounds, ivs, memory)  # the file itself, in place
    assert path.read_bytes() == CIPHERED


# What is written


def test_output_of_any_kind(writable, aead):
    bounds, ivs = array.array("i", BOUNDS), b"".join(IVS)
    cipher = cd.Cipher("ctr(aes)", KEY)
    out = writable(b"\xee" * len(VALUES))
    assert cipher.encrypt_batch(VALUES, bounds, ivs, out) == len(VALUES)
    assert content(out) == CIPHERED
    assert cipher.decrypt_batch(out, bounds, ivs, out) == len(VALUES)  # in place
    assert content(out) == VALUES
    digests = writable(bytes(len(DIGESTS)))
    cd.Hash("sha256").digest_batch(VALUES, bounds, digests)
    assert content(digests) == DIGESTS
    ivs = b"".join(iv[:8] for iv in IVS)
    aads = b"".join(iv[:8] + b"aad" for iv in IVS)
    aad_bounds = numpy.arange(len(TEXTS) + 1) * 11
    out = writable(bytes(len(SEALED)))
    aead.encrypt_batch(VALUES, bounds, ivs, out, aads, aad_bounds)
    assert content(out) == SEALED
    back = writable(bytes(len(VALUES)))
    aead.decrypt_batch(out, array.array("q", SEALED_BOUNDS), ivs, back, aads, aad_bounds)
    assert content(back) == VALUES


# What is refused, and what is held


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"values": numpy.zeros(64, numpy.uint8)[::2]}, ValueError, "values: a ndarray that is no"),
        (
            {"values": numpy.zeros((4, 8), numpy.uint8, order="F")},
            ValueError,
            "values: a ndarray that is no",
        ),
        ({"out": numpy.zeros(64, numpy.uint8)[::2]}, ValueError, "out: a ndarray that is not cont"),
        ({"out": numpy.frombuffer(bytes(32), numpy.uint8)}, TypeError, "out: a read-only ndarray"),
        ({"out": pyarrow.py_buffer(bytes(32))}, TypeError, "out: a read-only Buffer"),
        ({"out": memoryview(bytes(32))}, TypeError, "out: a read-only memoryview"),
        ({"values": pyarrow.array([bytes(32)])}, TypeError, "values: BinaryArray was given"),
        ({"offsets": pyarrow.array([0, 16, 32])}, TypeError, "offsets: Int64Array was given"),
        ({"offsets": numpy.array([0, 16, 32], ">i4")}, ValueError, "format '>i'"),
        ({"offsets": numpy.array([0, 16, 32], numpy.uint32)}, ValueError, "format 'I'"),
        ({"offsets": numpy.array([0, 16, 32], numpy.int16)}, ValueError, "format 'h'"),
        ({"offsets": numpy.array([0.0, 16, 32])}, ValueError, "format 'd'"),
        ({"offsets": numpy.array([[0, 16, 32]])}, ValueError, "in 2 dimensions"),
        ({"offsets": numpy.array([0, 1, 16, 2, 32, 3])[::2]}, ValueError, "offsets: a ndarray"),
        ({"offsets": numpy.array([0, 16, 33])}, ValueError, r"offsets\[2\]: 33"),
        ({"ivs": numpy.zeros((2, 15), numpy.uint8)}, ValueError, "ivs: 30 bytes"),
        ({"ivs": numpy.zeros((2, 32), numpy.uint8)[:, ::2]}, ValueError, "ivs: a ndarray"),
    ],
)
def test_wrong_buffers(change, error, said):
    arguments = {
        "values": numpy.zeros(32, numpy.uint8),
        "offsets": numpy.array([0, 16, 32]),
        "ivs": numpy.zeros((2, 16), numpy.uint8),
        "out": numpy.zeros(32, numpy.uint8),
    }
    cipher = cd.Cipher("ctr(aes)", KEY)
    with pytest.raises(error, match=said):
        cipher.encrypt_batch(**(arguments | change))
    assert cipher.encrypt_batch(**arguments) == 32


def test_overlapping_views_are_refused(aead):
    memory = numpy.zeros(96, numpy.uint8)
    bounds = numpy.array([0, 16, 32])
    cipher = cd.Cipher("ctr(aes)", KEY)
    for out in (memory[1:33], memory[31:63]):
        with pytest.raises(ValueError, match="out: it overlaps values"):
            cipher.encrypt_batch(memory[:32], bounds, bytes(32), out)
    with pytest.raises(ValueError, match="out: it overlaps ivs"):
        cipher.encrypt_batch(memory[:32], bounds, memory[32:64], memory[48:80])
    with pytest.raises(ValueError, match="out: it overlaps aads"):
        aead.encrypt_batch(bytes(32), bounds, bytes(16), memory[:64], memory[63:95], bounds)
    assert not memory.any()


@pytest.mark.parametrize("fails", [False, True])
def test_no_view_is_held_after_the_call(fails, aead):
    """Memory can be given back: a bytearray resized, a map closed, an array grown."""
    values, ivs, out = bytearray(32), mapped(bytes(16)), bytearray(64)
    aads, bounds = array.array("B", bytes(32)), array.array("q", [0, 16, 32])
    aad_bounds = array.array("i", [0, 16, 33 if fails else 32])
    views = (values, bounds, ivs, out, aads, aad_bounds)
    if fails:
        with pytest.raises(ValueError, match=r"offsets\[2\]: 33"):
            aead.encrypt_batch(*views)
    else:
        aead.encrypt_batch(*views)
        with pytest.raises(cd.BatchError):
            aead.decrypt_batch(out, array.array("i", [0, 32, 63]), ivs, bytearray(31))
    values.clear()
    out.clear()
    ivs.close()
    for memory in (aads, bounds, aad_bounds):
        memory.append(1)


def test_memory_lives_as_long_as_the_call():
    """Owners that nothing else refers to."""
    out = bytearray(len(VALUES))
    for _ in range(50):
        cd.Cipher("ctr(aes)", KEY).encrypt_batch(
            numpy.frombuffer(VALUES, numpy.uint8).copy()[:],
            numpy.array(BOUNDS)[:],
            arrow_memory(b"".join(IVS)).slice(0),
            memoryview(out)[:],
        )
        assert bytes(out) == CIPHERED


# What is not needed


def test_neither_is_imported():
    """By the package or any module of it but the example."""
    names = [
        ".".join(path.relative_to(Path(cd.__file__).parents[1]).with_suffix("").parts)
        for path in Path(cd.__file__).parent.rglob("*.py")
        if "examples" not in path.parts and path.name != "__main__.py"
    ]
    assert "cryptodispatch.cli._crypt" in names
    program = (
        "import importlib, sys\n"
        f"for name in {sorted(names)!r}: importlib.import_module(name)\n"
        "print([name for name in ('numpy', 'pyarrow') if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")
