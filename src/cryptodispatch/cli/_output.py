"""Output for people and for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence

import click
from rich.console import Console
from rich.table import Table

__all__ = ["print_json", "print_table"]


def print_json(value: object) -> None:
    """Print one JSON document."""
    click.echo(json.dumps(value, indent=2))


def print_table(
    title: str, columns: Sequence[tuple[str, bool]], rows: Iterable[Sequence[str]]
) -> None:
    """Print a table for people; a column is (heading, whether it is a number).

    Off a terminal lines are as long as they need to be: nothing is cut.
    """
    table = Table(title=title, title_justify="left", title_style="bold")
    for heading, number in columns:
        table.add_column(heading, justify="right" if number else "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    width = None if sys.stdout.isatty() else 160
    Console(width=width, markup=False, highlight=False).print(table)
