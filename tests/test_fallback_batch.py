"""Batches through a proxy: what records one by one give, on the sides and counters of requests."""

from __future__ import annotations

import array
import itertools
import random
from collections.abc import Iterator

import hash_support
import pytest
from aes_support import MODES, block_size, iv_size, material, oracle
from fallback_support import group
from providers import HASHES

import cryptodispatch as cd
from cryptodispatch import eip93

THRESHOLDS = (-1, 0, 16, 512, 100_000)
COUNTS = (1, 31, 33, 300)


# The software side is a simulated machine's, record by record, or this CPU's with its lanes.
@pytest.fixture(params=["an7581", None])
def device(request: pytest.FixtureRequest) -> Iterator[eip93.Device]:
    with eip93.Device.emulated(machine=request.param) as opened:
        opened.fallback.enable()
        yield opened


def steps(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    return {why: after[why] - before[why] for why in after}


def lengths(source: random.Random, count: int, block: int) -> list[int]:
    """Empty, small, around 512 and large ones."""
    choices = (0, block, 64, 496, 512, 512 + block, 1024, 4096)
    return [
        source.choice(choices) if source.random() < 0.8 else source.randrange(65) * 16
        for _ in range(count)
    ]


def rows(mode: str, count: int, seed: int) -> tuple[list[bytes], list[bytes]]:
    """IVs and texts."""
    sizes = lengths(random.Random(seed), count, block_size(mode))
    pairs = [material(mode, 16, size, index)[1:] for index, size in enumerate(sizes)]
    return [iv for iv, _ in pairs], [text for _, text in pairs]


@pytest.mark.parametrize("mode", MODES)
def test_ciphers_equal_records_one_by_one(device: eip93.Device, mode: str) -> None:
    raw_aes = device.fallback["raw_aes"]
    inner = "ctr(aes-eip93)" if mode == "rfc3686" else "aes-eip93"
    key = material(mode, 16, 0, 1)[0]
    cipher = cd.Cipher(f"fallback({mode}({inner}))", key)
    for threshold, count in itertools.product(THRESHOLDS, COUNTS):
        raw_aes.threshold = threshold
        ivs, texts = rows(mode, count, count)
        expected = [oracle(mode, key, iv, text) for iv, text in zip(ivs, texts, strict=True)]
        start = raw_aes.counters
        given = ivs if iv_size(mode) else None
        assert cipher.encrypt_many(texts, given) == expected
        middle = raw_aes.counters
        counted = steps(start, middle)
        assert [cipher.encrypt(*row) for row in zip(texts, ivs, strict=True)] == expected
        assert steps(middle, raw_aes.counters) == counted
        assert sum(counted.values()) == sum(1 for text in texts if text)
        assert cipher.decrypt_many(expected, given) == texts
        # In place, in one buffer.
        packed = bytearray(b"".join(texts))
        offsets = array.array("q", itertools.accumulate(map(len, texts), initial=0))
        joined = b"".join(ivs) or None
        start = raw_aes.counters
        assert cipher.encrypt_batch(packed, offsets, joined, packed) == len(packed)
        assert packed == b"".join(expected)
        assert steps(start, raw_aes.counters) == counted
        assert cipher.decrypt_batch(packed, offsets, joined, packed) == len(packed)
        assert packed == b"".join(texts)


@pytest.mark.parametrize("name", HASHES)
def test_hashes_equal_messages_one_by_one(device: eip93.Device, name: str) -> None:
    digest = hash_support.digest_name(name)
    hashes = device.fallback["hash_sha2" if digest in ("sha224", "sha256") else f"hash_{digest}"]
    hasher = hash_support.make(f"fallback({name.replace(digest, f'{digest}-eip93')})", name)
    for threshold, count in itertools.product(THRESHOLDS, COUNTS):
        hashes.threshold = threshold
        sizes = lengths(random.Random(count), count, 1)
        texts = [hash_support.message(size) for size in sizes]
        start = hashes.counters
        assert hasher.digest_many(texts) == [hash_support.oracle(name, text) for text in texts]
        middle = hashes.counters
        for text in texts:
            hasher.digest(text)
        assert steps(middle, hashes.counters) == steps(start, middle)
        assert sum(steps(start, middle).values()) == count


@pytest.mark.parametrize("threshold", [-1, 0, 512])
def test_bad_records_are_named_and_the_others_done(device: eip93.Device, threshold: int) -> None:
    raw_aes = device.fallback["raw_aes"]
    raw_aes.threshold = threshold
    cipher = cd.Cipher("fallback(cbc(aes-eip93))", bytes(16))
    ivs, texts = rows("cbc", 100, 5)
    for index in (0, 40, 99):
        texts[index] = bytes(600 + index | 1)
    start = raw_aes.counters
    with pytest.raises(cd.BatchError, match=r"records\[0\]: data: 601 bytes") as caught:
        cipher.encrypt_many(texts, ivs)
    assert set(caught.value.errors) == {0, 40, 99}
    assert caught.value.results == [
        None if index in (0, 40, 99) else oracle("cbc", bytes(16), iv, text)
        for index, (iv, text) in enumerate(zip(ivs, texts, strict=True))
    ]
    assert sum(steps(start, raw_aes.counters).values()) == sum(
        1 for text in texts if text and len(text) % 16 == 0
    )


def test_what_the_engine_fails_is_no_error_of_the_software(device: eip93.Device) -> None:
    device.fallback["raw_aes"].threshold = 512
    cipher = cd.Cipher("fallback(cbc(aes-eip93))", bytes(16))
    texts = [bytes(1024 if index % 3 == 0 else 64) for index in range(200)]
    good = {size: oracle("cbc", bytes(16), bytes(16), bytes(size)) for size in (64, 1024)}
    device.emulator.inject("status", skip=10, count=1, value=0x08)
    with pytest.raises(cd.BatchError) as caught:
        cipher.encrypt_many(texts, [bytes(16)] * 200)
    errors = caught.value.errors
    assert min(errors) == 30  # the eleventh that went to the engine
    assert all(isinstance(error, cd.DeviceError) for error in errors.values())
    # What else was in the ring may share its fate; what the CPU did does not.
    assert {len(texts[index]) for index in errors} == {1024}
    assert caught.value.results == [
        None if index in errors else good[len(text)] for index, text in enumerate(texts)
    ]
    assert cipher.encrypt_many(texts, [bytes(16)] * 200) == [good[len(text)] for text in texts]


def test_keys_that_the_engine_is_not_given(device: eip93.Device) -> None:
    device.fallback.disable()
    rules = group(threshold=512, key_thresholds={32: 64}, cannot=(24,), key=b"")
    pair = cd.Fallback("test", [rules])
    try:
        pair.enable()
        ivs, texts = rows("cbc", 200, 1)
        within = {16: 512, 24: 1 << 20, 32: 64}
        for key_size, limit in within.items():
            start = pair["pair"].counters
            cipher = cd.Cipher("fallback(cbc(aes-eip93))", bytes(key_size))
            assert cipher.encrypt_many(texts, ivs) == [
                oracle("cbc", bytes(key_size), iv, text)
                for iv, text in zip(ivs, texts, strict=True)
            ]
            counted = steps(start, pair["pair"].counters)
            software = sum(1 for text in texts if 0 < len(text) <= limit)
            assert counted["unsupported" if key_size == 24 else "within_threshold"] == software
            assert counted["above_threshold"] == sum(1 for text in texts if len(text) > limit)
    finally:
        pair.close()
        device.fallback.enable()


def test_disabled_and_closed_with_a_live_transform(device: eip93.Device) -> None:
    raw_aes = device.fallback["raw_aes"]
    raw_aes.threshold = 512
    cipher = cd.Cipher("fallback(cbc(aes-eip93))", bytes(16))
    ivs, texts = rows("cbc", 100, 2)
    expected = [oracle("cbc", bytes(16), iv, text) for iv, text in zip(ivs, texts, strict=True)]
    assert cipher.encrypt_many(texts, ivs) == expected
    device.fallback.disable()
    start = raw_aes.counters
    assert cipher.encrypt_many(texts, ivs) == expected
    assert steps(start, raw_aes.counters)["no_threshold"] == sum(1 for text in texts if text)
    device.close()
    with pytest.raises(cd.BatchError) as caught:
        cipher.encrypt_many(texts, ivs)
    assert set(caught.value.errors) == {index for index, text in enumerate(texts) if text}
