"""A way of doing one operation: a callable made ready for one input, and how to read its result.

What is timed is `function(*arguments)` and nothing else; keys, buffers and arguments are made
before, results are looked at after.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Prepared(NamedTuple):
    """A call that is ready to be timed.

    Attributes:
        function, arguments: the call.
        outcome: turns what the call returned into what the oracle says; after the call.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    outcome: Callable[[Any], Any]


Way = Callable[[bytes], Prepared]


def _itself(value: Any) -> Any:  # noqa: ANN401 - results are of any type
    return value


def plain(function: Callable[..., Any], *more: object) -> Way:
    """A callable that takes the text (and `more`) and returns the result."""
    return lambda data: Prepared(function, (data, *more), _itself)


def into(function: Callable[..., Any], size: int | None, *more: object) -> Way:
    """A callable that takes the text and a buffer of `size` bytes (None: as many as the text)."""

    def way(data: bytes) -> Prepared:
        out = bytearray(len(data) if size is None else size)
        return Prepared(function, (data, out, *more), lambda _: bytes(out))

    return way
