"""Checks of arguments: the errors name the argument, what it was and what is allowed."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import SupportsIndex

__all__ = ["choice", "integer"]


def integer(name: str, value: SupportsIndex, low: int, high: int) -> int:
    """Return `value` as an int in `low` to `high`."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: {type(value).__name__} was given, int is needed") from None
    if not low <= number <= high:
        raise ValueError(f"{name}: {number} was given, {low} to {high} are allowed")
    return number


def choice(name: str, value: str, choices: Mapping[str, int]) -> int:
    """Return what `value` stands for."""
    if not isinstance(value, str):
        raise TypeError(f"{name}: {type(value).__name__} was given, str is needed")
    if value not in choices:
        raise ValueError(f"{name}: {value!r} was given, {', '.join(choices)} are allowed")
    return choices[value]
