"""Measuring on the host's cycle counter.

The counter's ticks are not core cycles: on x86-64 they are time-stamp ticks of constant frequency.
``pytest --benchmark-timer=cryptodispatch.benchmark.timer`` makes pytest-benchmark read it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cryptodispatch import _engine
from cryptodispatch._arguments import integer

if TYPE_CHECKING:
    from cryptodispatch.software._choose import SoftwareChoice

__all__ = [
    "SIZES",
    "ClockInfo",
    "Timing",
    "choose_software",
    "clock_info",
    "cycles",
    "measure",
    "timer",
]

SIZES: tuple[int, ...] = tuple(_engine.benchmark_sizes())
"""The sizes in bytes that the fallback measures."""


@dataclass(frozen=True, slots=True)
class ClockInfo:
    """The host's clock: its name, ticks per second, and the ticks that one reading costs."""

    name: str
    hz: int
    overhead: int


@dataclass(frozen=True, slots=True)
class Timing:
    """A measured transform: `ticks` is the sum over `runs` requests of `size` bytes."""

    size: int
    runs: int
    ticks: int

    @property
    def per_request(self) -> float:
        """Ticks of one request, on average."""
        return self.ticks / self.runs


def cycles() -> int:
    """Read the cycle counter, in ticks since an arbitrary origin."""
    return _engine.clock_now()


def timer() -> float:
    """Read the cycle counter, in seconds since an arbitrary origin."""
    return _engine.clock_seconds()


def clock_info() -> ClockInfo:
    """Describe the cycle counter; the first call may take 10 ms to measure its frequency."""
    return ClockInfo(*_engine.clock_describe())


def measure(
    transform: _engine.Cipher | _engine.Hash | _engine.Aead,
    size: int,
    warmup: int = 4,
    runs: int = 8,
) -> Timing:
    """Measure whole requests of a transform, completion included.

    Args:
        transform: a Cipher or Aead (encryption is measured) or a Hash, with a key set.
        size: bytes, positive, a multiple of the block size.
        warmup: requests before the clock is read, 0 to 10^6.
        runs: requests measured, 1 to 10^6; their ticks are summed.

    Returns:
        Timing: with the sum of the ticks.

    Raises:
        TypeError, ValueError: an argument is not of that form.
        DeviceError: the engine failed.
    """
    if not isinstance(transform, (_engine.Cipher, _engine.Hash, _engine.Aead)):
        name = type(transform).__name__
        raise TypeError(f"transform: {name} was given, Cipher, Hash or Aead is needed")
    values = {}
    for name, value, low, high in (
        ("size", size, 1, 1 << 30),
        ("warmup", warmup, 0, 10**6),
        ("runs", runs, 1, 10**6),
    ):
        values[name] = integer(name, value, low, high)
    ticks = _engine.measure(transform, values["size"], values["warmup"], values["runs"])
    return Timing(size=values["size"], runs=values["runs"], ticks=ticks)


def choose_software(
    names: Iterable[str] | None = None,
    *,
    save: bool = True,
    progress: Callable[[str, int, int], object] | None = None,
) -> dict[str, SoftwareChoice]:
    """Measure software implementations against each other and put the best in force.

    Names are bound accordingly in this process from now on, and, if it is kept, in later ones of
    the same CPU features and library from their first look-up on. Transforms that exist keep what
    they are bound to. Takes about a second. Nothing in the library measures this unasked.

    Args:
        names: algorithm names; None: all that have more than one implementation to choose from.
        save: keep it in ``$XDG_CACHE_HOME/cryptodispatch/``, beside what is kept for other
            algorithms; not with ``CRYPTODISPATCH_CACHE=off``, nor if the folder cannot be written.
        progress: called with (algorithm, its index, how many) before each.

    Returns:
        dict: what was measured and chosen, by algorithm.

    Raises:
        UnknownAlgorithmError: no software implementation of a name.
    """
    from cryptodispatch.software import _choose  # noqa: PLC0415 - the import stays light

    return _choose.choose_software(names, save=save, progress=progress)[0]
