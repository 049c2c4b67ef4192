"""Null contrasts as a picture: each case's difference between two arms that are declared alike, and where chance puts it."""

from __future__ import annotations

from collections.abc import Iterator
from math import comb

from pytest_skilleval.report import words
from pytest_skilleval.report.sections.shapes import Mark, Strip
from pytest_skilleval.report.values import Document, Effect, EffectCase
from pytest_skilleval.report.verdicts import NULL

TAIL = 0.025
"""Left out at either end of what chance does."""
CAPTION = "Calibration, never a gate: {pair}. Dot: difference seen in a case; bar: where chance alone puts it in 95 of 100"


def null_effects(document: Document) -> Iterator[Effect]:
    """The null contrasts over all outcome cases, one an agent and model."""
    yield from (one for one in document.effects if one.verdict_reason == NULL and one.kind == "outcome" and one.expects == "all")


def strip(effect: Effect) -> Strip:
    """Every case with runs in both arms, from the lowest difference to the highest."""
    marks = [_mark(case) for case in effect.per_case if case.difference is not None]
    marks.sort(key=lambda mark: (mark.value, mark.name))
    return Strip(CAPTION.format(pair=f"{effect.from_} → {effect.to}, {words.group(effect.agent, effect.model)}"), tuple(marks))


def told(effect: Effect) -> str:
    """The picture in one sentence."""
    marks = strip(effect).marks
    outside = sum(not mark.low <= mark.value <= mark.high for mark in marks)
    seen = f"{words.points(effect.difference)} {words.points_span(effect.these_cases)}, {words.p_value(effect.these_cases.p)}"
    return (
        f"calibration, never a gate: {effect.from_} and {effect.to} are declared alike ({words.group(effect.agent, effect.model)}); "
        f"seen {seen}; {outside} of {words.plural(len(marks), 'case')} outside where chance alone puts 95 of 100"
    )


def _mark(case: EffectCase) -> Mark:
    """Which of a case's passes fell into which arm is chance alone when the arms are alike: a hypergeometric number."""
    n0, n1, passes = case.from_.scored, case.to.scored, case.from_.passed + case.to.passed
    counts = range(max(0, passes - n0), min(n1, passes) + 1)
    ways = [comb(n1, count) * comb(n0, passes - count) for count in counts]
    most, below, above = TAIL * sum(ways), 0, 0
    low, high = 0, len(ways) - 1
    while (below := below + ways[low]) <= most:
        low += 1
    while (above := above + ways[high]) <= most:
        high -= 1
    at = [count / n1 - (passes - count) / n0 for count in (counts[low], counts[high])]
    return Mark(case.case, case.to.passed / n1 - case.from_.passed / n0, *at)
