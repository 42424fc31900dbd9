"""The public classes as a newcomer meets them: wrong arguments, signatures, copies, buffers."""

from __future__ import annotations

import array
import copy
import ctypes
import inspect
import multiprocessing
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

import cryptodispatch as cd
from cryptodispatch import eip93

KEY = IV = bytes(16)
AEAD = "authenc(hmac(sha256),cbc(aes))"
SIGNATURES = {
    cd.Cipher: "(algorithm, key=None)",
    cd.Hash: "(algorithm, key=None)",
    cd.Aead: "(algorithm, key=None, auth_key=None, tag_size=None)",
}


@pytest.fixture
def device() -> Iterator[eip93.Device]:
    """For one test: some are about engines that are not there."""
    with eip93.Device.emulated() as opened:
        yield opened


def cipher() -> cd.Cipher:
    return cd.Cipher("cbc(aes)", KEY)


# Constructors


@pytest.mark.parametrize("kind", list(SIGNATURES), ids=lambda kind: kind.__name__)
def test_signatures(kind: type) -> None:
    assert str(inspect.signature(kind)) == SIGNATURES[kind]
    assert inspect.getdoc(kind).startswith("One ")
    assert not [name for name in vars(kind) if "cython" in name]


@pytest.mark.parametrize("kind", list(SIGNATURES), ids=lambda kind: kind.__name__)
@pytest.mark.parametrize(
    ("arguments", "named", "said"),
    [
        ((), {}, "algorithm: none was given"),
        ((), {"name": "md5"}, "name: there is no such argument"),
        (("md5",), {"size": 1}, "size: there is no such argument"),
        (("md5", b"", b"", 1, 2), {}, "too many arguments"),
        ((5,), {}, "algorithm: int was given, str is needed"),
    ],
)
def test_constructors_name_the_argument(
    kind: type, arguments: tuple[object, ...], named: dict[str, object], said: str
) -> None:
    with pytest.raises(TypeError, match=said) as caught:
        kind(*arguments, **named)
    if "int" not in said:
        assert str(caught.value).endswith(kind.__name__ + SIGNATURES[kind])
    assert "__cinit__" not in str(caught.value)


# Arguments of other calls


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: cd.Aead(AEAD, KEY, b"k", tag_size="16"), TypeError, "tag_size: str"),
        (lambda: cd.Aead(AEAD, KEY, b"k", tag_size=16.0), TypeError, "tag_size: float"),
        (lambda: cd.set_gil_release_size("1"), TypeError, "size: str was given, int"),
        (lambda: cd.set_gil_release_size(None), TypeError, "size: NoneType"),
        (lambda: cd.set_gil_release_size(2**70), ValueError, "size: 11805.* 0 to 9223"),
        (lambda: cd.set_gil_release_size(-1), ValueError, "size: -1 was given"),
        (lambda: cd.set_priority("cbc(aes-lib)", "1"), TypeError, "priority: str"),
        (lambda: cd.set_priority("cbc(aes-lib)", 2**31), ValueError, "priority: 2147483648"),
        (lambda: cd.set_priority(5, 1), TypeError, "driver: int was given, str"),
        (lambda: cd.set_priority("cbc(aes-lab)", 1), LookupError, "driver: .*did you mean"),
        (lambda: cipher().submit_encrypt(KEY, IV).result("1"), TypeError, "timeout: str"),
        (lambda: cd.benchmark.measure(cipher(), "16"), TypeError, "size: str was given, int"),
        (lambda: cd.Fallback(None, []), TypeError, "name: NoneType was given, str"),
        (lambda: cd.Fallback("f", None), TypeError, "groups: NoneType was given, a list"),
        (lambda: cipher().encrypt(b"1", IV), ValueError, "data: 1 byte was given"),
        (lambda: cipher().encrypt(KEY, b"1"), ValueError, "iv: 1 byte was given"),
        (lambda: cipher().encrypt(KEY, b"12"), ValueError, "iv: 2 bytes were given"),
        (lambda: cd.Cipher("cbc(aes)", b"1"), cd.InvalidKeyError, "key: 1 byte was given"),
    ],
)
def test_errors_name_the_argument(
    call: Callable[[], object], error: type[Exception], said: str
) -> None:
    before = cd.gil_release_size(), cd.algorithms()
    with pytest.raises(error, match=said):
        call()
    assert (cd.gil_release_size(), cd.algorithms()) == before


def test_errors_of_a_fallback_name_the_argument(device: eip93.Device) -> None:
    with pytest.raises(TypeError, match="progress: int was given, a callable"):
        device.fallback.enable(progress=5)  # type: ignore[arg-type]
    assert not device.fallback.enabled
    group = device.fallback["raw_aes"]
    for wrong, error in (
        ("5", TypeError),
        (None, TypeError),
        (1.5, TypeError),
        (2**80, ValueError),
    ):
        with pytest.raises(error, match=r"threshold: .* (was given, int|are allowed)"):
            group.threshold = wrong  # type: ignore[assignment]
    assert group.threshold == 0


def test_offsets_in_a_list() -> None:
    with pytest.raises(TypeError, match=r"offsets: list was given, .*int32 or int64"):
        cipher().encrypt_batch(KEY, [0, 16], IV, bytearray(16))


# Names


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("CTR(AES)", r"'CTR\(AES\)' is not registered; did you mean 'ctr\(aes\)'"),
        ("Cbc(Aes)", r"did you mean 'cbc\(aes\)'"),
        ("cbc(aes-eip93)", "an engine registers it while it is open: .*Device.emulated"),
        ("fallback(cbc(aes-lib))", "a cryptodispatch.Fallback registers it"),
        (
            "x" * 100_000,
            r"^algorithm: 'x{32}'\.\.\. \(100000 characters\) is not registered; .{,50}$",
        ),
        ("-openssl" * 100_000, r"^.{,150}$"),
    ],
)
def test_unknown_names(name: str, said: str) -> None:
    with pytest.raises(cd.UnknownAlgorithmError, match=said):
        cd.Cipher(name)


def test_names_near_those_of_an_open_engine() -> None:
    with eip93.Device.emulated() as device:
        with pytest.raises(LookupError, match=r"did you mean .*'cbc\(aes-eip93\)'"):
            cd.Cipher("cbc(aess-eip93)")
        device.fallback.enable()
        with pytest.raises(LookupError, match=r"did you mean .*'fallback\(cbc\(aes-eip93\)\)'"):
            cd.Cipher("fallback(cbc(aess))")


def test_a_second_device() -> None:
    said = "an EIP-93 is open already, close it first"
    with eip93.Device.emulated(), pytest.raises(cd.DeviceError, match=said):
        eip93.Device.emulated()


# Copies


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_transforms_are_not_copied(duplicate: Callable[[object], object]) -> None:
    made = [
        cipher(),
        cipher().encryptor(IV),
        cipher().submit_encrypt(KEY, IV),
        cd.Hash("md5"),
        cd.Hash("md5").new(),
        cd.Aead(AEAD),
    ]
    for value in made:
        name = type(value).__name__
        with pytest.raises(TypeError, match=f"^{name}: it can be neither pickled nor copied"):
            duplicate(value)


def fail(_number: int) -> None:
    cipher().encrypt_many([KEY, b"short", KEY], [IV, IV, IV])


def test_errors_come_out_of_worker_processes() -> None:
    said = r"records\[1\]: data: 5 bytes"
    spawned = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))
    with spawned as pool, pytest.raises(cd.BatchError, match=said) as caught:
        pool.submit(fail, 1).result()
    with pytest.raises(cd.BatchError) as here:
        fail(1)
    assert caught.value.results == here.value.results
    assert str(caught.value.errors[1]) == str(here.value.errors[1])
    assert str(caught.value) == str(here.value)


@pytest.mark.parametrize("kind", [cd.InvalidKeyError, cd.UnknownAlgorithmError, cd.DeviceError])
def test_other_errors_are_pickled(kind: type[Exception]) -> None:
    back = pickle.loads(pickle.dumps(kind("text")))  # noqa: S301 - it is ours
    assert (type(back), back.args, kind.__module__) == (kind, ("text",), "cryptodispatch")


# What they show


def test_repr() -> None:
    mine = cd.Cipher("cbc(aes-lib)", KEY)
    request = mine.submit_encrypt(KEY, IV)
    assert repr(request) == "<Request of cbc(aes) by cbc(aes-lib), 16 bytes, done>"
    encryptor, decryptor = mine.encryptor(IV), mine.decryptor(IV)
    assert repr(encryptor) == "<CipherStream encrypting cbc(aes) by cbc(aes-lib)>"
    assert repr(decryptor) == "<CipherStream decrypting cbc(aes) by cbc(aes-lib)>"
    encryptor.finalize()
    assert repr(encryptor) == "<CipherStream finalized>"
    mine.close()
    assert repr(decryptor) == "<CipherStream closed>"
    assert repr(request) == "<Request of a closed cipher, 16 bytes, done>"
    hasher = cd.Hash("md5-lib")
    stream = hasher.new()
    assert repr(stream) == "<HashStream of md5 by md5-lib>"
    hasher.close()
    assert repr(stream) == "<HashStream closed>"


def test_repr_of_a_request_under_way(device: eip93.Device) -> None:
    mine = cd.Cipher("cbc(aes-eip93)", KEY)
    request = mine.submit_encrypt(KEY, IV)
    assert repr(request) == "<Request of cbc(aes) by cbc(aes-eip93), 16 bytes, under way>"
    request.result()
    assert repr(request).endswith("done>")


def test_hexdigest() -> None:
    hasher = cd.Hash("hmac(sha256)", b"key")
    for data in (b"", b"abc", bytearray(b"abc"), memoryview(b"abc" * 5000)):
        assert hasher.hexdigest(data) == hasher.digest(data).hex() == hasher.new(data).hexdigest()
    with pytest.raises(TypeError, match="data: str"):
        hasher.hexdigest("abc")  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", list(SIGNATURES), ids=lambda kind: kind.__name__)
def test_with_on_what_is_closed(kind: type) -> None:
    transform = kind({cd.Cipher: "cbc(aes)", cd.Hash: "md5", cd.Aead: AEAD}[kind])
    transform.close()
    with pytest.raises(ValueError, match="it is closed"), transform:
        pass


def test_with_on_a_closed_device() -> None:
    device = eip93.Device.emulated()
    device.close()
    for closed in (device, device.emulator):
        with pytest.raises(cd.DeviceError, match="it is closed"), closed:
            pass


# Buffers


def objects() -> list[object]:
    mixed = np.zeros(2, dtype=[("number", "i8"), ("thing", object)])
    untold = np.zeros(1, dtype=[("time", "M8[s]"), ("thing", object)])
    some = np.array([None, None])
    other = [mixed, untold, some.reshape(1, 2), (ctypes.py_object * 2)(1, 2)]
    return [some, memoryview(some), *other]


@pytest.mark.parametrize("index", range(6))
def test_pointers_to_objects_are_no_data(index: int) -> None:
    value = objects()[index]
    said = ": .* of Python objects was given"
    with pytest.raises(TypeError, match="data" + said):
        cipher().encrypt(value, IV)
    with pytest.raises(TypeError, match="out" + said):
        cipher().encrypt_into(KEY, value, IV)
    with pytest.raises(TypeError, match="iv" + said):
        cipher().encrypt(KEY, value)
    with pytest.raises(TypeError, match="data" + said):
        cd.Hash("md5").digest(value)
    with pytest.raises(TypeError, match="values" + said):
        cipher().encrypt_batch(value, array.array("i", [0, 16]), IV, bytearray(16))


@pytest.mark.parametrize(
    "value",
    [
        np.arange(2),
        np.array([1, 2], dtype="M8[s]"),  # which has no format to tell
        np.zeros(1, dtype=[("O", "i8"), ("kO", "i8")]),  # a name is no format
        np.zeros(1, dtype=[("Oo", "f8", (2,))]),
        np.array([[1.5], [2.5]]),
        array.array("d", [1, 2]),
        array.array("B", KEY),
        (ctypes.c_int64 * 2)(1, 2),
        memoryview(np.arange(2)),
        memoryview(KEY),
    ],
    ids=lambda value: type(value).__name__,
)
def test_numbers_of_any_size_are_data(value: object) -> None:
    text = bytes(memoryview(value).cast("B")) if not isinstance(value, np.ndarray) else (
        value.tobytes()
    )  # fmt: skip
    assert cipher().encrypt(value, IV) == cipher().encrypt(text, IV)
    assert cd.Hash("md5").digest(value) == cd.Hash("md5").digest(text)


# Importing


def test_the_import_is_light() -> None:
    code = (
        "import sys; before = set(sys.modules); import cryptodispatch as cd; "
        "print(*sorted(name.partition('.')[0] for name in set(sys.modules) - before)); "
        "assert cd.Fallback and cd.benchmark.SIZES and set(cd.__all__) <= set(dir(cd))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "cryptodispatch" in run.stdout.split()
    assert not {"dataclasses", "typing", "pathlib", "inspect", "re"} & set(run.stdout.split())
