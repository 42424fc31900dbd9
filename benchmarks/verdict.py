"""What the figures of one comparison say: rows, ratios, and the cells that miss a bound.

Pure functions over nanoseconds; compare.py measures.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

# Ours may cost the yardstick x 1.12 + 13 ns: its price of 1.02 and 12 ns, and the noise of a run.
LIMIT_FACTOR = 1.12
LIMIT_NS = 13.0
# From this size on no peer may be faster than ours by more than 5 %.
PEER_SIZE = 4096
PEER_FACTOR = 1.05


@dataclass(frozen=True)
class Row:
    """One operation at one size.

    Attributes:
        case, size: which.
        times: nanoseconds per call of everybody, by name: "ours", "limit", and peers as
            "documented: ..." and "reuse: ...".
        spread: of the same, as a part of the time.
    """

    case: str
    size: int
    times: Mapping[str, float]
    spread: Mapping[str, float]

    @property
    def ours(self) -> float:
        """Nanoseconds of our call."""
        return self.times["ours"]

    @property
    def limit(self) -> float | None:
        """Nanoseconds of the yardstick."""
        return self.times.get("limit")

    def best(self, kind: str) -> tuple[str, float] | None:
        """The fastest peer whose name starts with `kind` ("": any), and its nanoseconds."""
        peers = [
            (name.partition(": ")[2], value)
            for name, value in self.times.items()
            if ": " in name and name.startswith(kind)
        ]
        return min(peers, key=lambda peer: peer[1], default=None)

    def times_faster(self, kind: str) -> float | None:
        """How many times the time of ours the best such peer takes."""
        best = self.best(kind)
        return best[1] / self.ours if best else None

    @property
    def over_limit(self) -> bool:
        """Ours costs more than the yardstick allows."""
        return self.limit is not None and self.ours > self.limit * LIMIT_FACTOR + LIMIT_NS

    @property
    def behind_peer(self) -> bool:
        """Ours is slower than a peer at a size where it must not be."""
        best = self.best("")
        return self.size >= PEER_SIZE and best is not None and self.ours > best[1] * PEER_FACTOR

    def to_json(self) -> dict[str, Any]:
        """Plain data, with what a reader wants to see at once."""
        return {
            **asdict(self),
            "ours": self.ours,
            "limit": self.limit,
            **{kind: (self.best(kind) or (None, None))[1] for kind in ("documented", "reuse")},
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Row:
        """The row that `to_json` wrote."""
        return Row(data["case"], data["size"], data["times"], data["spread"])


def line(row: Row) -> str:
    """One line of the table; header() names the columns."""

    def number(value: float | None) -> str:
        return f"{value:10.0f}" if value is not None else f"{'-':>10}"

    def ratio(kind: str) -> str:
        value = row.times_faster(kind)
        return f"{value:7.2f}" if value is not None else f"{'-':>7}"

    documented, reuse = row.best("documented"), row.best("reuse")
    marks = [
        text
        for text, applies in (("over the limit", row.over_limit), ("behind", row.behind_peer))
        if applies
    ]
    return (
        f"{row.case:27}{row.size:7}{number(row.ours)}{row.spread['ours']:8.0%}{number(row.limit)}"
        f"{number(documented[1] if documented else None):>11}{number(reuse[1] if reuse else None)}"
        f"{ratio('documented')}{ratio('reuse')}  {(row.best('') or ('-', 0.0))[0]}"
        f"{'  <- ' if marks else ''}{', '.join(marks)}"
    )


def header() -> str:
    """The names of the columns."""
    return (
        f"{'ns per request':27}{'bytes':>7}{'ours':>10}{'spread':>8}{'limit':>10}"
        f"{'documented':>11}{'reuse':>10}{'x doc':>7}{'x reuse':>7}  fastest peer"
    )


def summary(rows: Sequence[Row]) -> str:
    """The cells that miss a bound, counted and listed."""
    limited = [row for row in rows if row.limit is not None]
    large = [row for row in rows if row.size >= PEER_SIZE]
    return "\n".join(
        [
            _count(
                [row for row in limited if row.over_limit],
                f"of {len(limited)} cells over limit x {LIMIT_FACTOR} + {LIMIT_NS:.0f} ns",
            ),
            _count(
                [row for row in large if row.behind_peer],
                f"of {len(large)} cells from {PEER_SIZE} bytes slower than the fastest peer"
                f" x {PEER_FACTOR}",
            ),
        ]
    )


def _count(rows: Sequence[Row], text: str) -> str:
    cells = ", ".join(f"{row.case} {row.size}" for row in rows)
    return f"{len(rows)} {text}{': ' if cells else ''}{cells}"


def merge(runs: Sequence[Sequence[Row]]) -> list[Row]:
    """The same rows from several processes as one.

    Only times of one process can be compared: ours is the median, and everybody else's is that
    times the median of their ratios to ours. The spread is that within the processes (its median)
    or, of the time or the ratio, between them, whichever is more.
    """
    merged = []
    for same in zip(*runs, strict=True):
        first = same[0]
        if {(row.case, row.size) for row in same} != {(first.case, first.size)}:
            raise ValueError("the processes measured different rows")
        ours = statistics.median(row.ours for row in same)
        times, spread = {}, {}
        for name in first.times:
            values = [
                row.ours if name == "ours" else row.times[name] / row.ours * ours for row in same
            ]
            times[name] = statistics.median(values)
            within = statistics.median(row.spread[name] for row in same)
            spread[name] = max(within, (max(values) - min(values)) / times[name])
        merged.append(Row(first.case, first.size, times, spread))
    return merged
