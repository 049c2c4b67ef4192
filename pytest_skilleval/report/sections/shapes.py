"""Sections, tables and cells: plain values that Markdown and HTML render each in its way."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pytest_skilleval.report import words
from pytest_skilleval.report.values import Bounds, Figure, Limits

LEVEL = "[95 %]"
"""In the title of a column of spans."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column; numbers are set to the right."""

    title: str
    number: bool = False


@dataclass(frozen=True, slots=True)
class Span:
    """A number with its limits, to be read and to be drawn on a scale from `scale[0]` to `scale[1]`."""

    text: str
    value: float | None
    low: float | None
    high: float | None
    scale: tuple[float, float]


Cell = str | Span


@dataclass(frozen=True, slots=True)
class Table:
    """A table; with `caption` when several stand in one section."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """One case of a strip: the difference that was seen, and from where to where chance alone puts it."""

    name: str
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Strip:
    """Differences of cases, to be drawn where that is possible; a sentence of the section tells the same."""

    caption: str
    marks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with sentences and tables. `folded`: shown on demand where that is possible."""

    title: str
    sentences: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    folded: bool = False
    strips: tuple[Strip, ...] = ()


def columns(*titles: str) -> tuple[Column, ...]:
    """Columns by title; a leading ``#`` marks numbers."""
    return tuple(Column(title.removeprefix("#"), title.startswith("#")) for title in titles)


def without_column(section: Section, title: str) -> Section:
    """The section with one column left out of all its tables."""
    return replace(section, tables=tuple(_without(table, title) for table in section.tables))


def _without(table: Table, title: str) -> Table:
    kept = [place for place, column in enumerate(table.columns) if column.title != title]
    rows = tuple(tuple(row[place] for place in kept) for row in table.rows)
    return replace(table, columns=tuple(table.columns[place] for place in kept), rows=rows)


def share_span(value: float | None, limits: Limits | Bounds) -> Cell:
    """A share with its limits, or why there is none."""
    if limits.low is None:
        return limits.reason or words.UNKNOWN
    text = f"{words.percent(value)} {words.percent_span(limits)}" if value is not None else f"{words.percent_span(limits)} %"
    return Span(text, value, limits.low, limits.high, (0.0, 1.0))


def figure_span(figure: Figure) -> Cell:
    """A share that carries its own limits."""
    return share_span(figure.value, figure)


def figure_points(figure: Figure) -> Cell:
    """A difference of shares that carries its own limits."""
    return points_span(figure.value, figure)


def points_span(value: float | None, limits: Limits | Bounds) -> Cell:
    """A difference of shares with its limits, or why there is none."""
    if limits.low is None or value is None:
        return limits.reason or words.UNKNOWN
    return Span(f"{words.points(value)} {words.points_span(limits)}", value, limits.low, limits.high, (-1.0, 1.0))
