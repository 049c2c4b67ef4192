"""The spec's gate: which interval it holds against its limits."""

from __future__ import annotations

import pytest
from report_made import DATA_B, grid, names, session, spec

from pytest_skilleval.report.build import build
from pytest_skilleval.report.facts import GateFacts
from pytest_skilleval.report.sections import sections
from pytest_skilleval.report.values import Document


def _made(wanted: GateFacts, *, release: bool) -> Document:
    return build(grid(DATA_B), spec(names(DATA_B), gate=wanted), session(release=release)).document


@pytest.mark.parametrize(("release", "decision", "method"), [(False, "met", "BBB"), (True, "undecided", "Gaffke")])
def test_a_release_takes_the_stricter_interval(release: bool, decision: str, method: str) -> None:
    """Data B gains at least .1 by BBB's limits (.18, .75), which a release does not take: Gaffke's reach down to 0. The page says which."""
    found = _made(GateFacts(improve_at_least=0.1), release=release)
    assert (found.gate.decision, [part.method for part in found.gate.parts]) == (decision, [method])
    (gate,) = (section for section in sections(found) if section.title == "Gate")
    assert [row[-1] for row in gate.tables[0].rows] == [method]


def test_questions_about_these_cases_have_one_interval() -> None:
    """On these cases Newcombe decides, in a release, too."""
    found = _made(GateFacts(improve_at_least=0.1, improve_question="these_cases"), release=True)
    assert (found.gate.decision, found.gate.parts[0].method) == ("met", "Newcombe")
