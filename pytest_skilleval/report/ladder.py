"""The delivery ladder: the same policy delivered in every way that the spec tries, from nothing at all to a human at the prompt."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pytest_skilleval.core.statistics.paired import NO_PAIR
from pytest_skilleval.core.statistics.proportions import (
    effective_runs,
    newcombe,
    rate_new_cases,
    rate_these_cases,
)
from pytest_skilleval.core.statistics.values import Interval, PairedCounts, cluster_means, mean
from pytest_skilleval.report.cells import Cells, Group, Runs, hits, passes
from pytest_skilleval.report.comparisons import case_pairs, paired
from pytest_skilleval.report.facts import DELIVERIES, ArmFacts, Pair, SpecFacts
from pytest_skilleval.report.numbers import figure, of_clusters, of_estimate
from pytest_skilleval.report.values import Figure, Rung


def ladder(cells: Cells, facts: SpecFacts) -> tuple[Rung, ...]:
    """Arms in the order of what they deliver, for every agent and model, over the cases of the headline."""
    return tuple(rung for group in cells.groups for rung in _of_group(cells, facts, group))


def _of_group(cells: Cells, facts: SpecFacts, group: Group) -> list[Rung]:
    arms = [arm for arm, other in cells.places("outcome") if other == group]
    arms.sort(key=lambda arm: DELIVERIES.index(facts.arm(arm).delivers))
    baseline = next((arm for arm in arms if facts.arm(arm).role == "baseline"), None)
    improve = any(runs.expects == "improve" for arm in arms for runs in cells.cell("outcome", arm, group).values())
    expects = "improve" if improve else "all"
    return [_rung(cells, facts.arm(arm), group, (baseline, arm), expects=expects) for arm in arms]


def _rung(cells: Cells, known: ArmFacts, group: Group, pair: tuple[str | None, str], *, expects: str) -> Rung:
    baseline, arm = pair
    cases = {case: runs for case, runs in cells.cell("outcome", arm, group).items() if expects in (runs.expects, "all")}
    by_case = passes(cases)
    pairs = _pairs(cells, group, (baseline, arm), cases) if baseline is not None and arm != baseline else None
    return Rung(
        arm=arm,
        delivers=known.delivers,
        detail=known.detail,
        agent=group.agent,
        model=group.model,
        expects=expects,
        cases=len(cases),
        passed=sum(case.good for case in by_case),
        scored=sum(case.n for case in by_case),
        these_cases=of_estimate(rate_these_cases(by_case), "effective runs"),
        new_cases=of_estimate(rate_new_cases(by_case), "families"),
        baseline=baseline,
        difference=None if pairs is None else _difference(pairs),
        difference_new_cases=None if pairs is None else _further(pairs),
        asked_first=_share(cases, lambda runs: runs.asked_first),
        human_asked=_share(cases, _denied) if known.delivers == "prompted" else None,
    )


def _pairs(cells: Cells, group: Group, pair: Pair, cases: Mapping[str, Runs]) -> list[PairedCounts]:
    found = [paired(one) for one in case_pairs(cells, "outcome", pair, group) if one.case in cases]
    return [one for one in found if one.complete]


def _denied(runs: Runs) -> int:
    return sum(bool(score.denied) for score in runs.scores)


def _share(cases: Mapping[str, Runs], hit: Callable[[Runs], int]) -> Figure:
    return of_estimate(rate_these_cases(hits(cases, hit)), "effective runs")


def _difference(pairs: Sequence[PairedCounts]) -> Figure:
    """Newcombe on these cases, without a test."""
    runs = sum(pair.n0 + pair.n1 for pair in pairs)
    if not pairs:
        return figure(None, Interval.unknown(NO_PAIR, "Newcombe"), 0, "runs")
    arms = [[pair.arm(which) for pair in pairs] for which in (0, 1)]
    (rate0, runs0), (rate1, runs1) = ((float(mean([case.share for case in arm])), effective_runs(arm)) for arm in arms)
    return figure(rate1 - rate0, newcombe(rate1 * runs1, runs1, rate0 * runs0, runs0), runs, "runs")


def _further(pairs: Sequence[PairedCounts]) -> Figure:
    return of_clusters(cluster_means((pair.family, pair.difference) for pair in pairs), -1, 1)
