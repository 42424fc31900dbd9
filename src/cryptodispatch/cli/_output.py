"""Output for people and for programs."""

from __future__ import annotations

import json
import re
import sys
import textwrap
from collections.abc import Iterable, Sequence

import click
from rich.console import Console
from rich.table import Table

__all__ = ["print_json", "print_table"]

_WIDTH = 160  # of lines off a terminal, where the names need no more
_FRAME, _CELL_FRAME = 1, 3  # characters of a table beside its cells: of all, of each


def print_json(value: object) -> None:
    """Print one JSON document."""
    click.echo(json.dumps(value, indent=2))


def print_table(
    title: str, columns: Sequence[tuple[str, bool]], rows: Iterable[Sequence[str]]
) -> None:
    """Print a table for people; a column is (heading, whether it is a number).

    Texts are wrapped between words. Nothing is cut or broken: lines off a terminal are as long as
    names need them to be, and on a terminal too narrow for the names there are lists of cells
    instead of a table.
    """
    lines = list(rows)
    console = Console(width=None if sys.stdout.isatty() else _WIDTH, markup=False, highlight=False)
    headings = [heading for heading, _number in columns]
    cells = [headings, *lines]
    least = [max(map(_longest_word, column)) for column in zip(*cells, strict=True)]
    most = [max(map(len, column)) for column in zip(*cells, strict=True)]
    room = console.width - _FRAME - _CELL_FRAME * len(columns)
    if sum(least) > room and console.is_terminal:
        _print_title(title, console.width)
        for line in _stacked(headings, lines, console.width):
            click.echo(line)
        return
    table = Table()
    widths = _fit(least, most, room)
    for (heading, number), width in zip(columns, widths, strict=True):
        table.add_column(heading, justify="right" if number else "left", width=width)
    for row in lines:
        table.add_row(*row)
    width = _FRAME + sum(width + _CELL_FRAME for width in widths)
    _print_title(title, width)
    Console(width=width, markup=False, highlight=False).print(table)


def _print_title(title: str, width: int) -> None:
    """Print it as wide as what is below, without the blanks that rich would fill it up with."""
    for line in textwrap.wrap(title, width, break_long_words=False, break_on_hyphens=False):
        Console(markup=False, highlight=False).print(line, style="bold", soft_wrap=True)


def _longest_word(cell: str) -> int:
    """Characters of what must stay on a line; the * behind a name stays with it."""
    return max(map(len, re.split(r" (?!\*)", cell)))


def _fit(least: Sequence[int], most: Sequence[int], room: int) -> list[int]:
    """Widths of columns: all they want, or the widest cut until it fits, none below its least."""
    widths = list(most)
    while sum(widths) > room:
        wide = [index for index, width in enumerate(widths) if width > least[index]]
        if not wide:
            break
        widths[max(wide, key=widths.__getitem__)] -= 1
    return widths


def _stacked(headings: Sequence[str], rows: Iterable[Sequence[str]], width: int) -> Iterable[str]:
    """Lines for a narrow terminal: first cell, below it the second, then the others with headings.

    A first cell is not repeated, and a third is beside the second if it is the last.
    """
    last = None
    for first, second, *others in rows:
        if first and first != last:
            yield first
            last = first
        if len(others) == 1:
            yield from _wrapped(f"{second}: {others[0]}", width, 2)
            continue
        if second:
            yield f"  {second}"
        facts = [f"{name}: {cell}" for name, cell in zip(headings[2:], others, strict=True) if cell]
        yield from _wrapped(", ".join(facts), width, 4)


def _wrapped(text: str, width: int, indent: int) -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent=" " * indent,
        subsequent_indent=" " * indent + "  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
