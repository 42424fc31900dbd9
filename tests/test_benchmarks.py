"""The benchmarks measure what they say: every way gives the oracle's result, sums are right."""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import batches
import chart
import compare
import interleave
import kernels
import limit
import options
import pytest
import verdict
from cases import Case, cases
from verdict import Row
from ways import Prepared, Way

SIZES = (0, 1, 16, 17, 64, 127, 304)


@pytest.fixture(scope="module")
def yardstick():
    return limit.load()


@pytest.fixture(scope="module")
def program(tmp_path_factory) -> Path:
    return kernels.build(tmp_path_factory.mktemp("kernels"))


def ours(case: Case) -> dict[str, Way]:
    ways = {form: case.ours(a.driver) for form, a in case.forms().items() if a.available}
    assert ways
    ways["best"] = case.ours(case.algorithm)
    if case.ours_into:
        ways["into"] = case.ours_into(case.algorithm)
    return ways


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_every_way_gives_the_oracles_result(case: Case, yardstick) -> None:
    ways = {**ours(case), **case.peers(), "limit": case.limit(yardstick)}
    for size in SIZES:
        if size % case.unit == 0:
            data = case.input(size)
            for name, way in ways.items():
                call = way(data)
                for _ in range(3):  # kept objects go on from where they are
                    value = call.function(*call.arguments)
                assert call.outcome(value) == case.oracle(data), (name, size)


def test_a_wrong_result_is_noticed() -> None:
    for case in cases():
        data = case.input(64)
        for name, way in case.peers().items():
            call = way(data)
            value = call.function(*call.arguments)
            if not isinstance(value, bytes):
                continue
            forged = value[:-1] + bytes([value[-1] ^ 1])
            try:
                assert call.outcome(forged) != case.oracle(data), (case.name, name)
            except ValueError as refusal:
                assert "tag" in str(refusal)  # noqa: PT017 - either way is fine


def test_the_table_has_the_rows_of_every_operation() -> None:
    names = [case.name for case in cases()]
    assert len(set(names)) == len(names)
    assert {line.case for line in chart.LINES} <= {case.name for case in compare.selected("")}
    assert len({case.operation for case in cases()}) == len(names)
    assert [case.name for case in compare.selected("3DES")] == ["3DES-CBC"]


@pytest.mark.parametrize("name", list(batches.MAKERS))
def test_batches_give_the_oracles_records(name: str) -> None:
    work = batches.batch(batches.MIXED)
    for label, call in batches.MAKERS[name](work).items():
        for _ in range(2):
            value = call.function(*call.arguments)
        assert call.outcome(value) == batches.expected(name, work), label


def test_interleaving_times_every_call() -> None:
    calls = {
        "one": Prepared(bytes.upper, (b"a",), bytes),
        "two": Prepared(bytes.strip, (b"a", b"b"), bytes),
        "none": Prepared(bytes, (), bytes),
    }
    results = interleave.run(calls, rounds=2)
    assert set(results) == set(calls)
    assert all(0 < result.best <= result.median for result in results.values())


# Kernels


def test_kernels_give_the_oracles_results(program: Path) -> None:
    report = kernels.parse(kernels.run(program, "kernels", "1", ""))
    assert kernels.wrong(report) == []
    measured = {(kernel.operation, kernel.implementation) for kernel in report.kernels}
    assert ("cbc(aes) encrypt", "lib") in measured
    assert ("authenc(hmac(sha1),cbc(aes))", "lib-one-pass") in measured
    assert not measured & set(report.absent)
    forged = dataclasses.replace(report.kernels[0], digest="0" * 64)
    assert kernels.wrong(dataclasses.replace(report, kernels=(forged,))) != []


def test_dispatch_ends_at_the_same_kernel(program: Path) -> None:
    report = kernels.parse(kernels.run(program, "dispatch", "1"))
    assert report.driver in {"cbc(aes-ni)", "cbc(aes-generic)"}
    assert report.ways[0].name == "kernel alone"
    assert len(report.ways) == 4
    for number in range(4):
        assert kernels.run(program, "requests", str(number), "3") == ""


# What the figures say


def row(size: int = 4096, *, ours: float, spread: float = 0.1, **times: float) -> Row:
    named = {"ours": ours, **{key.replace("_", ": ", 1): value for key, value in times.items()}}
    return Row("case", size, named, dict.fromkeys(named, spread))


def test_rows_name_the_fastest_peer() -> None:
    fast = row(ours=100, limit=90, documented_a=900, documented_b=800, reuse_c=300)
    assert fast.best("documented") == ("b", 800)
    assert fast.best("reuse") == ("c", 300)
    assert fast.best("") == ("c", 300)
    assert fast.times_faster("") == 3
    assert row(ours=100).best("") is None
    assert row(ours=100).times_faster("reuse") is None


@pytest.mark.parametrize(
    ("ours", "limit", "over"), [(125.0, 100, False), (125.1, 100, True), (1134, 1000, True)]
)
def test_limit(ours: float, limit: float, over: bool) -> None:  # noqa: FBT001
    assert row(ours=ours, limit=limit).over_limit is over
    assert not row(ours=ours).over_limit


def test_peers_matter_from_4_kib() -> None:
    assert row(4096, ours=106, documented_a=200, reuse_b=100).behind_peer
    assert row(4096, ours=106, documented_a=100, reuse_b=200).behind_peer
    assert not row(4096, ours=105, reuse_b=100).behind_peer
    assert not row(1420, ours=500, reuse_b=100).behind_peer


def test_summary_counts_and_lists() -> None:
    rows = [
        row(16, ours=100, limit=50, reuse_a=500),
        row(4096, ours=100, limit=99, reuse_a=80),
        row(16384, ours=100, limit=99, reuse_a=200),
    ]
    assert verdict.summary(rows).splitlines() == [
        "1 of 3 cells over limit x 1.12 + 13 ns: case 16",
        "1 of 2 cells from 4096 bytes slower than the fastest peer x 1.05: case 4096",
    ]
    assert verdict.line(rows[0]).endswith("<- over the limit")
    assert verdict.line(rows[1]).endswith("<- behind")
    assert verdict.line(rows[2]).endswith("a")


def test_processes_are_merged_by_ratio() -> None:
    """A process at half speed changes nothing but the spread."""
    runs = [[row(ours=100, limit=90)], [row(ours=200, limit=180)], [row(ours=100, limit=90)]]
    (merged,) = verdict.merge(runs)
    assert merged.times == {"ours": 100, "limit": 90}
    assert merged.spread["ours"] == 1
    assert merged.spread["limit"] == 0.1
    with pytest.raises(ValueError, match="different rows"):
        verdict.merge([[row(16, ours=1)], [row(64, ours=1)]])


def test_figures_survive_their_file(tmp_path: Path) -> None:
    rows = [row(16, ours=100, limit=50, reuse_a=500)]
    (tmp_path / "rows.json").write_text(compare.to_json({"cpu": "x"}, rows))
    assert compare.read(tmp_path / "rows.json") == ({"cpu": "x"}, rows)


# What the commands refuse, before they measure


def command(monkeypatch: pytest.MonkeyPatch, main: Callable[[], None], *arguments: object) -> None:
    monkeypatch.setattr(sys, "argv", ["command", *map(str, arguments)])
    main()


@pytest.mark.parametrize(
    ("module", "arguments", "said"),
    [
        (compare, ["--only", "SHA-3"], "--only: 'SHA-3' is in none of"),
        (compare, ["--sizes", "-5"], "--sizes: -5 was given, AES-128-CBC encrypt needs 16 or more"),
        (compare, ["--only", "sha256", "--sizes", "0"], "needs 1 or more"),
        (compare, ["--sizes", "15"], "--sizes: 15 was given"),
        (compare, ["--batches", "--sizes", "64"], "--sizes: not with --batches"),
        (compare, ["--json", "/nope/x.json"], "--json: /nope/x.json: No such file or directory"),
        (kernels, ["--json", "/nope/x.json"], "--json: /nope/x.json: No such file or directory"),
        (chart, ["/nope"], "file: /nope: No such file or directory"),
        (chart, ["/dev/null"], "file: /dev/null: it has no figures of compare.py"),
        (chart, ["--output", "/nope/x.svg"], "--output: /nope/x.svg: No such file"),
        (chart, ["--processes", "0"], "--processes: 0 was given"),
    ],
)
def test_wrong_use(monkeypatch, capsys, module, arguments, said) -> None:
    monkeypatch.setattr(compare, "measure", None)
    monkeypatch.setattr(compare, "measure_in", None)
    with pytest.raises(SystemExit) as caught:
        command(monkeypatch, module.main, *arguments)
    assert caught.value.code == 2
    assert said in capsys.readouterr().err


def test_a_target_that_can_be_written_is_not_made_before_time(tmp_path: Path) -> None:
    parser = argparse.ArgumentParser()
    options.check_target(parser, "--json", tmp_path / "new")
    assert not (tmp_path / "new").exists()
    (tmp_path / "old").write_text("kept")
    options.check_target(parser, "--json", tmp_path / "old")
    assert (tmp_path / "old").read_text() == "kept"


def test_full_disk(capsys) -> None:
    with pytest.raises(SystemExit) as caught:
        options.write(argparse.ArgumentParser(), "--json", Path("/dev/full"), "figures")
    assert caught.value.code == 1
    assert "--json: /dev/full: No space left on device" in capsys.readouterr().err


def test_chart_of_figures_that_it_does_not_draw(monkeypatch, capsys, tmp_path: Path) -> None:
    file = tmp_path / "md5.json"
    file.write_text(compare.to_json(HOST, [Row("MD5", 64, {"ours": 1, "reuse: a": 2}, {})]))
    output = tmp_path / "chart.svg"
    with pytest.raises(SystemExit) as caught:
        command(monkeypatch, chart.main, file, "--output", output)
    assert caught.value.code == 2
    assert f"file: {file}: rows: none of the chart's cases" in capsys.readouterr().err
    assert not output.exists()


@pytest.mark.parametrize("only", ["sha256", "SHA-256", "Sha256", "HA-25"])
def test_names_match_in_any_case_and_without_dashes(only: str) -> None:
    names = [case.name for case in compare.selected(only)]
    assert (
        names
        == ["SHA-256", "HMAC-SHA-256", "CBC + HMAC-SHA-256", "CBC + HMAC-SHA-256 decrypt"][
            : len(names)
        ]
    )
    assert len(names) >= 3
    assert compare.selected("aes-256-cbc") == compare.selected("AES256CBC") != []


def test_names_of_kernels_are_as_they_are_compared(program: Path) -> None:
    report = kernels.parse(kernels.run(program, "kernels", "1", options.plain("SHA-224")))
    assert {kernel.operation for kernel in report.kernels} == {"sha224", "hmac(sha224)"}


def test_rounding_is_seen(monkeypatch, capsys, yardstick) -> None:
    monkeypatch.setattr(limit, "load", lambda: yardstick)
    arguments = ("--only", "aes-256-cbc", "--sizes", 17, 32, "--rounds", 1)
    command(monkeypatch, compare.main, *arguments)
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("AES-256-CBC")]
    assert ["(16 bytes measured)" in row for row in rows] == [True, False]


# The chart

HOST = dict.fromkeys(("cpu", "python", "openssl", "peers", "date"), "a < b & c")


def chart_rows(low: float = 0.9) -> list[Row]:
    return [
        Row(line.case, size, {"ours": 100, "reuse: a": 100 * low * 16384 / size}, {"ours": 0})
        for line in chart.LINES
        for size in (16384, 64, 1420)
    ]


def test_chart_is_the_same_each_time() -> None:
    text = chart.draw(chart_rows(), HOST)
    assert text == chart.draw(list(reversed(chart_rows())), HOST)
    assert len(text) < 60_000
    found = "".join(ET.fromstring(text).itertext())  # noqa: S314 - our own
    assert all(line.case in found for line in chart.LINES)
    assert found.count("a < b & c") == 5
    assert "prefers-color-scheme:dark" in text


def test_chart_needs_rows() -> None:
    with pytest.raises(ValueError, match="none of the chart's cases"):
        chart.draw([row(ours=1)], HOST)


def test_chart_keeps_points_inside() -> None:
    for low in (0.3, 0.9, 5.0):
        drawn = chart.points(chart_rows(low))
        scale = chart.Scale.over(drawn)
        for size, ratio in itertools.chain(*drawn.values()):
            assert chart.LEFT <= scale.x(size) <= chart.RIGHT
            assert ratio > 100 or chart.TOP - 0.01 <= scale.y(ratio) <= chart.BOTTOM + 0.01


def test_labels_keep_apart() -> None:
    wanted = [chart.BOTTOM, 100.0, chart.BOTTOM - 1, chart.BOTTOM - 2, 101.0]
    placed = chart.spread_labels(wanted)
    order = sorted(placed)
    assert all(b - a >= chart.LABEL_GAP for a, b in itertools.pairwise(order))
    assert order[-1] <= chart.BOTTOM
    assert placed[1] < placed[4] < placed[3] < placed[2] < placed[0]


def test_committed_chart_is_drawn_by_this_code() -> None:
    """Its style and its lines are; its figures are those of a machine."""
    text = Path(chart.__file__).with_name("chart.svg").read_text("utf-8")
    style = chart.draw(chart_rows(), HOST).split("<style>")[1].split("</style>")[0]
    assert style in text
    assert all(f">{line.case}<" in text for line in chart.LINES)
