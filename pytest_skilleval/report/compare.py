"""Two reports of one skill: what changed beyond noise."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pytest_skilleval.core.errors import UsageProblem
from pytest_skilleval.core.statistics.multiplicity import holm
from pytest_skilleval.core.statistics.paired import PairedEffect, paired_effect
from pytest_skilleval.core.statistics.values import PairedCounts
from pytest_skilleval.core.statistics.verdict import ALPHA
from pytest_skilleval.report import numbers, words
from pytest_skilleval.report.values import Document, TheseCases


class Arm(NamedTuple):
    """What is followed from one report to the other."""

    kind: str
    arm: str
    agent: str
    model: str


@dataclass(frozen=True, slots=True)
class Change:
    """Pass rate of one arm, new minus old, over the cases in both reports.

    ``p`` is that of the exact permutation within cases, corrected (Holm) for the number of arms compared.
    """

    arm: Arm
    cases: int
    old: str
    new: str
    difference: float | None
    these_cases: TheseCases
    p: float | None

    @property
    def beyond_noise(self) -> bool:
        """Whether chance alone hardly makes such a change."""
        return self.p is not None and self.p <= ALPHA


@dataclass(frozen=True, slots=True)
class Changes:
    """What changed between two reports, and what differs in how they were made."""

    skill: str
    changes: tuple[Change, ...]
    only_old: tuple[str, ...]
    only_new: tuple[str, ...]
    made_differently: tuple[str, ...]


def compare(old: Document, new: Document) -> Changes:
    """Compare arm by arm over the cases that both reports have.

    Raises
    ------
    UsageProblem
        The reports are of different skills, or one is simulated and the other is not.
    """
    if old.skill != new.skill:
        raise UsageProblem(f"the reports are of different skills: {old.skill} and {new.skill}")
    if old.simulated != new.simulated:
        raise UsageProblem("one report is simulated and the other is not: they can't be compared")
    before, after = _counts(old), _counts(new)
    arms = [arm for arm in before if arm in after]
    pairs = [_pairs(before[arm], after[arm]) for arm in arms]
    found = [paired_effect(some, random_seed=0, resamples=1) for some in pairs]
    adjusted = holm([effect.these_cases.p for effect in found])
    return Changes(
        skill=new.skill,
        changes=tuple(_change(*row) for row in zip(arms, pairs, found, adjusted, strict=True) if row[2].cases),
        only_old=_only(before, after),
        only_new=_only(after, before),
        made_differently=tuple(_made_differently(old, new)),
    )


def comparison_lines(changes: Changes) -> list[str]:
    """A small table for the terminal, and what to know before believing it."""
    lines = [f"{changes.skill}: old -> new, over the cases in both reports; in brackets: 95 % limits"]
    names = [f"{change.arm.kind}, {change.arm.arm} ({words.group(change.arm.agent, change.arm.model)})" for change in changes.changes]
    broad = max(map(len, names), default=0)
    for name, change in zip(names, changes.changes, strict=True):
        moved = f"{words.points(change.difference)} {words.points_span(change.these_cases)}"
        says = "changed" if change.beyond_noise else "may be chance"
        lines.append(f"  {name:<{broad}}  {change.old:>9} -> {change.new:<9}  {moved}  {says} ({words.p_value(change.p)})")
    if not changes.changes:
        lines.append("  nothing to compare: no arm has a case with a verdict in both reports")
    lines += [f"  only in old: {words.listing(changes.only_old)}"] if changes.only_old else []
    lines += [f"  only in new: {words.listing(changes.only_new)}"] if changes.only_new else []
    lines += [f"  made differently: {difference}" for difference in changes.made_differently]
    return lines


Counts = dict[str, tuple[int, int]]


def _counts(document: Document) -> dict[Arm, Counts]:
    """Passed and scored runs by arm and case, in the order of the report's rates."""
    found: dict[Arm, Counts] = {Arm(rate.kind, rate.arm, rate.agent, rate.model): {} for rate in document.rates}
    for run in document.runs:
        cases = found.setdefault(Arm(run.kind, run.arm, run.agent, run.model), {})
        passed, scored = cases.get(run.case, (0, 0))
        cases[run.case] = (passed + (run.verdict == "pass"), scored + (run.verdict in ("pass", "fail")))
    return found


def _pairs(before: Counts, after: Counts) -> list[PairedCounts]:
    return [PairedCounts(case, *before[case], *after[case]) for case in sorted(before.keys() & after.keys())]


def _change(arm: Arm, pairs: Sequence[PairedCounts], effect: PairedEffect, p: float | None) -> Change:
    both = [case for case in pairs if case.complete]
    return Change(
        arm=arm,
        cases=effect.cases,
        old=f"{sum(case.passed0 for case in both)} of {effect.runs0}",
        new=f"{sum(case.passed1 for case in both)} of {effect.runs1}",
        difference=None if effect.difference is None else float(effect.difference),
        these_cases=numbers.these_cases(effect),
        p=p,
    )


def _only(here: dict[Arm, Counts], there: dict[Arm, Counts]) -> tuple[str, ...]:
    """Cases and arms that stand in one report only."""
    cases: dict[str, set[str]] = defaultdict(set)
    for arms, side in ((here, "here"), (there, "there")):
        for arm, counts in arms.items():
            cases[arm.arm].add(side)
            for case in counts:
                cases[case].add(side)
    return tuple(sorted(name for name, sides in cases.items() if sides == {"here"}))


def _made_differently(old: Document, new: Document) -> Iterator[str]:
    before, after = old.provenance.shared, new.provenance.shared
    for name in sorted({*before, *after, *old.provenance.differing, *new.provenance.differing}):
        values = [_value(name, document) for document in (old, new)]
        if values[0] != values[1]:
            yield f"{name}: {values[0]} -> {values[1]}"


def _value(name: str, document: Document) -> str:
    found: Sequence[str] = list(document.provenance.differing.get(name, {}))
    return document.provenance.shared.get(name) or " and ".join(found) or "not recorded"
