"""Comparisons with their verdicts, as report.json tells them."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_skilleval.report import numbers
from pytest_skilleval.report.comparisons import Comparison, per_case
from pytest_skilleval.report.sentences import next_step, sentence
from pytest_skilleval.report.values import Bounds, Effect
from pytest_skilleval.report.verdicts import Judgement


def effects(compared: Sequence[Comparison], judgements: Sequence[Judgement]) -> tuple[Effect, ...]:
    """One effect per comparison, in the given order."""
    return tuple(_effect(one, judgement) for one, judgement in zip(compared, judgements, strict=True))


def _effect(one: Comparison, judgement: Judgement) -> Effect:
    subject, found = one.subject, one.found
    return Effect(
        agent=subject.group.agent,
        model=subject.group.model,
        kind=subject.kind,
        expects=subject.expects,
        from_=subject.pair[0],
        to=subject.pair[1],
        primary=one.primary,
        cases=found.cases,
        up=found.up,
        down=found.down,
        same=found.same,
        difference=None if found.difference is None else float(found.difference),
        these_cases=numbers.these_cases(found),
        new_cases=numbers.new_cases(found.new_cases),
        bootstrap=numbers.bootstrap(found),
        bounds=_bounds(one),
        holm_p=judgement.found.these_cases_p if judgement.found else None,
        holm_sign_flip_p=judgement.found.new_cases_p if judgement.found else None,
        lost=one.loss.reason,
        verdict=str(judgement.found.word) if judgement.found else None,
        direction=judgement.found.direction if judgement.found else None,
        verdict_reason="; ".join(judgement.found.reasons) if judgement.found else judgement.why_none,
        sentence=sentence(one, judgement),
        next_step=next_step(judgement),
        dropped=found.dropped,
        per_case=per_case(one.cases),
    )


def _bounds(one: Comparison) -> Bounds:
    found = one.found.bounds
    return Bounds(
        low=None if found.low is None else float(found.low),
        high=None if found.high is None else float(found.high),
        method="runs without a verdict (undecided or lost) all against the effect, or all for it",
        n=sum(case.n0 + case.n1 + sum(case.unknown) for case in one.counts),
        unit="runs",
        reason=found.reason,
    )
