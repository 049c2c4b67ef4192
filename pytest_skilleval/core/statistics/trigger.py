"""Trigger cases: was the skill loaded when the request is its own, and left alone when it is not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pytest_skilleval.core.statistics.proportions import rate_new_cases, rate_these_cases
from pytest_skilleval.core.statistics.values import LEVEL, Estimate, RunCounts

NO_SKILL = "none"


@dataclass(frozen=True, slots=True)
class TriggerCase:
    """One trigger case in one arm: the skill that the request belongs to (None: to no skill) and what each run loaded."""

    case: str
    owner: str | None
    loads: tuple[frozenset[str], ...]
    family: str | None = None

    def loading(self, skill: str) -> RunCounts:
        """Runs that loaded `skill`."""
        return RunCounts(self.case, sum(skill in run for run in self.loads), len(self.loads), self.family)

    def sparing(self, skill: str) -> RunCounts:
        """Runs that did not load `skill`."""
        return RunCounts(self.case, sum(skill not in run for run in self.loads), len(self.loads), self.family)


@dataclass(frozen=True, slots=True)
class TriggerRates:
    """Sensitivity and specificity of loading, each on these cases (Wilson) and for new ones (BBB), and what was loaded for whom.

    ``confusion[owner][skill]`` counts runs; a run that loads two skills counts under both, one that loads nothing under "none".
    """

    sensitivity: Estimate
    sensitivity_new_cases: Estimate
    specificity: Estimate
    specificity_new_cases: Estimate
    confusion: Mapping[str, Mapping[str, int]]


def trigger_rates(skill: str, cases: Sequence[TriggerCase], level: float = LEVEL) -> TriggerRates:
    """Sensitivity over the cases that `skill` owns, specificity over all others (near misses count here)."""
    own = [case.loading(skill) for case in cases if case.owner == skill]
    foreign = [case.sparing(skill) for case in cases if case.owner != skill]
    return TriggerRates(
        rate_these_cases(own, level),
        rate_new_cases(own, level),
        rate_these_cases(foreign, level),
        rate_new_cases(foreign, level),
        confusion(cases),
    )


def confusion(cases: Iterable[TriggerCase]) -> dict[str, dict[str, int]]:
    """Runs by owner of the request and skill loaded, both sorted by name."""
    counted: dict[str, Counter[str]] = {}
    for case in cases:
        row = counted.setdefault(case.owner or NO_SKILL, Counter())
        for run in case.loads:
            row.update(run or {NO_SKILL})
    return {owner: dict(sorted(row.items())) for owner, row in sorted(counted.items())}


def instrument_faults(skill: str, arms: Mapping[str, Sequence[TriggerCase]]) -> tuple[str, ...]:
    """Patterns that point to a broken instrument rather than to a skill; `arms` are those that install it.

    Nothing loads in any arm: loading is probably not seen, or the skill is not where the agent looks. Everything loads: it is
    probably shown, not chosen. Never loaded by its own requests: a perfect precision that means nothing.
    """
    if not any(case.loads for cases in arms.values() for case in cases):
        return ()
    if not any(run for cases in arms.values() for case in cases for run in case.loads):
        return ("no run of any arm loaded any skill: check that loads are seen and that skills are installed where the agent looks",)
    return tuple(warning for arm, cases in arms.items() for warning in _arm_faults(skill, arm, cases))


def _arm_faults(skill: str, arm: str, cases: Sequence[TriggerCase]) -> Iterable[str]:
    own = [case.loading(skill) for case in cases if case.owner == skill]
    foreign = [case.loading(skill) for case in cases if case.owner != skill]
    own_loads, foreign_loads = (sum(case.good for case in group) for group in (own, foreign))
    own_runs, foreign_runs = (sum(case.n for case in group) for group in (own, foreign))
    if own_runs and own_loads == 0 and foreign_loads == 0:
        yield f"{arm}: {skill} was never loaded (recall 0), so its precision of 100 % says nothing"
    if foreign_runs and foreign_loads == foreign_runs and own_loads == own_runs:
        yield f"{arm}: {skill} was loaded in every run, its own request or not: it may be shown instead of chosen"
