"""What a type checker sees of the public names. Checked by mypy, never run."""

import array
import mmap

import numpy as np
from typing_extensions import assert_type

import cryptodispatch as cd
from cryptodispatch import benchmark, eip93, machine


def ciphers(key: bytes, data: bytes, iv: bytes) -> None:
    with cd.Cipher("cbc(aes)", key) as cipher:
        assert_type(cipher, cd.Cipher)
        assert_type(cipher.name, str)
        assert_type(cipher.driver, str)
        assert_type(cipher.block_size, int)
        assert_type(cipher.iv_size, int)
        assert_type(cipher.key_sizes, tuple[int, ...])
        assert_type(cipher.encrypt(data, iv), bytes)
        assert_type(cipher.decrypt(data, iv), bytes)
        assert_type(cipher.encrypt_into(data, bytearray(16), iv), int)
        assert_type(cipher.encrypt_many([data, data], [iv, iv]), list[bytes])
        assert_type(cipher.decrypt_many([data, data], [iv, iv]), list[bytes])
        stream = cipher.encryptor(iv)
        assert_type(stream.update(data), bytes)
        assert_type(stream.finalize(), bytes)
        assert_type(stream.iv, bytes)


def buffers(cipher: cd.Cipher, iv: bytes) -> None:
    cipher.encrypt(bytearray(16), iv)
    cipher.encrypt(memoryview(bytes(16)), iv)
    cipher.encrypt(array.array("B", bytes(16)), iv)
    cipher.encrypt_into(mmap.mmap(-1, 16), bytearray(16), iv)
    cipher.encrypt(np.zeros(16, np.uint8), iv)
    cipher.encrypt_into(memoryview(bytes(16)), np.zeros(16, np.uint8), iv)
    cipher.encrypt("text", iv)  # type: ignore[arg-type]
    cipher.encrypt(16, iv)  # type: ignore[arg-type]


def hashes(data: bytes) -> None:
    assert_type(cd.Hash("sha256").digest(data), bytes)
    assert_type(cd.Hash("sha256").hexdigest(data), str)


def priorities() -> None:
    cd.set_priority("cbc(aes-lib)", 1)
    cd.set_priority("cbc(aes-lib)", "1")  # type: ignore[arg-type]


def listing() -> None:
    for algorithm in cd.algorithms():
        assert_type(algorithm, cd.Algorithm)
        assert_type(algorithm.key_sizes, tuple[int, ...])
        assert_type(algorithm.available, bool)
        assert_type(algorithm.reason, str)
        algorithm.priority = 1  # type: ignore[misc]


def devices() -> None:
    with eip93.Device.emulated(machine="an7581") as device:
        assert_type(device, eip93.Device)
        assert_type(device.emulator.read32(0x1FC), int)
        device.emulator.write32(0x1F8, 1)
        assert_type(device.fallback.enable(), dict[str, int])
        assert_type(device.fallback.thresholds, dict[str, int])
        device.fallback.enabled = False
        group = device.fallback["raw_aes"]
        group.threshold = 1024
        for measurement in group.measurements:
            assert_type(measurement, cd.Measurement)
            assert_type(measurement.winner, str)


def fallbacks(progress: list[cd.Progress]) -> None:
    group = cd.Group(
        name="mine",
        algorithm="cbc(aes)",
        driver="cbc(aes-eip93)",
        key=bytes(16),
        members=("cbc(aes-eip93)",),
    )
    fallback = cd.Fallback("pair", groups=[group])
    fallback.enable(progress=progress.append)
    assert_type(fallback["mine"].threshold, int)
    cd.Group("mine", "cbc(aes)", "cbc(aes-eip93)", bytes(16), ())  # type: ignore[call-arg]


def measuring(cipher: cd.Cipher) -> None:
    assert_type(benchmark.cycles(), int)
    assert_type(benchmark.timer(), float)
    assert_type(benchmark.clock_info().hz, int)
    assert_type(benchmark.measure(cipher, 4096, warmup=4, runs=8).ticks, int)


def profiles() -> None:
    assert_type(machine.load("an7581"), machine.Machine)


def embedding() -> None:
    assert_type(cd.get_include(), str)
    assert_type(cd.get_library_dir(), str)


def errors() -> None:
    try:
        cd.Cipher("no such", bytes(16))
    except cd.UnknownAlgorithmError as error:
        assert_type(error, cd.UnknownAlgorithmError)
        as_base: cd.CryptoDispatchError = error
        as_lookup: LookupError = error
        raise as_lookup from as_base
    except cd.InvalidKeyError as error:
        as_value: ValueError = error
        raise as_value from None
    except cd.DeviceTimeoutError as error:
        as_device: cd.DeviceError = error
        raise as_device from None
