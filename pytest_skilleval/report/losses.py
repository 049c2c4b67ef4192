"""The second primary outcome, the chance of an irreversible loss, compared between arms; and what it cost in questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pytest_skilleval.core.statistics import gate as rules
from pytest_skilleval.core.statistics.harm import averted_per_question, irreversible_loss
from pytest_skilleval.core.statistics.missing import Loss, at_best, at_worst
from pytest_skilleval.core.statistics.multiplicity import holm
from pytest_skilleval.core.statistics.paired import PairedEffect
from pytest_skilleval.core.statistics.values import PairedCounts, cluster_means
from pytest_skilleval.core.statistics.verdict import ALPHA, PValues, claimed
from pytest_skilleval.report import numbers
from pytest_skilleval.report.cells import Group
from pytest_skilleval.report.comparisons import CasePair, Comparison
from pytest_skilleval.report.facts import Pair
from pytest_skilleval.report.gates import CODES
from pytest_skilleval.report.harm import paired_losses
from pytest_skilleval.report.values import Figure, HarmEffect, Margin

NO_MARGIN = "no margin is stated: gate.hold.no_worse_than in the spec"


@dataclass(frozen=True, slots=True)
class LossComparison:
    """Losses of one pair of arms in one group, over all outcome cases."""

    pair: Pair
    group: Group
    primary: bool
    """A primary contrast that did not lose too many runs."""
    cases: tuple[CasePair, ...]
    counts: tuple[PairedCounts, ...]
    lost: Loss
    found: PairedEffect

    @property
    def p(self) -> PValues:
        """What joins Holm.

        Where no run of either arm lost anything, no p but 1 was possible: nothing is tested, and the others are not corrected
        for it (Tarone 1990, Biometrics 46:515).
        """
        if not any(case.passed0 or case.passed1 for case in self.counts):
            return None, None
        return self.found.these_cases.p, self.found.new_cases.sign_flip_p


def loss_comparisons(compared: Sequence[Comparison]) -> list[LossComparison]:
    """One per pair of arms and group in which outcome cases ran, in the order of the comparisons."""
    return [_compared(one) for one in compared if one.subject.kind == "outcome" and one.subject.expects == "all"]


def tested(losses: Sequence[LossComparison]) -> list[PValues]:
    """The p values that are corrected together with those of the pass rates."""
    return [one.p for one in losses if one.primary]


def harm_effects(
    compared: Sequence[Comparison],
    losses: Sequence[LossComparison],
    margin: float | None,
    *,
    open_to_claims: bool,
    alpha: float = ALPHA,
) -> tuple[HarmEffect, ...]:
    """Every comparison of losses with what may be claimed of it.

    Parameters
    ----------
    compared
        All comparisons of pass rates: the primary ones share Holm's correction with the primary losses.
    margin
        By how much harm may grow and still count as no worse; None: the spec does not say.
    open_to_claims
        False for simulated and partial results: nothing is claimed.
    alpha
        The level of the session's last look.
    """
    beside = [one.found for one in compared if one.primary and not one.loss.too_many]
    doubtful = any(any(case.unknown) for one in losses if one.primary for case in one.counts)
    ends = [losses, *([_at_end(losses, at_worst), _at_end(losses, at_best)] if doubtful else [])]
    told = zip(*(zip(end, _adjusted(end, beside), strict=True) for end in ends), strict=True)
    return tuple(_effect(of_one, margin, alpha, open_to_claims=open_to_claims) for of_one in told)


def _adjusted(losses: Sequence[LossComparison], beside: Sequence[PairedEffect]) -> list[PValues]:
    """Holm's p of each comparison, corrected together with the pass rates `beside`; none of those that are not tested."""
    primary = [one for one in losses if one.primary]
    these = holm([*(one.these_cases.p for one in beside), *(one.p[0] for one in primary)])[len(beside) :]
    new = holm([*(one.new_cases.sign_flip_p for one in beside), *(one.p[1] for one in primary)])[len(beside) :]
    adjusted = iter(zip(these, new, strict=True))
    return [next(adjusted) if one.primary else (None, None) for one in losses]


def _at_end(losses: Sequence[LossComparison], change: Callable[[Sequence[PairedCounts]], list[PairedCounts]]) -> list[LossComparison]:
    """The same comparisons with every lost run counted against, or for, the effect."""
    return [_found(one, tuple(change(one.counts))) if one.primary else one for one in losses]


def _found(one: LossComparison, counts: tuple[PairedCounts, ...]) -> LossComparison:
    return replace(one, counts=counts, found=irreversible_loss(counts, random_seed=0, resamples=1).difference)


def _compared(one: Comparison) -> LossComparison:
    counts = tuple(map(paired_losses, one.cases))
    found = irreversible_loss(counts, random_seed=0, resamples=1).difference
    primary = one.subject.primary and not one.loss.too_many
    return LossComparison(one.subject.pair, one.subject.group, primary, one.cases, counts, one.loss, found)


def _effect(ends: Sequence[tuple[LossComparison, PValues]], margin: float | None, alpha: float, *, open_to_claims: bool) -> HarmEffect:
    one, p = ends[0]
    these, new = p if open_to_claims else (None, None)
    questions = [_asked(case) for case in one.cases]
    return HarmEffect(
        agent=one.group.agent,
        model=one.group.model,
        from_=one.pair[0],
        to=one.pair[1],
        primary=one.primary,
        cases=one.found.cases,
        difference=None if one.found.difference is None else float(one.found.difference),
        these_cases=numbers.these_cases(one.found),
        new_cases=numbers.new_cases(one.found.new_cases),
        holm_p=these,
        holm_sign_flip_p=new,
        claim=_claim(ends, alpha) if one.primary and open_to_claims else None,
        margin=_margin(one, margin),
        severity=_severity(one.cases),
        averted_per_question=numbers.of_estimate(averted_per_question(one.counts, questions), "families"),
    )


def _claim(ends: Sequence[tuple[LossComparison, PValues]], alpha: float) -> str:
    """What is claimed whatever the runs without a verdict were."""
    found = [claimed(one.counts, p, alpha) for one, p in ends]
    these, new = ({one.these for one in found}, {one.new for one in found})
    if len(new) == 1 and 0 not in new:
        direction, where = new.pop(), "for new cases"
    elif len(these) == 1 and 0 not in these:
        direction, where = these.pop(), "on these cases"
    else:
        return "not shown"
    return f"{'MORE' if direction > 0 else 'less'} irreversible loss, {where}"


def _margin(one: LossComparison, margin: float | None) -> Margin:
    if margin is None:
        return Margin(margin=None, decision="undecided", reason=NO_MARGIN)
    spared = [replace(case, passed0=case.n0 - case.passed0, passed1=case.n1 - case.passed1) for case in one.counts]
    found = rules.hold(spared, one.lost, margin)
    return Margin(margin=margin, decision=CODES[found.decision], reason=found.reason)


def _severity(cases: Sequence[CasePair]) -> Figure:
    """Difference in the weight of a run's worst loss, for new cases; below 0 is less harm."""
    weights = ((one.family, one.before.severity, one.after.severity) for one in cases)
    differences = ((family, after - before) for family, before, after in weights if before is not None and after is not None)
    return numbers.of_clusters(cluster_means(differences), -1, 1)


def _asked(one: CasePair) -> PairedCounts:
    before, after = one.before, one.after
    return PairedCounts(one.case, before.asked_first, len(before.scores), after.asked_first, len(after.scores), one.family)
