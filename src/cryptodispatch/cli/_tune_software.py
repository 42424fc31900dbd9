"""`cryptodispatch tune --software`: the software implementations against each other."""

from __future__ import annotations

import sys

import click
from rich.console import Console
from rich.progress import BarColumn, Progress as Bar, TextColumn

from cryptodispatch import CryptoDispatchError, benchmark
from cryptodispatch.cli._output import print_json, print_table
from cryptodispatch.software._choose import SoftwareChoice, choose_software

__all__ = ["tune_software"]


def tune_software(*, as_json: bool) -> None:
    """Measure, keep, print."""
    try:
        choices, kept, reason = _measure()
    except CryptoDispatchError as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        print_json(_as_json(choices, kept, reason))
    else:
        _print(choices)
        click.echo(
            f"Kept in {kept}; put in force by every later process of this user."
            if kept
            else f"Not kept: {reason}"
        )


def _measure() -> tuple[dict[str, SoftwareChoice], str, str]:
    with Bar(
        TextColumn("measuring {task.description}"),
        BarColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    ) as bar:
        task = bar.add_task("", total=None)

        def show(algorithm: str, index: int, count: int) -> None:
            bar.update(task, completed=index, total=count, description=algorithm)

        return choose_software(progress=show)


def _as_json(choices: dict[str, SoftwareChoice], kept: str, reason: str) -> dict[str, object]:
    info = benchmark.clock_info()
    return {
        "clock": {"name": info.name, "hz": info.hz},
        "units": {
            "ticks": "ticks of the clock per request",
            "sizes": "bytes",
            "threshold": "bytes",
        },
        "kept": kept or None,
        "not_kept": reason or None,
        "algorithms": {
            name: {
                "order": list(choice.order),
                "small": choice.small,
                "threshold": choice.threshold,
                "sizes": list(choice.sizes),
                "best": list(choice.best),
                "ticks": {driver: list(row) for driver, row in choice.ticks.items()},
            }
            for name, choice in choices.items()
        },
    }


def _print(choices: dict[str, SoftwareChoice]) -> None:
    info = benchmark.clock_info()
    sizes = next(iter(choices.values())).sizes if choices else ()
    print_table(
        f"ns per request by bytes (* fastest), best of several; clock {info.name} at "
        f"{info.hz / 1e6:.0f} MHz",
        [
            ("algorithm", False),
            ("implementation", False),
            ("place", True),
            *((str(size), True) for size in sizes),
        ],
        [line for choice in choices.values() for line in _lines(choice, info.hz)],
    )
    for choice in choices.values():
        if choice.small is not None:
            click.echo(
                f"{choice.algorithm}: {choice.small} up to {choice.threshold} bytes, "
                f"{choice.order[0]} above"
            )


def _lines(choice: SoftwareChoice, hz: int) -> list[tuple[str, ...]]:
    drivers = [*choice.order, *(driver for driver in choice.ticks if driver not in choice.order)]
    best = choice.best
    return [
        (
            choice.algorithm if index == 0 else "",
            driver,
            str(index + 1) if driver in choice.order else "never",
            *(
                f"{ticks * 1e9 / hz:.0f}{'*' if driver == best[column] else ' '}"
                for column, ticks in enumerate(choice.ticks[driver])
            ),
        )
        for index, driver in enumerate(drivers)
    ]
