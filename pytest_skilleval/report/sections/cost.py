"""What the skill costs: questions, turns, tools, tokens, time, money."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_skilleval.report import words
from pytest_skilleval.report.sections.shapes import Cell, Section, Span, Table, columns
from pytest_skilleval.report.values import Document, Friction

TYPICAL = (
    "Means over cases of scored runs; every case counts the same. "
    "Differences are those of a typical case: a few very dear ones move them little, and a family of cases counts once, so they need not "
    "be those of the two means."
)
PARTS = (
    "Asked needlessly: asked first on cases where acting at once was fine. Parts of the tokens are estimated at four characters a "
    "token, over all model calls. Cost is as billed, where who ran first fills the cache; without cache the order does not matter."
)


def cost(document: Document) -> Section | None:
    """Paired differences per metric."""
    if not document.friction:
        return None
    titles = columns(
        "comparison",
        "agent",
        "per run",
        "#mean before",
        "#mean after",
        "difference, typical new case [95 %]",
        "times, typical new case [95 %]",
    )
    return Section("At what cost?", (TYPICAL, PARTS, *_prices(document)), (Table(titles, tuple(_row(row) for row in document.friction)),))


def _prices(document: Document) -> Iterator[str]:
    """By what money was counted; simulated runs cost none."""
    own, shipped = (str(document.provenance.session.get(name, "")) for name in ("prices.own", "prices"))
    if own and not document.simulated:
        yield f"Prices: one's own, of {own}; for other models as Claude Code tells its cost, else of {shipped}"
    elif shipped and not document.simulated:
        yield f"Prices: as Claude Code tells its cost, else of {shipped}"


def _row(row: Friction) -> tuple[Cell, ...]:
    return (
        f"{row.from_} → {row.to}",
        words.group(row.agent, row.model),
        row.metric,
        words.amount(row.from_mean, row.unit),
        words.amount(row.to_mean, row.unit),
        _difference(row),
        _times(row),
    )


def _difference(row: Friction) -> Cell:
    found = row.difference
    text = words.difference(found, row.unit)
    if found.low is None or found.high is None or found.value is None:
        return text
    reach = max(abs(found.low), abs(found.high), abs(found.value)) or 1.0
    return Span(text, found.value, found.low, found.high, (-reach, reach))


def _times(row: Friction) -> str:
    ratio = row.ratio
    if ratio is None or ratio.value is None:
        return ""
    limits = "" if ratio.low is None or ratio.high is None else f" [{ratio.low:.2f}, {ratio.high:.2f}]"
    return f"x {ratio.value:.2f}{limits}"
