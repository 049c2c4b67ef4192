"""Pairs of arms, compared case by case: what is compared with what, and the counts that go into the statistics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from pytest_skilleval.core.statistics.missing import UNEQUAL_LOSS, Loss, loss
from pytest_skilleval.core.statistics.paired import PairedEffect, paired_effect
from pytest_skilleval.core.statistics.values import PairedCounts
from pytest_skilleval.report.cells import Cells, Group, Runs, Tally, added
from pytest_skilleval.report.facts import Pair, SpecFacts
from pytest_skilleval.report.values import ArmCount, EffectCase

STRATA = ("improve", "hold", "all")


class Subject(NamedTuple):
    """What is compared: `pair` (from, to) in one group, over one kind and stratum of cases."""

    pair: Pair
    primary: bool
    kind: str
    expects: str
    group: Group
    null: bool = False
    """Both arms are declared alike."""


@dataclass(frozen=True, slots=True)
class CasePair:
    """Runs of one case in both arms."""

    case: str
    before: Runs
    after: Runs

    @property
    def tallies(self) -> tuple[Tally, Tally]:
        """Outcomes before and after."""
        return self.before.tally, self.after.tally

    @property
    def family(self) -> str | None:
        """The case's family."""
        return (self.before or self.after).family

    @property
    def expects(self) -> str | None:
        """What the policy predicts for the case."""
        return (self.before or self.after).expects


@dataclass(frozen=True, slots=True)
class Comparison:
    """One subject with its cases and its figures."""

    subject: Subject
    cases: tuple[CasePair, ...]
    counts: tuple[PairedCounts, ...]
    found: PairedEffect
    loss: Loss
    primary: bool
    """Outcome cases to improve (all, where none is marked) in a primary contrast: tested; all others are exploratory."""


def contrasts(cells: Cells, facts: SpecFacts) -> list[tuple[Pair, bool]]:
    """Pairs of arms of which both ran, primary ones first."""
    named = dict.fromkeys((*facts.primary, *facts.secondary, *facts.null))
    return [(pair, pair in facts.primary) for pair in named if set(pair) <= set(cells.arms)]


def case_pairs(cells: Cells, kind: str, pair: Pair, group: Group) -> list[CasePair]:
    """Cases with a run in either arm, in order; none unless both arms ran this kind."""
    before, after = (cells.cell(kind, arm, group) for arm in pair)
    if not (before and after):
        return []
    return [CasePair(case, before.get(case, Runs()), after.get(case, Runs())) for case in sorted({*before, *after})]


def comparisons(cells: Cells, facts: SpecFacts, random_seed: int) -> list[Comparison]:
    """All comparisons, the headline first: primary before secondary, outcome before fidelity, improve before hold before all."""
    found = []
    for kind in ("outcome", "fidelity"):
        for pair, primary in contrasts(cells, facts):
            for group in cells.groups:
                cases = case_pairs(cells, kind, pair, group)
                for place, (expects, chosen) in enumerate(_strata(cases, kind)):
                    subject = Subject(pair, primary and kind == "outcome", kind, expects, group, pair in facts.null)
                    found.append(_compared(subject, chosen, random_seed, primary=subject.primary and place == 0 and expects != "hold"))
    return sorted(found, key=lambda one: (not one.subject.primary, one.subject.kind != "outcome", STRATA.index(one.subject.expects)))


def per_case(cases: Sequence[CasePair]) -> tuple[EffectCase, ...]:
    """The rows a comparison is the mean of."""
    return tuple(_effect_case(one) for one in cases)


def paired(one: CasePair) -> PairedCounts:
    """Counts of one case in both arms, as the statistics take them."""
    before, after = one.tallies
    return PairedCounts(
        one.case,
        before.passed,
        before.scored,
        after.passed,
        after.scored,
        one.family,
        before.undecided,
        after.undecided,
        before.lost,
        after.lost,
    )


def _strata(cases: list[CasePair], kind: str) -> Iterator[tuple[str, list[CasePair]]]:
    if kind == "outcome":
        for expects in ("improve", "hold"):
            chosen = [one for one in cases if one.expects == expects]
            if chosen:
                yield expects, chosen
    if cases:
        yield "all", cases


def _compared(subject: Subject, cases: list[CasePair], random_seed: int, *, primary: bool) -> Comparison:
    counts = tuple(map(paired, cases))
    before, after = (added(one.tallies[which] for one in cases) for which in (0, 1))
    return Comparison(subject, tuple(cases), counts, paired_effect(counts, random_seed=random_seed), _loss(before, after), primary)


def _loss(before: Tally, after: Tally) -> Loss:
    """Lost runs; and undecided ones when they depend on the arm, as after an outage of the judge in one of them."""
    lost = loss(before.lost, before.runs, after.lost, after.runs)
    undecided = loss(before.undecided, before.runs, after.undecided, after.runs)
    if lost.reason is None and undecided.fisher_p <= UNEQUAL_LOSS:
        counts = f"{before.undecided} of {before.runs} and {after.undecided} of {after.runs}"
        return replace(lost, reason=f"undecided runs depend on the arm: {counts} (Fisher p = {undecided.fisher_p:.3f})")
    return lost


def _effect_case(one: CasePair) -> EffectCase:
    before, after = map(_arm_count, one.tallies)
    difference = after.passed / after.scored - before.passed / before.scored if before.scored and after.scored else None
    return EffectCase(case=one.case, family=one.family, from_=before, to=after, difference=difference)


def _arm_count(count: Tally) -> ArmCount:
    return ArmCount(passed=count.passed, scored=count.scored, undecided=count.undecided, lost=count.lost)
