"""Putting an order of software implementations in force, and taking it back."""

from __future__ import annotations

from _thread import allocate_lock
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from cryptodispatch import _engine
from cryptodispatch._errors import CryptoDispatchError

if TYPE_CHECKING:
    from cryptodispatch._fallback import Fallback

__all__ = ["COMPARED_ONLY", "apply", "candidates", "priorities", "restore", "split"]

COMPARED_ONLY = ("aes-generic", "-pycryptodome")
"""Parts of driver names of what is measured to be compared and never chosen: large tables, whose
timing gives away more than it must, and what belongs to another package."""

_TYPES = {1: "cipher", 2: "hash", 3: "aead"}
_lock = allocate_lock()
_splits: dict[str, Fallback] = {}  # by algorithm; they live as long as they are in force


def candidates() -> dict[str, dict[str, int]]:
    """Return what can be chosen: by algorithm the available drivers with their own priorities."""
    found: dict[str, dict[str, int]] = {}
    for algorithm, driver, _type, priority, available, _batched in _engine.software():
        if available and not any(part in driver for part in COMPARED_ONLY):
            found.setdefault(algorithm, {})[driver] = priority
    return found


def priorities(own: dict[str, int], order: Iterable[str]) -> dict[str, int]:
    """Deal the drivers' own priorities out again so that they fall in the given order.

    They keep their place among everything else that way. Equal ones are told apart by 1 each.
    """
    drivers = list(order)
    dealt: dict[str, int] = {}
    last = None
    for driver, value in zip(
        drivers, sorted((own[driver] for driver in drivers), reverse=True), strict=True
    ):
        last = value if last is None else min(value, last - 1)
        dealt[driver] = last
    return dealt


def apply(choices: dict[str, dict[str, Any]]) -> None:
    """Put choices as the cache keeps them in force; drivers that are not there are left out."""
    with _lock:
        _restore()
        _load_sources(choices)
        known = candidates()
        for algorithm, choice in choices.items():
            own = known.get(algorithm, {})
            order = [driver for driver in dict.fromkeys(choice["order"]) if driver in own]
            for driver, value in priorities(own, order).items():
                _engine.set_priority(driver, value)
            small = choice["small"]
            if small and order[:2] == [choice["order"][0], small]:
                _split(algorithm, order[0], choice["threshold"])


def _load_sources(choices: dict[str, dict[str, Any]]) -> None:
    """Load what has an implementation that is to be bound; if it cannot be, that is left out."""
    wanted = [
        name for choice in choices.values() for name in (*choice["order"][:1], choice["small"])
    ]
    if any("-openssl" in name for name in wanted):
        _engine.load_openssl()
    if any("-pycryptodome" in name for name in wanted):
        _engine.load_pycryptodome()


def split(algorithm: str, large: str, small: str, threshold: int) -> str:
    """Send an algorithm's requests of at most `threshold` bytes to `small`, others to `large`.

    Returns the driver name that does so; "" if the pair does not fit. Undone by ``restore``.
    """
    with _lock:
        own = candidates()[algorithm]
        rest = sorted(
            (driver for driver in own if driver not in (large, small)), key=own.__getitem__
        )
        for driver, value in priorities(own, [large, small, *reversed(rest)]).items():
            _engine.set_priority(driver, value)
        return _split(algorithm, large, threshold)


def _split(algorithm: str, large: str, threshold: int) -> str:
    """Dispatch by size between the first and, as the best other one, the second of the order."""
    from cryptodispatch._fallback import Fallback, Group  # noqa: PLC0415 - rarely wanted

    entries = _engine.software()
    kind = next(type_ for _name, driver, type_, *_ in entries if driver == large)
    group = Group(
        name=algorithm,
        algorithm=algorithm,
        driver=large,
        key=b"",
        members=(large,),
        type=_TYPES[kind],
        threshold=threshold,
    )
    try:
        fallback = Fallback(f"software {algorithm}", [group], clock=_engine.still_clock())
        fallback.enable()
    except CryptoDispatchError:  # somebody else dispatches to `large`
        return ""
    _splits[algorithm] = fallback
    proxy = f"fallback({large})"
    _engine.set_priority(proxy, 1 + max(candidates()[algorithm].values()))
    return proxy


def restore() -> None:
    """Give every software implementation its own priority again."""
    with _lock:
        _restore()


def _restore() -> None:
    while _splits:
        _splits.popitem()[1].close()
    for _algorithm, driver, _type, priority, *_ in _engine.software():
        _engine.set_priority(driver, priority)
