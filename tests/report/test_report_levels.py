"""Levels nest at the report: what a strict look claims, a lenient one claims, and the gate's limits only get narrower."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from report_made import grid, names, session, spec

from pytest_skilleval.core.statistics.sequential import Look
from pytest_skilleval.report.build import build
from pytest_skilleval.report.facts import GateFacts
from pytest_skilleval.report.values import Document

CLAIMS = {"changed these cases": 1, "shown for new cases": 2}
LEVELS = (0.001, 0.01, 0.025, 0.05, 0.2)
ARM = st.lists(st.sampled_from(["fff", "pff", "ppf", "ppp"]), min_size=9, max_size=9)


def _at(alpha: float, arms: dict[str, list[str]]) -> Document:
    facts = spec(names(arms), gate=GateFacts(improve_at_least=0.1, improve_question="new_cases"))
    return build(grid(arms), facts, replace(session(), looks=(Look(3, alpha),))).document


def _limits(document: Document) -> list[tuple[int, int]]:
    found = [re.search(r"\[([+-]?\d+), ([+-]?\d+)\]", part.reason) for part in document.gate.parts]
    return [(int(one[1]), int(one[2])) for one in found if one]


@settings(max_examples=12, deadline=None)
@given(before=ARM, after=ARM)
def test_claims_and_limits_nest_by_level(before: list[str], after: list[str]) -> None:
    """From strict to lenient, a claim stays or gets stronger, and every interval of the gate lies within the one before."""
    made = [_at(alpha, {"without": before, "with": after}) for alpha in LEVELS]
    told = [CLAIMS.get(document.effects[0].verdict or "", 0) for document in made]
    assert told == sorted(told)
    assert all(map(_limits, made))
    for strict, lenient in pairwise(made):
        for outer, inner in zip(_limits(strict), _limits(lenient), strict=True):
            assert outer[0] <= inner[0] <= inner[1] <= outer[1]
