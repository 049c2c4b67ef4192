"""What the skill costs: questions, turns, tools, tokens, time, money, compared case by case."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from statistics import fmean
from typing import NamedTuple

from pytest_skilleval.core.record import MeasuredRun
from pytest_skilleval.core.statistics.proportions import new_cases_interval
from pytest_skilleval.core.statistics.skewed import CostPair, cost_effect
from pytest_skilleval.core.statistics.values import Interval, cluster_means
from pytest_skilleval.report.cells import Cells, Group, Runs
from pytest_skilleval.report.comparisons import CasePair, case_pairs, contrasts
from pytest_skilleval.report.facts import Pair, SpecFacts
from pytest_skilleval.report.numbers import figure, of_estimate
from pytest_skilleval.report.values import Figure, Friction

ASKED = "asked first"
NEEDLESS = "asked needlessly"
"""Asked first on a case that the policy leaves as it is (`expects: hold`): acting at once was fine there."""
NOT_TOLD = "no run tells it"
NO_REQUESTS = "the runs' model requests were not recorded, or not the sizes of listing and body"
NO_PRICE = "no price is known for these tokens (the warnings name the models)"
SIMULATED = "simulated tokens have no price"


class Metric(NamedTuple):
    """One amount that a run uses; None where the run does not tell."""

    name: str
    unit: str
    of: Callable[[MeasuredRun], float | None]
    why_not: str = NOT_TOLD


def _tokens(run: MeasuredRun) -> float | None:
    usage = run.usage
    return usage.input + usage.output + usage.cache_read + usage.cache_write if usage.known else None


METRICS = (
    Metric("turns", "", lambda run: run.turns_sent),
    Metric("tool calls", "", lambda run: run.tool_calls),
    Metric("tokens", "", _tokens),
    Metric("tokens: listing", "", lambda run: run.split.listing if run.split else None, NO_REQUESTS),
    Metric("tokens: body", "", lambda run: run.split.body if run.split else None, NO_REQUESTS),
    Metric("tokens: work", "", lambda run: run.split.work if run.split else None, NO_REQUESTS),
    Metric("agent time", "s", lambda run: run.seconds),
    Metric("cost", "$", lambda run: run.cost_usd, NO_PRICE),
    Metric("cost, no cache", "$", lambda run: run.uncached_usd, NO_PRICE),
)


def friction(cells: Cells, facts: SpecFacts) -> tuple[Friction, ...]:
    """Every metric of every comparison over the scored runs of outcome cases that ran in both arms."""
    return tuple(
        row
        for pair, _ in contrasts(cells, facts)
        for group in cells.groups
        if (cases := case_pairs(cells, "outcome", pair, group))
        for row in _metrics(pair, group, cases)
    )


def _metrics(pair: Pair, group: Group, cases: Sequence[CasePair]) -> Iterator[Friction]:
    asked = [_cost_pair(one, lambda run: float(run.score is not None and run.score.asked_first)) for one in cases]
    yield from _share(ASKED, pair, group, asked)
    held = {one.case for one in cases if one.expects == "hold"}
    yield from _share(NEEDLESS, pair, group, [one for one in asked if one.case in held])
    simulated = any(run.record.simulated for one in cases for run in one.after if run.record)
    for metric in METRICS:
        amounts = [_cost_pair(one, metric.of) for one in cases]
        told = [one for one in amounts if one.used0 and one.used1]
        why_not = SIMULATED if simulated and metric.unit == "$" else metric.why_not
        difference, ratio = _used(told) if told else _unknown(why_not)
        yield _row((metric.name, metric.unit), pair, group, told, (difference, ratio))


def _share(name: str, pair: Pair, group: Group, asked: Sequence[CostPair]) -> Iterator[Friction]:
    told = [one for one in asked if one.used0 and one.used1]
    if told:
        yield _row((name, "share"), pair, group, told, (_asked(told), None))


def _row(what: tuple[str, str], pair: Pair, group: Group, told: Sequence[CostPair], found: tuple[Figure, Figure | None]) -> Friction:
    return Friction(
        metric=what[0],
        unit=what[1],
        agent=group.agent,
        model=group.model,
        from_=pair[0],
        to=pair[1],
        from_mean=fmean(fmean(one.used0) for one in told) if told else None,
        to_mean=fmean(fmean(one.used1) for one in told) if told else None,
        from_runs=sum(len(one.used0) for one in told),
        to_runs=sum(len(one.used1) for one in told),
        difference=found[0],
        ratio=found[1],
    )


def _unknown(reason: str) -> tuple[Figure, Figure]:
    nothing = figure(None, Interval.unknown(reason, "signed-rank"), 0, "families")
    return nothing, nothing


def _asked(told: Sequence[CostPair]) -> Figure:
    """A share, so no amount: the same interval for new cases as a difference in pass rate."""
    shares = [
        (one.family, Fraction(round(sum(one.used1)), len(one.used1)) - Fraction(round(sum(one.used0)), len(one.used0))) for one in told
    ]
    clusters = [float(difference) for difference in cluster_means(shares)]
    return figure(fmean(clusters), new_cases_interval(sorted(clusters), -1, 1), len(clusters), "families")


def _used(told: Sequence[CostPair]) -> tuple[Figure, Figure]:
    found = cost_effect(told)
    return of_estimate(found.difference, "families"), of_estimate(found.ratio, "families")


def _cost_pair(one: CasePair, of: Callable[[MeasuredRun], float | None]) -> CostPair:
    return CostPair(one.case, _told(of, one.before), _told(of, one.after), one.family)


def _told(of: Callable[[MeasuredRun], float | None], runs: Runs) -> tuple[float, ...]:
    return tuple([value for value in map(of, runs.measured) if value is not None])
