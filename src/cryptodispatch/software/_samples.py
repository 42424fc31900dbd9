"""Samples of several implementations of one algorithm, taken in turn so that they compare."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cryptodispatch import _engine
from cryptodispatch._algorithms import Algorithm

__all__ = ["Cell", "Transform", "open_transform", "sample"]

Transform = _engine.Cipher | _engine.Hash | _engine.Aead

_PATTERN = bytes(range(1, 65))  # of keys; not secret, and no weak key of DES


@dataclass(frozen=True, slots=True)
class Cell:
    """Requests of one size by one implementation, in ticks per request.

    Attributes:
        size: bytes.
        minimum: of the samples: what it costs when nobody is in the way.
        median: of the samples.
        samples: how many were taken.
        runs: requests per sample; a sample is their mean.
    """

    size: int
    minimum: float
    median: float
    samples: int
    runs: int


def open_transform(algorithm: Algorithm) -> Transform:
    """Make a keyed transform of that implementation; keys are of the smallest allowed size."""
    size = min(algorithm.key_sizes, default=0)
    if algorithm.type == "cipher":
        return _engine.Cipher(algorithm.driver, _PATTERN[:size])
    if algorithm.type == "aead":
        return _engine.Aead(algorithm.driver, _PATTERN[:size], _PATTERN[:20])
    if algorithm.key_sizes:
        return _engine.Hash(algorithm.driver, _PATTERN[:32])
    return _engine.Hash(algorithm.driver)


def sample(
    transforms: Sequence[Transform],
    sizes: Iterable[int],
    *,
    samples: int,
    ticks: float,
    decrypt: bool = False,
    clock: _engine.Clock | None = None,
) -> list[list[Cell]]:
    """Measure all transforms size by size, one sample of each in turn.

    Args:
        transforms: keyed, of one algorithm.
        sizes: bytes, multiples of the block size.
        samples: of each transform at each size.
        ticks: how long a sample is to take, about; it has at least one request, at most 1000.
        decrypt: measure decryption; ciphers alone.
        clock: what is read; None: the host's.

    Returns:
        list: for each transform a list with a cell for each size.
    """
    columns: list[list[Cell]] = [[] for _transform in transforms]
    for size in sizes:
        runs = []
        for transform in transforms:
            once = _engine.measure(transform, size, 2, 1, clock, decrypt)
            runs.append(max(1, min(1000, int(ticks / max(once, 1)))))
        taken: list[list[float]] = [[] for _transform in transforms]
        for _turn in range(samples):
            for index, transform in enumerate(transforms):
                total = _engine.measure(transform, size, 1, runs[index], clock, decrypt)
                taken[index].append(total / runs[index])
        for index, values in enumerate(taken):
            columns[index].append(
                Cell(size, min(values), statistics.median(values), samples, runs[index])
            )
    return columns
