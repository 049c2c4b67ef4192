"""A strip of cases as inline SVG: a row a case, its name, where chance puts it as a bar, what was seen as a dot."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from pytest_skilleval.report.sections.shapes import Mark, Strip

LEFT, RIGHT, WIDTH, TOP = 230, 690, 720, 30
"""The field lies between LEFT and RIGHT, below TOP; names stand left of it."""
NAMED, ROW, NARROW = 40, 18, 6
"""Up to so many cases are named, in rows that high; more stand in narrow rows without names."""
LONGEST = 32
TICKS = (-1.0, -0.5, 0.0, 0.5, 1.0)


def drawn(strip: Strip) -> Iterator[str]:
    """Caption and picture; nothing where no case has a difference."""
    if not strip.marks:
        return
    named = len(strip.marks) <= NAMED
    row = ROW if named else NARROW
    bottom = TOP + row * len(strip.marks)
    yield f"<h3>{escape(strip.caption)}</h3>"
    yield (
        f'<div class="scroll"><svg class="strip" viewBox="0 0 {WIDTH} {bottom + 6}" width="{WIDTH}" height="{bottom + 6}" role="img">'
        f"<title>{escape(strip.caption)}</title>"
    )
    for tick in TICKS:
        yield f'<line class="{"zero" if tick == 0 else "axis"}" x1="{_x(tick)}" x2="{_x(tick)}" y1="{TOP - 8}" y2="{bottom}"/>'
        yield f'<text class="middle" x="{_x(tick)}" y="{TOP - 14}">{f"{100 * tick:+.0f}" if tick else "0 points"}</text>'
    for place, mark in enumerate(strip.marks):
        yield from _row(mark, TOP + row * place + row / 2, named=named)
    yield "</svg></div>"


def _row(mark: Mark, y: float, *, named: bool) -> Iterator[str]:
    outside = not mark.low <= mark.value <= mark.high
    told = f"{mark.name}: {100 * mark.value:+.0f} points; by chance {100 * mark.low:+.0f} to {100 * mark.high:+.0f}"
    kind = ' class="outside"' if outside else ""
    yield f"<g{kind}><title>{escape(told)}</title>"
    if named:
        name = mark.name if len(mark.name) <= LONGEST else f"{mark.name[: LONGEST - 1]}…"
        yield f'<text class="end" x="{LEFT - 14}" y="{y + 4}">{escape(name)}</text>'
    yield f'<line class="reach" x1="{_x(mark.low)}" x2="{_x(mark.high)}" y1="{y}" y2="{y}"/>'
    yield f'<circle cx="{_x(mark.value)}" cy="{y}" r="{4 if named else 2.5}"/></g>'


def _x(value: float) -> str:
    return f"{LEFT + (RIGHT - LEFT) * (value + 1) / 2:.1f}"
