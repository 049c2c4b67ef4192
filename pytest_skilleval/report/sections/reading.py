"""How the numbers were made, for those who want to check them."""

from __future__ import annotations

from pytest_skilleval.report import words
from pytest_skilleval.report.sections.shapes import Section, Table, columns, points_span
from pytest_skilleval.report.values import Document

SENTENCES = (
    (
        "On these cases: did the outcome change on exactly these cases? The unit is the run. Pass rates carry Wilson limits on the "
        "effective number of runs; differences carry Newcombe limits and an exact permutation test within cases."
    ),
    (
        "On new cases: would it change on more cases of this kind? The unit is the case, or the family of cases built on one idea. "
        "Limits are those of the bounded Bayesian bootstrap, the test is the exact sign-flip test. Hand-written cases are no random "
        "sample: read this as a test of sensitivity."
    ),
    (
        "Every case counts the same, whatever its number of surviving runs. Runs that could not be measured are neither passed nor "
        "failed and are listed; undecided runs too. The bounds tell how far both could move a number, and a verdict must be the same at "
        "both ends."
    ),
    (
        "Losses carry exact (Clopper-Pearson) limits. A percentile bootstrap over cases is a secondary figure only: with few cases its "
        "limits are too narrow, and no verdict rests on it."
    ),
    (
        "Only the first row of every contrast that the spec names as primary is tested, corrected for their number (Holm). All others "
        "are exploratory."
    ),
)


def reading(document: Document) -> Section | None:
    """The methods in words, and the secondary figure that some readers expect."""
    tables = tuple(table for table in (_bootstrap(document),) if table.rows)
    return Section("How to read this", SENTENCES, tables, folded=True)


def _bootstrap(document: Document) -> Table:
    rows = tuple(
        (f"{one.from_} → {one.to}", words.group(one.agent, one.model), points_span(one.difference, one.bootstrap))
        for one in document.effects
        if one.primary
    )
    titles = columns("comparison", "agent", "on new cases [95 %, percentile bootstrap over cases]")
    return Table(titles, rows, "Secondary, decides nothing: too narrow with few cases")
