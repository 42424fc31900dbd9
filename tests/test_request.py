"""Requests that are submitted and collected later, on every implementation."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from aes_support import material, oracle

import cryptodispatch as cd

Make = Callable[[str, bytes], cd.Cipher]


def test_submit_and_collect(make: Make) -> None:
    key, iv, text = material("cbc", 16, 4096, 1)
    cipher = make("cbc", key)
    request = cipher.submit_encrypt(text, iv)
    result = request.result()
    assert result == oracle("cbc", key, iv, text)
    assert request.done()
    assert request.result() is result
    assert cipher.submit_decrypt(result, iv).result(timeout=10) == text


def test_errors_of_a_submission(make: Make) -> None:
    cipher = make("cbc", bytes(16))
    with pytest.raises(ValueError, match="multiples of 16"):
        cipher.submit_encrypt(bytes(15), bytes(16))
    request = cipher.submit_encrypt(bytes(16), bytes(16))
    for timeout in (-1, float("nan")):
        with pytest.raises(ValueError, match="timeout"):
            request.result(timeout=timeout)
    assert request.result() == oracle("cbc", bytes(16), bytes(16), bytes(16))


# R025: more requests than ring entries and request ids.
def test_r025_1024_outstanding(make: Make) -> None:
    key, _, _ = material("cbc", 16, 0, 2)
    cipher = make("cbc", key)
    rows = [material("cbc", 16, 1024, seed)[1:] for seed in range(1024)]
    requests = [cipher.submit_encrypt(text, iv) for iv, text in rows]
    for request, (iv, text) in zip(requests, rows, strict=True):
        assert request.result() == oracle("cbc", key, iv, text)


def test_r025_from_eight_threads(make: Make) -> None:
    key, _, _ = material("cbc", 16, 0, 3)
    cipher = make("cbc", key)
    good: list[int] = []

    def work(number: int) -> None:
        rows = [material("cbc", 16, 1024, number * 1000 + i)[1:] for i in range(128)]
        requests = [cipher.submit_encrypt(text, iv) for iv, text in rows]
        if all(
            request.result() == oracle("cbc", key, iv, text)
            for request, (iv, text) in zip(requests, rows, strict=True)
        ):
            good.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(good) == list(range(8))
