"""Prints what a request costs here: ours, the yardstick, the peers, and the ratios.

pip install '.[bench]'
python benchmarks/compare.py             one request, all sizes
python benchmarks/compare.py --batches   batches of 1000 records, per record
python benchmarks/compare.py --json FILE the figures as JSON as well
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import batches
import interleave
import limit
from cases import Case, cases

import cryptodispatch as cd

SIZES = (16, 64, 256, 1024, 1420, 4096, 16384)
BLOCK = 16


def measure(case: Case, size: int, yardstick: ModuleType, rounds: int) -> dict[str, float]:
    """Nanoseconds per call of everybody, by name."""
    length = size - size % BLOCK
    data = bytes(range(256)) * (length // 256 + 1)
    data = data[:length]
    calls: dict[str, Callable[[bytes], object]] = {"ours": case.ours}
    if case.limit:
        function = getattr(yardstick, case.limit)
        is_cipher = case.limit in ("cbc_encrypt", "cbc_decrypt", "ctr", "ecb_encrypt")
        calls["limit"] = _with_iv(function) if is_cipher else function
    calls.update({f"documented: {name}": call for name, call in case.documented.items()})
    calls.update({f"reuse: {name}": call for name, call in case.reuse.items()})
    results = interleave.run(calls, data, rounds)
    assert case.ours(data) == case.check(data), case.name
    return {name: result.median for name, result in results.items()}


def _with_iv(function: Callable[[bytes, bytes], bytes]) -> Callable[[bytes], bytes]:
    iv = bytes(range(16, 32))
    return lambda data: function(data, iv)


def summary(times: dict[str, float]) -> dict[str, float | None]:
    """Ours, the limit, and the best peer of either kind."""
    best = {
        kind: min((value for name, value in times.items() if name.startswith(kind)), default=None)
        for kind in ("documented", "reuse")
    }
    return {"ours": times["ours"], "limit": times.get("limit"), **best}


def host() -> dict[str, str]:
    """What the figures belong to."""
    info = cd.benchmark.clock_info()
    cpu = next(
        (
            line.split(":", 1)[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    commit = subprocess.run(  # noqa: S603
        ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    return {
        "cpu": cpu,
        "clock": f"{info.name} {info.hz / 1e6:.0f} MHz",
        "python": platform.python_version(),
        "compiler": platform.python_compiler(),
        "commit": commit,
    }


def show(name: str, size: int, row: dict[str, float | None]) -> None:
    """One line of the table."""

    def number(key: str) -> str:
        value = row[key]
        return f"{value:10.0f}" if value else f"{'-':>10}"

    def ratio(key: str) -> str:
        value, ours = row[key], row["ours"]
        return f"{value / ours:7.2f}" if value and ours else f"{'-':>7}"

    allowed = row["limit"] * 1.12 + 13 if row["limit"] else None
    mark = "" if allowed is None or (row["ours"] or 0) <= allowed else " over the limit"
    print(  # noqa: T201
        f"{name:24}{size:7}{number('ours')}{number('limit')}{number('documented')}{number('reuse')}"
        f"{ratio('documented')}{ratio('reuse')}{mark}"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batches", action="store_true", help="batches instead of one request")
    parser.add_argument("--json", type=Path, help="write the figures there as well")
    parser.add_argument("--rounds", type=int, default=40, help="samples of each, default 40")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    arguments = parser.parse_args()
    facts = host()
    print(", ".join(facts.values()))  # noqa: T201
    if arguments.batches:
        batches.main(arguments.rounds)
        return
    yardstick = limit.load()
    print(  # noqa: T201
        f"{'ns per request':24}{'bytes':>7}{'ours':>10}{'limit':>10}{'documented':>10}{'reuse':>10}"
        f"{'x doc':>7}{'x reuse':>7}"
    )
    rows = []
    for case in cases():
        if arguments.only in case.name:
            for size in SIZES:
                row = summary(measure(case, size, yardstick, arguments.rounds))
                rows.append({"case": case.name, "size": size, **row})
                show(case.name, size, row)
    if arguments.json:
        arguments.json.write_text(json.dumps({"host": facts, "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
