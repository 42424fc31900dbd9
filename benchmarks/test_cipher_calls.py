"""Cost of one call from Python: this package beside its peers, per operation and size.

    pip install '.[bench]'
    python -m pytest benchmarks --benchmark-timer=cryptodispatch.benchmark.timer

Per-call times of software only, key set-up outside the loop; a peer's call includes the cipher
object that its API wants per message. Every result is compared with the others'.
"""

from collections.abc import Callable
from typing import Any

import pytest
from Crypto.Cipher import AES
from cryptography.hazmat.primitives.ciphers import Cipher as PycaCipher, algorithms, modes
from pytest_benchmark.fixture import BenchmarkFixture

import cryptodispatch as cd

KEY = bytes(range(16))
IV = bytes(range(16, 32))
SIZES = [16, 64, 512, 1504, 4096, 65536]
DRIVERS = ["aes-lib", "aes-ni"]
AVAILABLE = {a.driver: a.reason if not a.available else None for a in cd.algorithms()}

Encrypt = Callable[[bytes], bytes]


def ours(mode: str, driver: str) -> Encrypt:
    name = f"{mode}({driver})"
    if reason := AVAILABLE[name]:
        pytest.skip(f"not applicable: {name} {reason}")
    cipher = cd.Cipher(name, KEY)
    return lambda data: cipher.encrypt(data, IV)


def pyca(mode: str) -> Encrypt:
    make_mode = {"cbc": modes.CBC, "ctr": modes.CTR}[mode]
    algorithm = algorithms.AES(KEY)

    def encrypt(data: bytes) -> bytes:
        cipher: PycaCipher[Any] = PycaCipher(algorithm, make_mode(IV))
        encryptor = cipher.encryptor()
        return encryptor.update(data) + encryptor.finalize()

    return encrypt


def pycryptodome(mode: str) -> Encrypt:
    if mode == "cbc":
        return lambda data: AES.new(KEY, AES.MODE_CBC, iv=IV).encrypt(data)
    return lambda data: AES.new(KEY, AES.MODE_CTR, nonce=b"", initial_value=IV).encrypt(data)


def implementation(mode: str, name: str) -> Encrypt:
    peers = {"cryptography": pyca, "pycryptodome": pycryptodome}
    return peers[name](mode) if name in peers else ours(mode, name)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", [*DRIVERS, "cryptography", "pycryptodome"])
@pytest.mark.parametrize("mode", ["cbc", "ctr"])
def test_encrypt(benchmark: BenchmarkFixture, mode: str, name: str, size: int) -> None:
    benchmark.group = f"{mode}(aes) encrypt {size}"
    encrypt = implementation(mode, name)
    data = bytes(size)
    assert benchmark(encrypt, data) == pyca(mode)(data)
