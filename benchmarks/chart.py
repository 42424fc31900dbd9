"""Draws the README's chart: how many times faster than the fastest peer, by size of the request.

python benchmarks/chart.py FILE    from the figures of compare.py --json FILE
python benchmarks/chart.py         measures first, in three processes

Writes benchmarks/chart.svg (--output). The same figures give the same bytes. Colours (of Okabe and
Ito, darkened or lightened) follow the reader's light or dark mode; dashes and marks tell the lines
apart without them.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

import compare
import facts
import options
from verdict import Row

WIDTH, HEIGHT = 800, 460
LEFT, RIGHT, TOP, BOTTOM = 62, 580, 62, 372
Y_TICKS = (0.25, 0.5, 1, 2, 5, 10, 20, 50, 100)
LABEL_GAP = 17  # between the names at the ends of the lines


@dataclass(frozen=True)
class Line:
    """How a case is drawn: `light` and `dark` are colours, `dash` as SVG has it."""

    case: str
    light: str
    dark: str
    dash: str
    mark: str


LINES = (
    Line("AES-128-CBC encrypt", "#005a94", "#56b4e9", "", "circle"),
    Line("AES-128-CTR", "#b34700", "#f0853d", "9 4", "square"),
    Line("SHA-256", "#00705a", "#2fc4a0", "2 4", "diamond"),
    Line("HMAC-SHA-256", "#8f3f74", "#dd9cc3", "12 4 2 4", "triangle"),
    Line("CBC + HMAC-SHA-256", "#7a5c00", "#e6c229", "5 3", "cross"),
)

Points = Mapping[str, Sequence[tuple[int, float]]]


def points(rows: Sequence[Row]) -> dict[str, list[tuple[int, float]]]:
    """Size and times faster of each line that the rows have."""
    found: dict[str, list[tuple[int, float]]] = {}
    for line in LINES:
        for row in rows:
            faster = row.times_faster("")
            if row.case == line.case and faster is not None:
                found.setdefault(line.case, []).append((row.size, faster))
    return {name: sorted(values) for name, values in found.items()}


@dataclass(frozen=True)
class Scale:
    """Sizes and ratios as places in the picture, both logarithmic."""

    sizes: tuple[int, int]
    ratios: tuple[float, float]

    @staticmethod
    def over(drawn: Points) -> Scale:
        """One that shows all of them and the line of 1, between two ticks."""
        sizes = [size for values in drawn.values() for size, _ in values]
        ratios = [ratio for values in drawn.values() for _, ratio in values]
        low = max((tick for tick in Y_TICKS if tick <= min(*ratios, 1)), default=Y_TICKS[0])
        high = min((tick for tick in Y_TICKS if tick >= max(*ratios, 2)), default=Y_TICKS[-1])
        return Scale((min(sizes), max(sizes)), (low, high))

    def x(self, size: int) -> float:
        """From the left."""
        low, high = map(math.log, self.sizes)
        return LEFT + (RIGHT - LEFT) * (math.log(size) - low) / ((high - low) or 1)

    def y(self, ratio: float) -> float:
        """From the top."""
        low, high = map(math.log, self.ratios)
        return BOTTOM - (BOTTOM - TOP) * (math.log(ratio) - low) / (high - low)


def _colours(back: str, ink: str, soft: str, grid: str, lines: Sequence[str]) -> str:
    """Rules of one mode; no variables, which viewers outside browsers do not know."""
    rules = [f".back{{fill:{back}}}text{{fill:{ink}}}.soft{{fill:{soft}}}"]
    rules += [f".grid{{stroke:{grid}}}.one{{stroke:{soft}}}"]
    for number, colour in enumerate(lines):
        rules.append(
            f".line{number}{{stroke:{colour}}}.mark{number}{{fill:{colour};stroke:{back}}}"
        )
        rules.append(f".name{number}{{fill:{colour}}}")
    return "".join(rules)


def _style() -> str:
    light = _colours("#ffffff", "#1f2328", "#59636e", "#d8dee4", [line.light for line in LINES])
    dark = _colours("#0d1117", "#e6edf3", "#9198a1", "#30363d", [line.dark for line in LINES])
    return (
        "text{font-family:sans-serif;font-size:13px}.title{font-size:16px;font-weight:bold}"
        ".soft{font-size:12px}.name{font-weight:bold}.line{fill:none;stroke-width:2.5}"
        f".lead{{fill:none;stroke-width:1}}{light}@media(prefers-color-scheme:dark){{{dark}}}"
    )


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{escape(text)}</text>'
    )


def _mark(shape: str, x: float, y: float, number: int) -> str:
    corners = {
        "square": ((-4, -4), (4, -4), (4, 4), (-4, 4)),
        "diamond": ((0, -6), (6, 0), (0, 6), (-6, 0)),
        "triangle": ((0, -6), (5.5, 4.5), (-5.5, 4.5)),
        "cross": (
            *((-2, -6), (2, -6), (2, -2), (6, -2), (6, 2), (2, 2)),
            *((2, 6), (-2, 6), (-2, 2), (-6, 2), (-6, -2), (-2, -2)),
        ),
    }.get(shape)
    if corners is None:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" class="mark{number}"/>'
    path = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners)
    return f'<polygon points="{path}" class="mark{number}"/>'


def _axes(scale: Scale, sizes: Sequence[int]) -> list[str]:
    parts = []
    for ratio in Y_TICKS:
        if scale.ratios[0] <= ratio <= scale.ratios[1]:
            y = scale.y(ratio)
            kind = "one" if ratio == 1 else "grid"
            parts.append(f'<path d="M{LEFT} {y:.1f}H{RIGHT}" class="{kind}"/>')
            parts.append(_text(LEFT - 8, y + 4, f"{ratio:g} x", "", "end"))
    for size in (size for size in sizes if size & (size - 1) == 0):  # 1420 is beside 1024
        x = scale.x(size)
        parts.append(f'<path d="M{x:.1f} {TOP}V{BOTTOM}" class="grid"/>')
        label = f"{size // 1024} KiB" if size % 1024 == 0 else f"{size}"
        parts.append(_text(x, BOTTOM + 18, label, "", "middle"))
    parts.append(_text((LEFT + RIGHT) / 2, BOTTOM + 38, "bytes of one request", "soft", "middle"))
    return parts


def spread_labels(wanted: Sequence[float]) -> list[float]:
    """Places in the order of the wanted ones, LABEL_GAP apart, none below the picture."""
    placed = [0.0] * len(wanted)
    lowest = float(BOTTOM)
    for index in sorted(range(len(wanted)), key=lambda index: -wanted[index]):
        placed[index] = min(wanted[index], lowest)
        lowest = placed[index] - LABEL_GAP
    return placed


def draw(rows: Sequence[Row], host: Mapping[str, str]) -> str:
    """The picture."""
    drawn = points(rows)
    if not drawn:
        cases = ", ".join(line.case for line in LINES)
        raise ValueError(f"rows: none of the chart's cases is among them: {cases}")
    scale = Scale.over(drawn)
    lines = [line for line in LINES if line.case in drawn]
    ends = spread_labels([scale.y(drawn[line.case][-1][1]) for line in lines])
    title = "Times faster than the fastest peer in its cleverest use"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        f"<title>{title}</title><style>{_style()}</style>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="8" class="back"/>',
        _text(LEFT, 26, title, "title"),
        _text(LEFT, 45, "one call from Python, key kept; 1 x: as fast as the peer", "soft"),
        *_axes(scale, sorted({size for values in drawn.values() for size, _ in values})),
    ]
    for line, end in zip(lines, ends, strict=True):
        number = LINES.index(line)
        places = [(scale.x(size), scale.y(ratio)) for size, ratio in drawn[line.case]]
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        lead = f"M{RIGHT + 7} {places[-1][1]:.1f}L{RIGHT + 20} {end:.1f}"
        dash = f' stroke-dasharray="{line.dash}"' if line.dash else ""
        parts += [
            f'<path d="{path}" class="line line{number}"{dash}/>',
            f'<path d="{lead}" class="lead line{number}"/>',
            *(_mark(line.mark, x, y, number) for x, y in places),
            _mark(line.mark, RIGHT + 27, end, number),
            _text(RIGHT + 38, end + 4, line.case, f"name name{number}"),
        ]
    parts += [
        _text(LEFT, HEIGHT - 30, f"{host['cpu']}; {host['python']}; {host['date']}", "soft"),
        _text(LEFT, HEIGHT - 13, f"{host['openssl']}; {host['peers']}", "soft"),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def main() -> None:
    """Measure if no file is given, draw, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path, nargs="?", help="what compare.py --json wrote")
    parser.add_argument(
        "--output", type=Path, default=Path(__file__).with_name("chart.svg"), help="the picture"
    )
    parser.add_argument("--processes", type=int, default=3, help="to measure in, default 3")
    arguments = parser.parse_args()
    if arguments.processes < 1:
        parser.error(f"--processes: {arguments.processes} was given, 1 or more is needed")
    options.check_target(parser, "--output", arguments.output)
    if arguments.file:
        try:
            host, rows = compare.read(arguments.file)
            picture = draw(rows, host)
        except OSError as error:
            parser.error(f"file: {arguments.file}: {error.strerror}")
        except (ValueError, TypeError, LookupError) as error:
            parser.error(f"file: {arguments.file}: {error}")
    else:
        host = facts.host()
        picture = draw(compare.measure_in(arguments.processes, compare.Plan()), host)
    options.write(parser, "--output", arguments.output, picture)


if __name__ == "__main__":
    main()
