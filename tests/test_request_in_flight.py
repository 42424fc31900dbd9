"""Requests in flight on an engine that takes its time: buffers, keys, time-outs, closing."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from aes_support import material, oracle

import cryptodispatch as cd
from cryptodispatch import eip93


@pytest.fixture
def slow() -> Iterator[eip93.Device]:
    """An engine in a thread of its own that takes its time, so that requests stay in flight."""
    with eip93.Device.emulated() as device:
        device.emulator.start_thread(max_delay_us=2000, seed=1)
        yield device


# R101: the buffer is kept and cannot be resized while a request works on it.
def test_r101_buffer_is_held(slow: eip93.Device) -> None:
    key, iv, text = material("cbc", 16, 4096, 4)
    cipher = cd.Cipher("cbc(aes-eip93)", key)
    data = bytearray(text)
    request = cipher.submit_encrypt(data, iv)
    with pytest.raises(BufferError):
        data.extend(b"more")
    del data
    gc.collect()
    assert request.result() == oracle("cbc", key, iv, text)


def test_r101_bytes_whose_name_is_dropped(slow: eip93.Device) -> None:
    key, iv, _ = material("cbc", 16, 0, 5)
    cipher = cd.Cipher("cbc(aes-eip93)", key)
    requests = [cipher.submit_encrypt(bytes([i]) * 1024, bytes(iv)) for i in range(40)]
    gc.collect()
    for i, request in enumerate(requests):
        assert request.result() == oracle("cbc", key, iv, bytes([i]) * 1024)


def test_dropped_request_is_waited_for(slow: eip93.Device) -> None:
    cipher = cd.Cipher("cbc(aes-eip93)", bytes(16))
    for _ in range(20):
        cipher.submit_encrypt(bytearray(4096), bytes(16))
    cipher.set_key(bytes(32))
    counters = slow.counters
    assert counters.requests == counters.completed == 20
    assert counters.maps == counters.unmaps


def test_key_cannot_change_under_a_request(slow: eip93.Device) -> None:
    cipher = cd.Cipher("cbc(aes-eip93)", bytes(16))
    requests = [cipher.submit_encrypt(bytes(4096), bytes(16)) for _ in range(50)]
    if not requests[-1].done():
        with pytest.raises(RuntimeError, match="under way"):
            cipher.set_key(bytes(16))
    for request in requests:
        assert request.result() == oracle("cbc", bytes(16), bytes(16), bytes(4096))
    cipher.set_key(bytes(16))


def test_timeout_leaves_the_request_under_way(slow: eip93.Device) -> None:
    slow.emulator.stop_thread()
    slow.emulator.start_thread(max_delay_us=200_000, seed=3)
    cipher = cd.Cipher("cbc(aes-eip93)", bytes(16))
    request = cipher.submit_encrypt(bytes(64), bytes(16))
    late = 0
    for _ in range(1000):
        try:
            result = request.result(timeout=0.0001)
            break
        except TimeoutError:
            late += 1
    else:
        result = request.result()
    assert late > 0
    assert result == oracle("cbc", bytes(16), bytes(16), bytes(64))


def test_close_ends_what_is_under_way(slow: eip93.Device) -> None:
    cipher = cd.Cipher("cbc(aes-eip93)", bytes(16))
    requests = [cipher.submit_encrypt(bytes(4096), bytes(16)) for _ in range(600)]
    slow.close()
    ended = {"done": 0, "no device": 0}
    for request in requests:
        try:
            assert request.result() == oracle("cbc", bytes(16), bytes(16), bytes(4096))
            ended["done"] += 1
        except cd.DeviceError:
            ended["no device"] += 1
    assert sum(ended.values()) == 600
    assert ended["no device"] > 0
    with pytest.raises(cd.DeviceError):
        cipher.encrypt(bytes(16), bytes(16))
