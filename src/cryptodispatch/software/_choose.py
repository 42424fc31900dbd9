"""Measuring the software implementations of an algorithm against each other, as RAID-6 does."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from cryptodispatch import _engine
from cryptodispatch._algorithms import Algorithm, algorithms
from cryptodispatch._errors import unknown_algorithm
from cryptodispatch.software import _cache, _priorities
from cryptodispatch.software._samples import Cell, open_transform, sample

__all__ = ["SIZES", "SoftwareChoice", "choose_software", "decide", "decide_split"]

SIZES = (16, 64, 256, 1024, 4096, 16384)
_SAMPLES = 5
_SAMPLE_SECONDS = 40e-6
_BETTER = 1.05  # how many times faster on average one must be to displace what is there


@dataclass(frozen=True, slots=True)
class SoftwareChoice:
    """What was measured of one algorithm, and what follows.

    Attributes:
        algorithm: name.
        order: drivers, the one that is bound first; those never chosen are not in it.
        small: driver that requests of at most `threshold` bytes go to, the others to the first of
            the order; None: the first is best at every size, or not worth dispatching for.
        threshold: bytes; 0 without `small`.
        sizes: bytes.
        ticks: per request and driver at each size, the best of several samples; of ciphers the mean
            of encryption and decryption. With those that are measured and never chosen.
    """

    algorithm: str
    order: tuple[str, ...]
    small: str | None
    threshold: int
    sizes: tuple[int, ...]
    ticks: Mapping[str, tuple[float, ...]]

    @property
    def best(self) -> tuple[str, ...]:
        """The fastest at each size of those that can be chosen."""
        return tuple(
            min(self.order, key=lambda driver: self.ticks[driver][index])
            for index in range(len(self.sizes))
        )


def _mean_log(ticks: Sequence[float]) -> float:
    """How slow, every size counting the same: a ratio of two costs is a difference of these."""
    return math.fsum(map(math.log, ticks)) / len(ticks)


def decide(ticks: Mapping[str, Sequence[float]], own: Mapping[str, int]) -> tuple[str, ...]:
    """Order drivers from fast to slow over all sizes; pure.

    The one with the highest priority of its own stays first unless another is 5 % faster: noise
    must not change what a name stands for.
    """
    order = sorted(own, key=lambda driver: _mean_log(ticks[driver]))
    incumbent = max(own, key=own.__getitem__)
    if _mean_log(ticks[incumbent]) - _mean_log(ticks[order[0]]) < math.log(_BETTER):
        order.remove(incumbent)
        order.insert(0, incumbent)
    return tuple(order)


def decide_split(
    ticks: Mapping[str, Sequence[float]], order: Sequence[str], sizes: Sequence[int]
) -> tuple[str, str, int] | None:
    """Find the pair that is best below and above a threshold: (large, small, threshold); pure.

    None if the first of the order alone comes within 5 % of the best pair.
    """
    best = _mean_log(ticks[order[0]]) - math.log(_BETTER)
    found = None
    for cut in range(1, len(sizes)):
        for small in order:
            for large in order:
                cost = _mean_log([*ticks[small][:cut], *ticks[large][cut:]])
                if small != large and cost < best:
                    best, found = cost, (large, small, sizes[cut - 1])
    return found


def choose_software(
    names: Iterable[str] | None = None,
    *,
    save: bool = True,
    progress: Callable[[str, int, int], object] | None = None,
) -> tuple[dict[str, SoftwareChoice], str, str]:
    """Do what ``benchmark.choose_software`` says.

    Returns:
        tuple: the choices, the file they are kept in, and why they are not; one of the latter two
            is "", both without `save`.
    """
    _engine.load_openssl()  # without them there is less to choose from
    _engine.load_pycryptodome()
    found = _priorities.candidates()
    if names is None:
        wanted = [name for name, drivers in found.items() if len(drivers) > 1]
    else:
        wanted = list(dict.fromkeys(names))
        for name in wanted:
            if name not in found:
                raise unknown_algorithm(name, found)
    before = _cache.load() or {}
    _priorities.restore()
    entries = {entry.driver: entry for entry in algorithms()}
    choices = {}
    for index, name in enumerate(wanted):
        if progress is not None:
            progress(name, index, len(wanted))
        choices[name] = _choose(name, found[name], entries)
    kept = {name: choice for name, choice in before.items() if name not in choices}
    for name, choice in choices.items():
        if choice.small is not None or choice.order != _own_order(found[name]):
            kept[name] = {
                "order": list(choice.order),
                "small": choice.small or "",
                "threshold": choice.threshold,
            }
    _priorities.apply(kept)
    return choices, *(_keep(kept) if save else ("", ""))


def _keep(choices: dict[str, dict[str, object]]) -> tuple[str, str]:
    """Write the file: its path, or why not."""
    try:
        path = _cache.save(choices)
    except OSError as error:
        return "", f"{error.filename}: {error.strerror}"
    if path:
        return path, ""
    off = os.environ.get("CRYPTODISPATCH_CACHE", "").lower() == "off"
    return "", "CRYPTODISPATCH_CACHE=off" if off else "there is no home folder"


def _own_order(own: dict[str, int]) -> tuple[str, ...]:
    """Order drivers by the priorities that they were made with."""
    return tuple(sorted(own, key=own.__getitem__, reverse=True))


def _choose(name: str, own: dict[str, int], entries: dict[str, Algorithm]) -> SoftwareChoice:
    software = [row[1] for row in _engine.software() if row[0] == name]
    drivers = [driver for driver in software if entries[driver].available]
    ticks = _measure([entries[driver] for driver in drivers])
    order = decide(ticks, own)
    split = _split(name, ticks, order)
    if split is not None:
        large, small, _threshold = split
        order = (large, small, *(driver for driver in order if driver not in (large, small)))
    return SoftwareChoice(
        algorithm=name,
        order=order,
        small=None if split is None else split[1],
        threshold=0 if split is None else split[2],
        sizes=SIZES,
        ticks=ticks,
    )


def _measure(entries: list[Algorithm]) -> dict[str, tuple[float, ...]]:
    """Measure ciphers in both directions, others in their one."""
    window = _SAMPLE_SECONDS * _engine.clock_describe()[1]
    with ExitStack() as stack:
        transforms = [open_transform(entry) for entry in entries]
        for transform in transforms:
            stack.enter_context(transform)
        directions = (False, True) if entries[0].type == "cipher" else (False,)
        measured = [
            sample(transforms, SIZES, samples=_SAMPLES, ticks=window, decrypt=decrypt)
            for decrypt in directions
        ]
    return {
        entry.driver: tuple(map(_mean, zip(*(columns[index] for columns in measured), strict=True)))
        for index, entry in enumerate(entries)
    }


def _mean(cells: tuple[Cell, ...]) -> float:
    return sum(cell.minimum for cell in cells) / len(cells)


def _split(
    name: str, ticks: dict[str, tuple[float, ...]], order: tuple[str, ...]
) -> tuple[str, str, int] | None:
    """Find a pair worth dispatching between, its dispatch measured with it."""
    lanes = {driver for _name, driver, *_rest, batched in _engine.software() if batched}
    # A proxy runs its large side one request at a time: what has lanes for batches stays before it.
    eligible = [driver for driver in order if driver not in lanes]
    if order[0] in lanes or len(eligible) < 2:
        return None
    split = decide_split(ticks, eligible, SIZES)
    if split is None:
        return None
    proxy = _priorities.split(name, *split)
    if not proxy:
        return None
    entries = {entry.driver: entry for entry in algorithms()}
    again = _measure([entries[proxy], entries[order[0]]])
    _priorities.restore()
    gain = _mean_log(again[order[0]]) - _mean_log(again[proxy])
    return split if gain >= math.log(_BETTER) else None
