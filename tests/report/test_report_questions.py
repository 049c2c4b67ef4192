"""Two questions, always labelled: what is said of these cases and what of new ones."""

from __future__ import annotations

import pytest
import report_situations
from report_made import DATA_A, DATA_B, grid, run, session, spec

from pytest_skilleval.core.record import MeasuredRun
from pytest_skilleval.report.build import build
from pytest_skilleval.report.sections import Span, Table, sections
from pytest_skilleval.report.values import Document


def document_of(runs: list[MeasuredRun]) -> Document:
    """The document over the usual spec."""
    return build(runs, spec({one.row.case for one in runs}), session()).document


def differences(document: Document) -> Table:
    """The table of differences in pass rate."""
    return next(table for part in sections(document) for table in part.tables if table.caption == "Difference in pass rate")


def test_each_question_has_its_own_answer_in_the_headline() -> None:
    """Eight equal small gains are shown for new cases by their rule and not for these by theirs: the sentence says both."""
    small, clear = document_of(grid({"without": ["pff"] * 8, "with": ["ppf"] * 8})), document_of(grid(DATA_B))
    assert (small.effects[0].verdict, clear.effects[0].verdict) == ("shown for new cases", "shown for new cases")
    assert (small.effects[0].these_cases.p or 0) > 0.05
    assert "shown for new cases, while on these alone it may be chance: +33 points [+1, +48] on new ones" in small.headline.sentence
    assert "shown for new cases and these: +60 points [+18, +75] on new ones, +60 points [+40, +73] on these" in clear.headline.sentence


def test_the_number_for_new_cases_is_the_one_its_limits_are_about() -> None:
    """Families count once for new cases: their mean stands beside their limits, the mean of the rows beside those of these cases."""
    gains = {f"case-{place}": ("ffffff", "pppppp" if place < 6 else "pppfff") for place in range(12)}
    runs = [
        run(case, arm, letter, repeat, family="one" if int(case[5:]) < 6 else None)
        for case, pair in gains.items()
        for arm, word in zip(("without", "with"), pair, strict=True)
        for repeat, letter in enumerate(word, start=1)
    ]
    effect = document_of(runs).effects[0]
    assert (effect.difference, effect.new_cases.difference) == (pytest.approx(0.75), pytest.approx(4 / 7))
    assert "+57 points [" in effect.sentence.partition("on new ones")[0]
    assert "+75 points [" in effect.sentence.partition("on new ones")[2]


def test_the_p_that_decides_is_shown() -> None:
    """Where several comparisons are corrected together, the corrected p stands beside the one of the test."""
    both, alone = differences(document_of(grid(DATA_A, model="a") + grid(DATA_A, model="b"))), differences(document_of(grid(DATA_A)))
    assert both.rows[0][5] == "p = 0.007, corrected p = 0.014"
    assert alone.rows[0][4] == "p = 0.007"


def test_what_is_said_of_several_models_names_them() -> None:
    """Under several models each primary sentence stands with its agent and model, that of the first one, too."""
    document = document_of(grid(DATA_B, model="big") + grid(DATA_A, model="small"))
    said = next(part for part in sections(document) if part.title.startswith("Does it change")).sentences
    assert [sentence.partition(":")[0] for sentence in said] == [
        "without → with (claude-code big)",
        "without → with (claude-code small)",
    ]


def test_models_are_said_to_be_drawn_to_their_mean_only_where_they_are() -> None:
    """Two models are too few for that: their average is given, each row says why it stands alone, and the caption claims nothing else."""
    few, many = (
        document_of([one for model in "abcd"[:size] for one in grid(DATA_A if model == "a" else DATA_B, model=model)]) for size in (2, 4)
    )
    captions = [
        table.caption
        for document in (few, many)
        for part in sections(document)
        for table in part.tables
        if "several models" in table.caption
    ]
    assert ["drawn to their mean" in caption for caption in captions] == [False, True]


def test_every_interval_says_which_cases_it_is_about() -> None:
    """A column with limits is about these cases or about new ones, by its title or its table's caption."""
    document = report_situations.clear_effect().document
    silent = {
        (table.caption, table.columns[place].title)
        for part in sections(document)
        for table in part.tables
        for row in table.rows
        for place, cell in enumerate(row)
        if isinstance(cell, Span) or "[" in cell
        if not any(words in f"{table.columns[place].title} {table.caption}" for words in ("these cases", "new case"))
    }
    assert {title for _, title in silent} <= {"worst to best", "because"}


def test_the_secondary_bootstrap_is_labelled() -> None:
    """The case bootstrap of primary comparisons is shown as secondary, in file and page."""
    document = document_of(grid(DATA_A))
    assert document.effects[0].bootstrap.method == "percentile bootstrap over cases (secondary)"
    (table,) = (table for part in sections(document) for table in part.tables if table.caption.startswith("Secondary"))
    assert isinstance(table.rows[0][1], Span)
    assert table.rows[0][1].text == "+38 points [+8, +67]"
