"""Prints what a request costs here: ours, the yardstick, the peers, and the ratios.

pip install '.[bench]'
python benchmarks/compare.py                one request, all sizes, then a verdict
python benchmarks/compare.py --processes 3  medians of fresh processes: memory layout moves one by
                                            10 to 15 ns, which matters below 100 ns
python benchmarks/compare.py --batches      batches of 1000 records, per record
python benchmarks/compare.py --json FILE    the figures as JSON as well; chart.py draws them
python benchmarks/compare.py --only sha256  cases whose name has that; case and dashes do not count
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import batches
import facts
import interleave
import limit
import options
import verdict
from cases import Case, cases
from verdict import Row

SIZES = (16, 64, 256, 1024, 1420, 4096, 16384)


def measure(case: Case, size: int, yardstick: ModuleType, rounds: int) -> Row:
    """Time everybody on a text of `size` bytes (rounded down to the case's unit), then check."""
    data = case.input(size)
    calls = {
        name: way(data)
        for name, way in {
            "ours": case.ours(case.algorithm),
            "limit": case.limit(yardstick),
            **case.peers(),
        }.items()
    }
    results = interleave.run(calls, rounds)
    expected = case.oracle(data)
    for name, call in calls.items():
        assert call.outcome(call.function(*call.arguments)) == expected, (case.name, size, name)
    return Row(
        case.name,
        size,
        {name: result.median for name, result in results.items()},
        {name: result.spread for name, result in results.items()},
    )


def selected(only: str, *, every: bool = False) -> list[Case]:
    """The cases whose name contains `only`: the rows of the table, or every one."""
    return [c for c in cases() if (c.is_row or every) and options.matches(only, c.name)]


def rounded(row: Row) -> str:
    """What was measured where a size is no multiple of the case's unit; empty where it is."""
    unit = next(case.unit for case in cases() if case.name == row.case)
    return f"  ({row.size - row.size % unit} bytes measured)" if row.size % unit else ""


@dataclass(frozen=True)
class Plan:
    """What to measure: cases by `only` and `every` as `selected` has them, bytes, samples."""

    only: str = ""
    every: bool = False
    sizes: tuple[int, ...] = SIZES
    rounds: int = 40


def measure_here(plan: Plan) -> Iterator[Row]:
    """Every cell in this process."""
    yardstick = limit.load()
    for case in selected(plan.only, every=plan.every):
        for size in plan.sizes:
            yield measure(case, size, yardstick, plan.rounds)


def measure_in(processes: int, plan: Plan) -> list[Row]:
    """Every cell in each of several fresh processes, merged."""
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(processes):
            file = Path(folder) / "rows.json"
            command = [sys.executable, __file__, "--json", str(file), "--only", plan.only]
            command += ["--rounds", str(plan.rounds), "--sizes", *map(str, plan.sizes)]
            command += ["--every"] * plan.every
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            runs.append(read(file)[1])
    return verdict.merge(runs)


def to_json(host: dict[str, str], rows: Sequence[Row]) -> str:
    """The figures as a file keeps them."""
    data = {"host": host, "rows": [row.to_json() for row in rows]}
    return json.dumps(data, indent=1) + "\n"


def read(file: Path) -> tuple[dict[str, str], list[Row]]:
    """The figures that `to_json` made; ValueError: the file has none."""
    try:
        data = json.loads(file.read_text("utf-8"))
        return data["host"], [Row.from_json(row) for row in data["rows"]]
    except (ValueError, TypeError, LookupError) as error:
        raise ValueError("it has no figures of compare.py --json, one request each") from error


def _arguments() -> tuple[argparse.ArgumentParser, argparse.Namespace]:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--batches", action="store_true", help="batches instead of one request")
    parser.add_argument("--every", action="store_true", help="also cases that are not in the table")
    parser.add_argument("--json", type=Path, help="write the figures there as well")
    parser.add_argument("--rounds", type=int, default=40, help="samples of each, default 40")
    parser.add_argument("--processes", type=int, default=1, help="fresh processes, default 1: none")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--sizes", type=int, nargs="+", help="bytes of a request")
    arguments = parser.parse_args()
    if arguments.batches:
        names = list(batches.MAKERS)
    else:
        names = [case.name for case in selected("", every=arguments.every)]
    if not any(options.matches(arguments.only, name) for name in names):
        parser.error(f"--only: {arguments.only!r} is in none of {', '.join(names)}")
    _check_sizes(parser, arguments)
    options.check_target(parser, "--json", arguments.json)
    for option in ("rounds", "processes"):
        if (value := getattr(arguments, option)) < 1:
            parser.error(f"--{option}: {value} was given, 1 or more is needed")
    if arguments.batches and arguments.processes > 1:
        parser.error("--processes: batches take too long for a process to matter")
    return parser, arguments


def _check_sizes(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """Refuse sizes of which a case would leave nothing; fill in the usual ones."""
    if arguments.sizes and arguments.batches:
        sizes = ", ".join(map(str, (*batches.SIZES, batches.MIXED)))
        parser.error(f"--sizes: not with --batches, which have records of {sizes} bytes")
    arguments.sizes = arguments.sizes or SIZES
    if arguments.batches:
        return
    for size in arguments.sizes:
        for case in selected(arguments.only, every=arguments.every):
            if size < case.unit:
                parser.error(f"--sizes: {size} was given, {case.name} needs {case.unit} or more")


def main() -> None:
    """Measure and print."""
    parser, arguments = _arguments()
    host = facts.host()
    print(facts.show(host))
    if arguments.batches:
        figures = batches.main(arguments.rounds, arguments.only)
        if arguments.json:
            data = {"host": host, "batches": figures}
            options.write(parser, "--json", arguments.json, json.dumps(data, indent=1) + "\n")
        return
    print(verdict.header())
    plan = Plan(arguments.only, arguments.every, tuple(arguments.sizes), arguments.rounds)
    rows = []
    one = arguments.processes == 1
    for row in measure_here(plan) if one else measure_in(arguments.processes, plan):
        rows.append(row)
        print(verdict.line(row) + rounded(row), flush=True)
    print(verdict.summary(rows))
    if arguments.json:
        options.write(parser, "--json", arguments.json, to_json(host, rows))


if __name__ == "__main__":
    main()
