"""`cryptodispatch predict`: from a published table to the size from which an engine pays."""

from __future__ import annotations

from pathlib import Path

import click

from cryptodispatch.cli._output import print_json, print_table
from cryptodispatch.prediction import SOFTWARE, Line, Prediction, Table, load_tables, predict

__all__ = ["command"]


@click.command("predict")
@click.argument("table", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--software",
    default=SOFTWARE,
    show_default=True,
    help="Name of the row that is the software side, as software_ce.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(table: Path, software: str, *, as_json: bool) -> None:
    """Fit both sides of every algorithm in TABLE (TOML) and print where they meet.

    A [[table]] that has one side only, or one point only, is left out and named.

    \b
    TABLE looks like this:
      tick_hz = 25000000             # only with unit ticks or cycles
      [[table]]
      algorithm = "cbc(aes)-128"     # any name
      unit = "ticks"
      sizes = [16, 256, 1024, 4096]  # bytes
      hardware = [322, 312, 434, 980]
      software = [18, 138, 520, 2051]

    \b
    Fields of a [[table]]:
      unit       s, ms, us, ns, ticks or cycles per request; B/s, kB/s, MB/s (powers
                 of 1000); ops/s; operations (in `seconds`, a list as sizes)
      sizes      or hardware_sizes and software_sizes, where they differ
      hardware   figures of the engine, one for each size
      software   figures of the CPU
      fallback   with threshold = N, instead of one of the two: figures of an engine
                 with its fallback on, software up to N bytes, hardware above
                 (threshold_rule = "below": software below N)
      id, api, direction   optional; printed, to tell tables of one algorithm apart

    Without tick_hz, ticks and cycles are printed as they are. Other fields are not read.
    """  # noqa: D301 - click reads a real backspace: leave these lines as they are
    try:
        tables = load_tables(table, software)
    except LookupError as error:
        raise click.BadParameter(str(error.args[0]), param_hint="--software") from error
    except (OSError, ValueError) as error:
        raise click.ClickException(str(error)) from error
    rows: list[Prediction] = []
    skipped: list[tuple[Table, str]] = []
    for entry in tables:
        try:
            rows.append(predict(entry))
        except ValueError as error:
            skipped.append((entry, str(error)))
    if as_json:
        print_json(
            {
                "rows": [_as_json(row) for row in rows],
                "skipped": [
                    {"table": one.id, "algorithm": one.algorithm, "reason": reason}
                    for one, reason in skipped
                ],
            }
        )
    elif rows:
        _print(rows)
    for one, reason in skipped:
        click.echo(f"left out: table {one.id}, {one.algorithm}: {reason}", err=True)
    if not rows:
        raise click.ClickException(f"{table}: no algorithm has two points on both sides")


def _line(line: Line) -> dict[str, float]:
    return {"overhead": line.overhead, "per_byte": line.per_byte, "error": line.error}


def _as_json(row: Prediction) -> dict[str, object]:
    return {
        "table": row.id,
        "measured": row.measured,
        "algorithm": row.algorithm,
        "time_unit": row.time_unit,
        "crossover": row.crossover,
        "method": row.method,
        "first_win": row.first_win,
        "threshold": row.threshold,
        "hardware": _line(row.hardware),
        "software": _line(row.software),
        "error": row.error,
        "note": row.note,
    }


def _print(rows: list[Prediction]) -> None:
    print_table(
        "From which size the engine pays",
        [
            ("table", False),
            ("algorithm", False),
            ("overhead hw", True),
            ("sw", True),
            ("bytes per µs hw", True),
            ("sw", True),
            ("crossover", True),
            ("measured", True),
            ("threshold", True),
            ("fit error", True),
            ("measured by", False),
        ],
        [
            (
                row.id,
                row.algorithm,
                _overhead(row.hardware, row.time_unit),
                _overhead(row.software, row.time_unit),
                _bandwidth(row.hardware, row.time_unit),
                _bandwidth(row.software, row.time_unit),
                _crossover(row),
                "-" if row.first_win is None else f"{row.first_win[0]}..{row.first_win[1]}",
                str(row.threshold),
                f"{row.error:.0%}",
                row.measured,
            )
            for row in rows
        ],
    )
    for row in rows:
        if row.note:
            click.echo(f"table {row.id}, {row.algorithm}: {row.note}")


def _overhead(line: Line, unit: str) -> str:
    return f"{line.overhead / 1000:.2f} µs" if unit == "ns" else f"{line.overhead:.0f} cycles"


def _bandwidth(line: Line, unit: str) -> str:
    scale, suffix = (1e3, "") if unit == "ns" else (1.0, " B/cycle")
    return f"{line.bandwidth * scale:.4g}{suffix}"


def _crossover(row: Prediction) -> str:
    words = {-1: "never", 0: "always"}
    mark = "" if row.method == "fit" else " (interpolated)"
    return words.get(int(row.crossover), f"{row.crossover:.0f}") + mark
