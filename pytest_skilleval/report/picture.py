"""``skilleval plan`` as a picture: the chance to show an effect against cases, and cases needed against repeats. Plain SVG."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

from pytest_skilleval.report import words
from pytest_skilleval.report.sizing import WANTED, Size
from pytest_skilleval.report.values import BANNER

WIDTH, HEIGHT = 980, 470
COLOURS = ("#d55e00", "#0072b2", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
"""Told apart by colour-blind readers, too."""
STYLE = (
    "text{font:13px system-ui,'Liberation Sans','DejaVu Sans',sans-serif;fill:#222}.title{font-size:16px;font-weight:600}"
    ".head{font-weight:600}.small{font-size:12px;fill:#555}.end{text-anchor:end}.middle{text-anchor:middle}"
    ".grid{stroke:#e4e4e4}.axis{stroke:#888}.wanted{stroke:#444;stroke-dasharray:5 4}.curve{fill:none;stroke-width:2.5}"
)

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Axes:
    """A field of the picture, from (left, top) to (right, bottom), over values from 0 to `across` and 0 to `up`."""

    left: float
    top: float
    right: float
    bottom: float
    across: float
    up: float

    def x(self, value: float) -> float:
        """Where a value lies from left to right."""
        return round(self.left + (self.right - self.left) * value / self.across, 1)

    def y(self, value: float) -> float:
        """Where a value lies from top to bottom."""
        return round(self.bottom - (self.bottom - self.top) * value / self.up, 1)


def picture(size: Size) -> str:
    """The curves as one SVG file; the same text for the same size."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img">',
        f"<title>{escape(_title(size))}</title><style>{STYLE}</style>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        _text(30, 32, _title(size), "title"),
        *_chances(size),
        *_needs(size),
        _text(30, HEIGHT - 16, _foot(size), "small"),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _title(size: Size) -> str:
    start = f"{BANNER}. " if size.simulated else ""
    return f"{start}{size.skill}: how many cases and repeats show {words.points(size.effect)}?"


def _foot(size: Size) -> str:
    spread = size.sizing.spread
    return f"Assumed: {words.percent(spread.rate0)} pass without the skill ({spread.source}). A family of cases counts as one."


def _chances(size: Size) -> Iterator[str]:
    """Left: chance against cases, a curve for each number of repeats, and the spec as it stands."""
    table, present = size.sizing.table, size.sizing.present
    axes = Axes(70, 106, 520, 385, max([present.cases, *(one.cases for one in table)]) + 2, 1)
    yield _text(70, 66, "Chance to show it for new cases", "head")
    yield from _horizontal(axes, [0, 0.2, 0.4, 0.6, 0.8, 1], lambda share: f"{100 * share:.0f} %")
    yield from _vertical(axes, range(0, int(axes.across) + 1, 10), "cases (families)")
    yield f'<line class="wanted" x1="{axes.left}" x2="{axes.right}" y1="{axes.y(WANTED)}" y2="{axes.y(WANTED)}"/>'
    repeats = sorted({one.repeats for one in table})
    for colour, many in zip(COLOURS, repeats, strict=False):
        yield _curve(axes, [(one.cases, one.power_new_cases) for one in table if one.repeats == many], colour)
    yield from _legend(70, 88, [words.plural(many, "repeat") for many in repeats])
    yield _diamond(axes.x(present.cases), axes.y(present.power_new_cases))


def _legend(x: float, y: float, names: Sequence[str]) -> Iterator[str]:
    """In one row above the field: no curve goes there."""
    for place, (colour, name) in enumerate(zip(COLOURS, names, strict=False)):
        start = x + 94 * place
        yield f'<line class="curve" stroke="{colour}" x1="{start}" x2="{start + 20}" y1="{y - 4}" y2="{y - 4}"/>'
        yield _text(start + 26, y, name, "small")
    start = x + 94 * len(names)
    yield _diamond(start + 10, y - 4) + _text(start + 22, y, "as it stands", "small")


def _needs(size: Size) -> Iterator[str]:
    """Right: cases needed against repeats, with the runs that makes."""
    needs = size.sizing.needs
    most = max(need.cases for need in needs)
    step = next((step for step in (5, 10, 20, 50, 100, 200, 500) if most / step <= 6), 1000)
    axes = Axes(620, 106, 940, 385, needs[-1].repeats + 0.8, step * (most // step + 1))
    yield _text(620, 66, f"Cases needed for a chance of {words.percent(WANTED)}", "head")
    yield from _horizontal(axes, range(0, int(axes.up) + 1, step), "{:.0f}".format)
    yield from _vertical(axes, [need.repeats for need in needs], "repeats")
    yield _curve(axes, [(need.repeats, need.cases) for need in needs], "#222")
    for need in needs:
        x, y = axes.x(need.repeats), axes.y(need.cases)
        label = f"{need.cases} cases, {words.plural(need.bill.runs, 'run')}"
        yield f'<circle cx="{x}" cy="{y}" r="4" fill="#222"/>'
        yield _text(x + 4, y + 22, label, "small end") if need is needs[-1] else _text(x + 8, y - 8, label, "small")


def _horizontal(axes: Axes, values: Sequence[float] | range, told: Callable[[float], str]) -> Iterator[str]:
    for value in values:
        y = axes.y(value)
        yield f'<line class="grid" x1="{axes.left}" x2="{axes.right}" y1="{y}" y2="{y}"/>'
        yield _text(axes.left - 8, y + 4, told(value), "small end")


def _vertical(axes: Axes, values: Sequence[float] | range, name: str) -> Iterator[str]:
    yield f'<line class="axis" x1="{axes.left}" x2="{axes.right}" y1="{axes.bottom}" y2="{axes.bottom}"/>'
    for value in values:
        x = axes.x(value)
        yield f'<line class="axis" x1="{x}" x2="{x}" y1="{axes.bottom}" y2="{axes.bottom + 5}"/>'
        yield _text(x, axes.bottom + 20, str(value), "small middle")
    yield _text((axes.left + axes.right) / 2, axes.bottom + 40, name, "small middle")


def _curve(axes: Axes, points: Sequence[Point], colour: str) -> str:
    path = " ".join(f"{axes.x(x)},{axes.y(y)}" for x, y in points)
    return f'<polyline class="curve" stroke="{colour}" points="{path}"/>'


def _diamond(x: float, y: float) -> str:
    return f'<path d="M{x} {y - 7}l7 7l-7 7l-7 -7z" fill="#222" stroke="#fff"/>'


def _text(x: float, y: float, text: str, kind: str = "") -> str:
    given = f' class="{kind}"' if kind else ""
    return f'<text x="{x}" y="{y}"{given}>{escape(text)}</text>'
