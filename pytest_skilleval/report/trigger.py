"""Was the skill loaded when it should be, and left alone when not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pytest_skilleval.core.record import MeasuredRun
from pytest_skilleval.core.statistics.trigger import NO_SKILL, TriggerCase, instrument_faults, trigger_rates
from pytest_skilleval.report import words
from pytest_skilleval.report.cells import Cells, Group, Runs
from pytest_skilleval.report.facts import CaseFacts, SpecFacts
from pytest_skilleval.report.numbers import of_estimate
from pytest_skilleval.report.values import Confusion, Trigger


def trigger(cells: Cells, facts: SpecFacts) -> tuple[Trigger, ...]:
    """Per arm and group in which trigger cases ran."""
    return tuple(_of_arm(arm, group, facts, cells.cell("trigger", arm, group)) for arm, group in cells.places("trigger"))


def trigger_faults(cells: Cells, facts: SpecFacts) -> Iterator[str]:
    """Patterns of loads that point to a broken instrument rather than to a skill."""
    for group in cells.groups:
        arms = {
            arm: _cases(facts, cells.cell("trigger", arm, group))
            for arm in cells.arms
            if facts.arm(arm).installs and cells.cell("trigger", arm, group)
        }
        yield from (f"{words.named(group)}: {fault}" for fault in instrument_faults(facts.skill, arms))


def _of_arm(arm: str, group: Group, facts: SpecFacts, cases: dict[str, Runs]) -> Trigger:
    known, found = facts.arm(arm), trigger_rates(facts.skill, _cases(facts, cases))
    return Trigger(
        arm=arm,
        agent=group.agent,
        model=group.model,
        applicable=known.installs,
        reason=None if known.installs else known.why_not,
        sensitivity=of_estimate(found.sensitivity, "effective runs"),
        sensitivity_new_cases=of_estimate(found.sensitivity_new_cases, "families"),
        specificity=of_estimate(found.specificity, "effective runs"),
        specificity_new_cases=of_estimate(found.specificity_new_cases, "families"),
        confusion=_confusion(facts, cases),
    )


def _cases(facts: SpecFacts, cases: dict[str, Runs]) -> list[TriggerCase]:
    return [
        TriggerCase(case, _owner(facts, case), tuple(frozenset(_loaded(run)) for run in runs if run.score), runs.family)
        for case, runs in cases.items()
    ]


def _owner(facts: SpecFacts, case: str) -> str | None:
    known = facts.cases.get(case, CaseFacts(kind="trigger"))
    return facts.skill if known.should_load else known.owner


def _loaded(run: MeasuredRun) -> tuple[str, ...]:
    return tuple(sorted({load.skill for load in run.score.loaded})) if run.score else ()


def _confusion(facts: SpecFacts, cases: dict[str, Runs]) -> tuple[Confusion, ...]:
    """Loaded together stays together, unlike in the statistics' table."""
    found = Counter((_owner(facts, case) or NO_SKILL, _loaded(run)) for case, runs in cases.items() for run in runs if run.score)
    return tuple(Confusion(owner=owner, loaded=skills, runs=number) for (owner, skills), number in sorted(found.items()))
