"""`cryptodispatch selftest`: known answers for every implementation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from cryptodispatch import algorithms
from cryptodispatch.cli._output import print_json, print_table
from cryptodispatch.eip93 import Device
from cryptodispatch.known_answers import Report, Vector, load, run, unrun

__all__ = ["command"]


@click.command("selftest")
@click.option(
    "--vectors",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Run the vectors of this TOML file instead of the package's own.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(vectors: Path | None, *, as_json: bool) -> None:
    """Run the known answers on software, on the emulated engine, and on both sides of proxies."""
    try:
        answers = load(vectors)
    except (OSError, ValueError) as error:
        raise click.ClickException(str(error)) from error
    reports = list(_run_all(answers))
    reports.extend(unrun(reports, answers))
    failed = sum(len({failure.source for failure in report.failures}) for report in reports)
    if as_json:
        print_json(
            {
                "implementations": [_as_json(report) for report in reports],
                "vectors": len(answers),
                "passed": sum(report.vectors for report in reports) - failed,
                "failed": failed,
            }
        )
    else:
        _print(reports, answers, failed)
    raise SystemExit(1 if failed or not answers else 0)


def _run_all(answers: list[Vector]) -> Iterator[Report]:
    with Device.emulated() as device:
        plain = algorithms()
        yield from (run(entry, answers) for entry in plain)
        device.fallback.enable()
        proxies = [entry for entry in algorithms() if entry.proxy]
        for side, threshold in (("hardware", 0), ("software", -1)):
            for group in device.fallback.values():
                group.threshold = threshold
            yield from (run(entry, answers, side=side) for entry in proxies)


def _as_json(report: Report) -> dict[str, object]:
    return {
        "driver": report.driver,
        "algorithm": report.algorithm,
        "side": report.side,
        "vectors": report.vectors,
        "skipped": report.skipped,
        "failures": [
            {"source": item.source, "operation": item.operation, "problem": item.problem}
            for item in report.failures
        ],
    }


def _print(reports: list[Report], answers: list[Vector], failed: int) -> None:
    print_table(
        f"Known answers ({len(answers)} vectors, each in every direction)",
        [("implementation", False), ("side", False), ("vectors", True), ("outcome", False)],
        [
            (
                report.driver,
                report.side,
                str(report.vectors),
                f"skipped: {report.skipped}"
                if report.skipped
                else "ok"
                if not report.failures
                else f"{len({item.source for item in report.failures})} failed",
            )
            for report in reports
        ],
    )
    for report in reports:
        for item in report.failures:
            click.echo(
                f"{report.driver}: {item.source}, {item.operation}: {item.problem}", err=True
            )
    passed = sum(report.vectors for report in reports) - failed
    click.echo(f"{passed} passed, {failed} failed")
