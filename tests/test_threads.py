"""Threads: the GIL around long requests, one object used by many."""

from __future__ import annotations

import threading

import pytest
from aes_support import material, oracle

import cryptodispatch as cd


@pytest.fixture(autouse=True)
def _restore():
    before = cd.gil_release_size()
    yield
    cd.set_gil_release_size(before)


def test_size_can_be_set():
    assert cd.gil_release_size() == 4096
    for size in (0, 1, 1 << 40):
        cd.set_gil_release_size(size)
        assert cd.gil_release_size() == size
    with pytest.raises(ValueError, match="size: -1"):
        cd.set_gil_release_size(-1)
    with pytest.raises(TypeError):
        cd.set_gil_release_size("4096")


@pytest.mark.parametrize("release", [0, 63, 64, 65, 1 << 30])
def test_results_do_not_depend_on_it(release):
    """Both sides of the boundary, in every call that has one."""
    cd.set_gil_release_size(release)
    key, iv, text = material("cbc", 16, 64, 1)
    expected = oracle("cbc", key, iv, text)
    cipher = cd.Cipher("cbc(aes)", key)
    assert cipher.encrypt(text, iv) == expected
    assert cipher.encrypt_many([text] * 3, [iv] * 3) == [expected] * 3
    stream = cipher.encryptor(iv)
    assert stream.update(text) == expected
    hashed = cd.Hash("sha256")
    assert hashed.digest(text) == hashed.new(text).digest() == hashed.digest_many([text])[0]
    aead = cd.Aead("authenc(hmac(sha1),cbc(aes))", key, auth_key=key)
    assert aead.decrypt(aead.encrypt(text, iv), iv) == text


def test_other_threads_run_during_a_long_request():
    cipher = cd.Cipher("cbc(aes-lib)", bytes(16))
    data = bytes(1 << 24)
    ticks = 0
    done = threading.Event()

    def work() -> None:
        cipher.encrypt(data, bytes(16))
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not done.is_set():
        ticks += 1
    thread.join()
    # Without the release this loop would get its first turn when everything is over.
    assert ticks > 100


def test_key_cannot_be_set_under_a_running_request():
    cipher = cd.Cipher("cbc(aes-lib)", bytes(16))
    started, refused = threading.Event(), 0

    def work() -> None:
        started.set()
        cipher.encrypt(bytes(1 << 24), bytes(16))

    thread = threading.Thread(target=work)
    thread.start()
    started.wait()
    while thread.is_alive():
        try:
            cipher.set_key(bytes(16))
        except RuntimeError:
            refused += 1
    thread.join()
    assert refused > 0
    cipher.set_key(bytes(32))
