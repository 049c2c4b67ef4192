"""Was the skill loaded when it should be, and left alone when not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from pytest_skilleval.core.record import MeasuredRun
from pytest_skilleval.core.statistics.proportions import rate_these_cases
from pytest_skilleval.report import numbers
from pytest_skilleval.report.cells import Cells, Group, Runs, counts, loaded
from pytest_skilleval.report.facts import SpecFacts
from pytest_skilleval.report.values import Confusion, Figure, Trigger

NO_OWNER = "no skill"


def trigger(cells: Cells, facts: SpecFacts) -> tuple[Trigger, ...]:
    """Per arm and group in which trigger cases ran."""
    return tuple(_of_arm(arm, group, cells.cell("trigger", arm, group), facts) for arm, group in cells.places("trigger"))


def _of_arm(arm: str, group: Group, cases: dict[str, Runs], facts: SpecFacts) -> Trigger:
    known = facts.arm(arm)
    should = {case: runs for case, runs in cases.items() if _should_load(case, facts)}
    should_not = {case: runs for case, runs in cases.items() if case not in should}
    sensitivity = _share(should, lambda run: loaded(run, facts.skill))
    specificity = _share(should_not, lambda run: not loaded(run, facts.skill))
    return Trigger(
        arm=arm,
        agent=group.agent,
        model=group.model,
        applicable=known.installs,
        reason=None if known.installs else known.why_not,
        sensitivity=sensitivity,
        specificity=specificity,
        confusion=_confusion(cases, facts),
        suspicion=_suspicion(sensitivity, specificity) if known.installs else None,
    )


def _share(cases: dict[str, Runs], good: Callable[[MeasuredRun], bool]) -> Figure:
    return numbers.of_estimate(rate_these_cases(counts(cases, good, lambda run: run.score is not None)), "effective runs")


def _should_load(case: str, facts: SpecFacts) -> bool:
    return case in facts.cases and bool(facts.cases[case].should_load)


def _confusion(cases: dict[str, Runs], facts: SpecFacts) -> tuple[Confusion, ...]:
    found = Counter(
        (_owner(case, facts), tuple(sorted({load.skill for load in run.score.loaded})))
        for case, runs in cases.items()
        for run in runs
        if run.score
    )
    return tuple(Confusion(owner=owner, loaded=skills, runs=number) for (owner, skills), number in sorted(found.items()))


def _owner(case: str, facts: SpecFacts) -> str:
    if _should_load(case, facts):
        return facts.skill
    return (facts.cases[case].owner if case in facts.cases else None) or NO_OWNER


def _suspicion(sensitivity: Figure, specificity: Figure) -> str | None:
    if sensitivity.value == 0 and specificity.value == 1:
        return "it was never loaded at all: suspect the installation or the detection before the skill"
    if sensitivity.value == 1 and specificity.value == 0:
        return "it was loaded in every run: suspect the detection, or a description that claims everything"
    return None
