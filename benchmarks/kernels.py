"""Prints what each kernel costs in C, in ticks per byte, and what dispatch adds to a request.

python benchmarks/kernels.py                 kernels, then one request of 16 bytes by every way
python benchmarks/kernels.py --instructions  that request counted in instructions, under callgrind
python benchmarks/kernels.py --json FILE     the figures as JSON as well

Ticks are those of the host's constant counter, not core cycles. No figure of here belongs beside
one of compare.py: a call from Python costs more than most of these kernels. A compiler and the
source tree are needed.
"""

from __future__ import annotations

import argparse
import hashlib
import hmac
import json
import re
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import facts
import native
import options
from cases import DES_KEY, IV, KEY, cases, pattern
from peers import Spec
from peers_hash import seal

SIZES = (16, 64, 256, 1024, 1424, 4096, 16384)
REQUESTS = 1000  # what callgrind counts more of in the second run than in the first


@dataclass(frozen=True)
class Kernel:
    """One kernel at one size: `best` and `median` are ticks for `records` texts of `size` bytes."""

    operation: str
    implementation: str
    records: int
    size: int
    best: float
    median: float
    spread: float
    digest: str

    @property
    def per_byte(self) -> float:
        """Median ticks per byte."""
        return self.median / (self.records * self.size)


@dataclass(frozen=True)
class Way:
    """One way of a request of 16 bytes, in ticks."""

    name: str
    best: float
    median: float
    spread: float


@dataclass(frozen=True)
class Report:
    """What a run of the program printed."""

    hz: int
    kernels: tuple[Kernel, ...] = ()
    absent: tuple[tuple[str, str], ...] = ()
    ways: tuple[Way, ...] = ()
    driver: str = ""


def build(folder: Path) -> Path:
    """Compile the program into a folder."""
    sources = ("kernels.c", "kernels_table.c", "dispatch.c")
    return native.compile_c(folder / "kernels", *sources)


def run(program: Path, *arguments: str) -> str:
    """What the program prints."""
    command = [str(program), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _figures(row: Sequence[str]) -> tuple[float, float, float]:
    best, median, spread = map(float, row)
    return best, median, spread


def parse(text: str) -> Report:
    """Read the lines of kernels.c."""
    lines = [line.split("\t") for line in text.splitlines()]
    rows: dict[str, list[list[str]]] = {}
    for kind, *fields in lines:
        rows.setdefault(kind, []).append(fields)
    return Report(
        int(rows["clock"][0][1]),
        tuple(
            Kernel(row[0], row[1], int(row[2]), int(row[3]), *_figures(row[4:7]), row[7])
            for row in rows.get("kernel", [])
        ),
        tuple((row[0], row[1]) for row in rows.get("absent", [])),
        tuple(Way(row[0], *_figures(row[1:4])) for row in rows.get("way", [])),
        rows.get("driver", [[""]])[0][0],
    )


def oracle(operation: str, records: int, size: int) -> bytes:
    """What a kernel must have written, by libcrypto and hashlib."""
    name, _, direction = operation.partition(" ")
    whole = pattern(records * size)
    texts = [whole[start : start + size] for start in range(0, len(whole), size)]
    if match := re.fullmatch(r"(ecb|cbc|ctr)\((aes|des|des3_ede)\)", name):
        mode, cipher = match.groups()
        key = {"aes": KEY, "des": DES_KEY[:8] * 3, "des3_ede": DES_KEY}[cipher]
        block = 16 if cipher == "aes" else 8
        iv = b"" if mode == "ecb" else IV[:block]
        spec = Spec(mode, key, iv, direction == "decrypt", cipher != "aes")
        ivs = [number.to_bytes(block, "big") for number in range(records)] if records > 1 else [iv]
        return b"".join(spec.oracle(text, own) for text, own in zip(texts, ivs, strict=True))
    if match := re.fullmatch(r"authenc\(hmac\((\w+)\),cbc\(aes\)\)", name):
        return seal(Spec("cbc", KEY, IV), match[1], KEY, whole)
    if name == "sha224":
        return b"".join(hashlib.sha224(text).digest() for text in texts)
    if name == "hmac(sha224)":
        return hmac.digest(KEY, whole, "sha224")
    found = next(case for case in cases() if case.algorithm == name)
    return b"".join(map(found.oracle, texts))


def wrong(report: Report) -> list[str]:
    """Kernels whose result is not the oracle's, or not that of the others of its operation."""
    return [
        f"{kernel.operation} {kernel.implementation} {kernel.size}"
        for kernel in report.kernels
        if hashlib.sha256(oracle(kernel.operation, kernel.records, kernel.size)).hexdigest()
        != kernel.digest
    ]


def show(report: Report) -> None:
    """Ticks per byte by size."""
    print(f"{'ticks per byte, median':52}" + "".join(f"{size:>9}" for size in SIZES) + "  spread")
    rows: dict[tuple[str, str], dict[int, Kernel]] = {}
    for kernel in report.kernels:
        rows.setdefault((kernel.operation, kernel.implementation), {})[kernel.size] = kernel
    for (operation, implementation), by_size in rows.items():
        figures = "".join(f"{by_size[size].per_byte:9.2f}" for size in SIZES)
        spread = statistics.median(kernel.spread for kernel in by_size.values())
        print(f"{operation:34}{implementation:18}{figures}{spread:8.0%}")
    for operation, implementation in report.absent:
        print(f"{operation:34}{implementation:18}not applicable: this CPU lacks it")


def show_ways(report: Report) -> None:
    """Ticks and nanoseconds of a request."""
    print(
        f"\n{report.driver}, 16 bytes{'':19}{'ticks':>9}{'ns':>8}{'spread':>8}{'dispatch, ns':>14}"
    )
    for way in report.ways:
        extra = (way.median - report.ways[0].median) / report.hz * 1e9
        print(
            f"{way.name:40}{way.median:9.1f}{way.median / report.hz * 1e9:8.1f}{way.spread:8.0%}"
            f"{extra:14.1f}"
        )


def instructions(program: Path, way: int) -> float:
    """Instructions of one request: the difference of two runs, so that start-up drops out."""
    counts = []
    for requests in (REQUESTS, 2 * REQUESTS):
        result = subprocess.run(
            [
                *("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"),
                *(str(program), "requests", str(way), str(requests)),
            ],
            check=True,
            capture_output=True,
            text=True,
        )
        found = re.search(r"Collected : (\d+)", result.stderr)
        assert found is not None, result.stderr
        counts.append(int(found[1]))
    return (counts[1] - counts[0]) / REQUESTS


def show_instructions(program: Path, ways: Sequence[Way]) -> dict[str, float]:
    """Count every way."""
    if shutil.which("valgrind") is None:
        print("\ninstructions: not applicable: valgrind is not installed")
        return {}
    print("\ninstructions per request (callgrind hides VAES and SHA-NI: the AES-NI path)")
    counts = {way.name: instructions(program, number) for number, way in enumerate(ways)}
    first = counts[ways[0].name]
    for name, count in counts.items():
        print(f"{name:40}{count:9.1f}{count - first:+9.1f}")
    return counts


def main() -> None:
    """Build, run, check, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--samples", type=int, default=25, help="of each, 1 to 64, default 25")
    parser.add_argument("--only", default="", help="operations whose name contains this")
    parser.add_argument("--instructions", action="store_true", help="count under callgrind")
    parser.add_argument("--json", type=Path, help="write the figures there as well")
    arguments = parser.parse_args()
    if not 1 <= arguments.samples <= 64:
        parser.error(f"--samples: {arguments.samples} was given, 1 to 64 are allowed")
    options.check_target(parser, "--json", arguments.json)
    host = facts.host()
    print(facts.show(host))
    with tempfile.TemporaryDirectory() as folder:
        program = build(Path(folder))
        only = options.plain(arguments.only)  # as the program has all of its names
        report = parse(run(program, "kernels", str(arguments.samples), only))
        if not report.kernels:
            parser.error(f"--only: no operation has {arguments.only!r} in its name")
        show(report)
        assert not wrong(report), wrong(report)
        dispatch = parse(run(program, "dispatch", str(arguments.samples)))
        show_ways(dispatch)
        counts = show_instructions(program, dispatch.ways) if arguments.instructions else {}
    if arguments.json:
        data = {
            "host": host,
            "kernels": [asdict(kernel) for kernel in report.kernels],
            "absent": report.absent,
            "ways": [asdict(way) for way in dispatch.ways],
            "instructions": counts,
        }
        options.write(parser, "--json", arguments.json, json.dumps(data, indent=1) + "\n")


if __name__ == "__main__":
    main()
