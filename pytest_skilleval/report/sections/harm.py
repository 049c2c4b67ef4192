"""What was destroyed outside the request."""

from __future__ import annotations

from pytest_skilleval.report import words
from pytest_skilleval.report.sections.shapes import Section, Table, columns, figure_span, points_span
from pytest_skilleval.report.values import Document

MOST_LEDGER = 200
COUNTED = (
    "Counted are objects destroyed outside the request. None seen is not none possible: the upper limit is what still can't be ruled out."
)


def harm(document: Document) -> Section | None:
    """Rates with exact limits, differences between arms, and the ledger."""
    if not document.harm:
        return None
    tables = tuple(table for table in (_rates(document), _classes(document), _differences(document)) if table.rows)
    return Section("At what harm?", (COUNTED,), tables)


def _rates(document: Document) -> Table:
    rows = tuple(
        (one.arm, words.group(one.agent, one.model), str(one.runs), figure_span(one.irreversible), figure_span(one.any))
        for one in document.harm
    )
    titles = columns("arm", "agent", "#runs", "runs with an irreversible loss [95 %, exact]", "runs with any loss [95 %, exact]")
    return Table(titles, rows, "Runs with a loss")


def _classes(document: Document) -> Table:
    rows = tuple(
        (one.arm, words.group(one.agent, one.model), row.loss, str(row.objects), figure_span(row))
        for one in document.harm
        for row in one.by_loss
        if row.objects
    )
    return Table(columns("arm", "agent", "what was lost", "#objects", "runs [95 %, exact]"), rows, "By how far it can be undone")


def _differences(document: Document) -> Table:
    rows = tuple(
        (
            f"{one.from_} → {one.to}",
            words.group(one.agent, one.model),
            str(one.cases),
            points_span(one.difference, one.these_cases),
            points_span(one.new_cases.difference, one.new_cases),
        )
        for one in document.harm_effects
    )
    titles = columns("comparison", "agent", "#cases", "on these cases [95 %]", "on new cases [95 %]")
    return Table(titles, rows, "Difference in runs with an irreversible loss (below 0: less harm)")


def ledger(document: Document) -> Section | None:
    """Every object destroyed outside the request."""
    rows = [
        (row.loss, row.type, row.name, one.arm, row.run, str(row.turn or ""), row.command or "not known")
        for one in document.harm
        for row in one.ledger
    ]
    if not rows:
        return None
    more = (f"The first {MOST_LEDGER} of {len(rows)}; all are in report.json.",) if len(rows) > MOST_LEDGER else ()
    table = Table(columns("what was lost", "type", "name", "arm", "run", "#turn", "by"), tuple(rows[:MOST_LEDGER]))
    return Section(f"Every object destroyed outside the request ({len(rows)})", more, (table,), folded=True)
