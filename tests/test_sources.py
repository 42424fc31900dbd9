"""Other sources of software: libcrypto, PyCryptodome, AES with large tables and with none."""

from __future__ import annotations

import hashlib
import hmac
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from aes_support import MODES, block_size, material, oracle
from cryptography.hazmat.decrepit.ciphers.algorithms import TripleDES
from cryptography.hazmat.primitives.ciphers import Cipher as OracleCipher, modes

import cryptodispatch as cd
from cryptodispatch import _engine

DIGESTS = ("md5", "sha1", "sha224", "sha256")
FORMS = ("openssl", "pycryptodome", "generic", "fixed-time")


@pytest.fixture(scope="module")
def libcrypto() -> None:
    """The system's libcrypto is loaded; where there is none, that is a skip with the reason."""
    reason = _engine.load_openssl()
    if reason:
        assert "libcrypto" in reason
        pytest.skip(reason)


@pytest.fixture(scope="module")
def pycryptodome() -> None:
    """An installed PyCryptodome is loaded; where there is none, that is a skip with the reason."""
    reason = _engine.load_pycryptodome()
    if reason:
        assert "PyCryptodome" in reason
        pytest.skip(reason)


@pytest.fixture(params=FORMS)
def form(request: pytest.FixtureRequest) -> str:
    """Each source of AES in turn, as in driver names."""
    if request.param == "openssl":
        request.getfixturevalue("libcrypto")
    if request.param == "pycryptodome":
        request.getfixturevalue("pycryptodome")
    return str(request.param)


def driver(mode: str, form: str) -> str:
    return f"rfc3686(ctr(aes-{form}))" if mode == "rfc3686" else f"{mode}(aes-{form})"


def modes_of(form: str) -> tuple[str, ...]:
    return tuple(mode for mode in MODES if form != "pycryptodome" or mode != "rfc3686")


def run_python(program: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
    )


def loaded_file() -> Path:
    library = _engine.openssl_library()
    assert library is not None
    return Path(library[1]).resolve()


# Loading


def test_import_loads_nothing() -> None:
    program = """
import cryptodispatch
from cryptodispatch import _engine
assert _engine.openssl_library() is None
assert not [e for e in cryptodispatch.algorithms() if "openssl" in e.driver]
assert not [e for e in cryptodispatch.algorithms() if "pycryptodome" in e.driver]
cryptodispatch.Cipher("cbc(aes)", bytes(16)).encrypt(bytes(16), bytes(16))
assert _engine.openssl_library() is None
"""
    assert run_python(program).stderr == ""


@pytest.mark.usefixtures("libcrypto")
@pytest.mark.parametrize("name", ["cbc(aes-openssl)", "sha256-openssl", "hmac(md5-openssl)"])
def test_a_name_loads_it(name: str) -> None:
    kind = "Cipher" if "aes" in name else "Hash"
    program = f"""
import cryptodispatch
from cryptodispatch import _engine
default = cryptodispatch.Cipher("cbc(aes)").driver
print(cryptodispatch.{kind}({name!r}).driver)
assert _engine.openssl_library() is not None
print(default, cryptodispatch.Cipher("cbc(aes)").driver)
"""
    result = run_python(program)
    assert result.stderr == ""
    first, second = result.stdout.splitlines()
    assert first == name
    before, after = second.split()
    assert before in (after, "cbc(aes-lib)")


@pytest.mark.usefixtures("libcrypto")
def test_version_and_file_are_told() -> None:
    library = _engine.openssl_library()
    assert library is not None
    assert library[0].startswith(("OpenSSL 3.", "OpenSSL 4."))
    assert "site-packages" not in library[1]
    assert loaded_file().is_file()
    assert _engine.load_openssl() == ""


@pytest.mark.usefixtures("libcrypto")
def test_everything_is_listed_below_what_is_the_default() -> None:
    found = {entry.driver: entry for entry in cd.algorithms()}
    assert {name for name in found if "openssl" in name} == {
        *(driver(mode, "openssl") for mode in MODES),
        "ecb(des3_ede-openssl)",
        "cbc(des3_ede-openssl)",
        *(f"{name}-openssl" for name in DIGESTS),
        *(f"hmac({name}-openssl)" for name in DIGESTS),
    }
    for name, entry in found.items():
        if "openssl" in name:
            ours = found[name.replace("-openssl", "-lib")]
            fields = ("name", "type", "block_size", "iv_size", "digest_size", "key_sizes")
            assert [getattr(entry, f) for f in fields] == [getattr(ours, f) for f in fields]
            assert entry.available
            assert not entry.asynchronous


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        pytest.param("", "is set to nothing", id="forbidden"),
        pytest.param("libcrypto.so.nothing", "cannot be loaded", id="not there"),
        pytest.param("libm.so.6", "has no function", id="another library"),
    ],
)
def test_a_failure_is_soft_and_says_why(value: str, reason: str) -> None:
    program = """
import cryptodispatch
from cryptodispatch import _engine
before = len(cryptodispatch.algorithms())
print(_engine.load_openssl())
for make, name in [("Cipher", "cbc(aes-openssl)"), ("Hash", "md5-openssl")]:
    try:
        getattr(cryptodispatch, make)(name)
    except cryptodispatch.UnknownAlgorithmError as error:
        print(error)
assert len(cryptodispatch.algorithms()) == before
assert _engine.openssl_library() is None
cryptodispatch.Cipher("cbc(aes)", bytes(16)).encrypt(bytes(16), bytes(16))
"""
    result = run_python(program, CRYPTODISPATCH_LIBCRYPTO=value)
    assert result.stderr == ""
    lines = result.stdout.splitlines()
    assert len(lines) == 3
    assert all(reason in line for line in lines)
    assert "'cbc(aes-openssl)'" in lines[1]


@pytest.mark.usefixtures("libcrypto")
def test_another_file_may_be_named_but_not_that_of_a_package(tmp_path: Path) -> None:
    program = "from cryptodispatch import _engine; print(_engine.load_openssl() or 'loaded')"
    taken = shutil.copy(loaded_file(), tmp_path / "libcrypto.so.3")
    assert run_python(program, CRYPTODISPATCH_LIBCRYPTO=str(taken)).stdout == "loaded\n"
    package = tmp_path / "site-packages"
    package.mkdir()
    packaged = shutil.copy(taken, package / "libcrypto.so.3")
    by_path = run_python(program, CRYPTODISPATCH_LIBCRYPTO=str(packaged)).stdout
    assert "belongs to a Python package" in by_path
    by_link = tmp_path / "link.so"
    by_link.symlink_to(packaged)
    linked = run_python(program, CRYPTODISPATCH_LIBCRYPTO=str(by_link)).stdout
    assert "belongs to a Python package" in linked
    # The loader finds the package's copy first, under the name that is asked for.
    name = loaded_file().name
    if name != "libcrypto.so.3":
        return
    by_name = run_python(program, LD_LIBRARY_PATH=str(package)).stdout
    assert "belongs to a Python package" in by_name


@pytest.mark.usefixtures("pycryptodome")
def test_a_name_loads_pycryptodome_without_importing_it() -> None:
    program = """
import sys
import cryptodispatch
print(cryptodispatch.Cipher("cbc(aes-pycryptodome)").driver)
print([name for name in sys.modules if name.startswith("Crypto")])
print(*sorted(e.driver for e in cryptodispatch.algorithms() if "pycryptodome" in e.driver))
"""
    result = run_python(program)
    assert result.stderr == ""
    assert result.stdout.splitlines() == [
        "cbc(aes-pycryptodome)",
        "[]",
        "cbc(aes-pycryptodome) ctr(aes-pycryptodome) ecb(aes-pycryptodome)",
    ]


@pytest.mark.parametrize("broken", [False, True])
def test_pycryptodome_that_is_not_there_is_a_reason(tmp_path: Path, *, broken: bool) -> None:
    if broken:
        (tmp_path / "Crypto" / "Cipher").mkdir(parents=True)
        (tmp_path / "Crypto" / "__init__.py").touch()
        (tmp_path / "Crypto" / "Cipher" / "_raw_aes.abi3.so").write_bytes(b"no library")
    finder = "" if broken else "importlib.util.find_spec = lambda name: None"
    program = f"""
import importlib.util, sys
import cryptodispatch
sys.path.insert(0, {str(tmp_path)!r})
{finder}
print(cryptodispatch._engine.load_pycryptodome())
try:
    cryptodispatch.Cipher("cbc(aes-pycryptodome)")
except cryptodispatch.UnknownAlgorithmError as error:
    print(error)
"""
    result = run_python(program)
    assert result.stderr == ""
    first, second = result.stdout.splitlines()
    assert ("has no _raw_aes" if broken else "is not installed") in first
    assert second.endswith(f"cannot run here: {first}")


# Results


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("key_size", [16, 24, 32])
def test_aes_agrees_with_the_oracle(form: str, mode: str, key_size: int) -> None:
    if mode not in modes_of(form):
        pytest.skip(f"{form} has no {mode}")
    key, iv, text = material(mode, key_size, 300, 1)
    cipher = cd.Cipher(driver(mode, form), key)
    given = () if mode == "ecb" else (iv,)
    for length in range(0, 301, block_size(mode)):
        data = text[:length]
        assert cipher.encrypt(data, *given) == oracle(mode, key, iv, data)
        assert cipher.decrypt(data, *given) == oracle(mode, key, iv, data, decrypt=True)
        buffer = bytearray(data)
        assert cipher.encrypt_into(buffer, buffer, *given) == length
        assert buffer == oracle(mode, key, iv, data)


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "ecb"])
@pytest.mark.parametrize("decrypt", [False, True])
def test_streams_continue_with_the_next_iv(form: str, mode: str, *, decrypt: bool) -> None:
    if mode not in modes_of(form):
        pytest.skip(f"{form} has no {mode}")
    key, iv, text = material(mode, 32, 1008, 2)
    cipher = cd.Cipher(driver(mode, form), key)
    expected = oracle(mode, key, iv, text, decrypt=decrypt)
    for step in (1, 7, 16, 33, 160):
        stream = (cipher.decryptor if decrypt else cipher.encryptor)(iv)
        pieces = [stream.update(text[at : at + step]) for at in range(0, len(text), step)]
        assert b"".join([*pieces, stream.finalize()]) == expected


@pytest.mark.usefixtures("libcrypto")
@pytest.mark.parametrize("mode", ["ecb", "cbc"])
def test_triple_des_agrees_with_the_oracle(mode: str) -> None:
    key, iv, text = material("cbc", 24, 304, 3)
    iv = iv[:8] if mode == "cbc" else b""
    cipher = cd.Cipher(f"{mode}(des3_ede-openssl)", key)
    chosen = modes.CBC(iv) if mode == "cbc" else modes.ECB()
    given = (iv,) if iv else ()
    for length in range(0, 305, 8):
        context = OracleCipher(TripleDES(key), chosen).encryptor()
        expected = context.update(text[:length]) + context.finalize()
        assert cipher.encrypt(text[:length], *given) == expected
        assert cipher.decrypt(expected, *given) == text[:length]
    assert [entry for entry in cd.algorithms() if "(des-openssl)" in entry.driver] == []


@pytest.mark.usefixtures("libcrypto")
@pytest.mark.parametrize("name", DIGESTS)
def test_hashes_agree_with_hashlib(name: str) -> None:
    text = bytes(range(256)) * 2
    plain = cd.Hash(f"{name}-openssl")
    for length in range(301):
        assert plain.digest(text[:length]) == hashlib.new(name, text[:length]).digest()
    for key_size in (0, 1, 63, 64, 65, 200):
        keyed = cd.Hash(f"hmac({name}-openssl)", text[:key_size])
        for length in range(0, 301, 7):
            expected = hmac.new(text[:key_size], text[:length], name).digest()
            assert keyed.digest(text[:length]) == expected
            stream = keyed.new(text[: length // 2])
            stream.update(text[length // 2 : length])
            assert stream.digest() == expected


@pytest.mark.usefixtures("libcrypto")
def test_a_message_moves_to_and_from_libcrypto() -> None:
    for first, second in (("sha256-openssl", "sha256-lib"), ("sha256-lib", "sha256-openssl")):
        stream = cd.Hash(first).new(b"a" * 100)
        other = cd.Hash(second).new()
        other.import_state(stream.export_state())
        other.update(b"b" * 100)
        assert other.digest() == hashlib.sha256(b"a" * 100 + b"b" * 100).digest()


def test_threads_share_a_cipher(form: str) -> None:
    key, iv, text = material("cbc", 16, 8192, 4)
    cipher = cd.Cipher(driver("cbc", form), key)
    expected = oracle("cbc", key, iv, text)
    wrong: list[int] = []

    def work(number: int) -> None:
        good = all(
            cipher.encrypt(text, iv) == expected and cipher.decrypt(expected, iv) == text
            for _ in range(20)
        )
        if not good:
            wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.usefixtures("libcrypto")
def test_a_fallback_may_use_libcrypto() -> None:
    program = """
import cryptodispatch as cd
name = "cbc(aes-openssl)"
group = cd.Group(
    name="pair", algorithm="cbc(aes)", driver=name, key=bytes(16), members=(name,), threshold=64
)
fallback = cd.Fallback("pair", [group])
fallback.enable()
cipher = cd.Cipher(f"fallback({name})", bytes(16))
plain = cd.Cipher("cbc(aes-lib)", bytes(16))
for size in (16, 1600):
    assert cipher.encrypt(bytes(size), bytes(16)) == plain.encrypt(bytes(size), bytes(16))
print(fallback["pair"].software, fallback["pair"].hardware)
"""
    result = run_python(program)
    assert result.stderr == ""
    assert "cbc(aes-openssl)" in result.stdout
