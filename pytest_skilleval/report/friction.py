"""What the skill costs: questions, turns, tools, tokens, time, money, compared case by case."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import fmean
from typing import NamedTuple

from pytest_skilleval.core.record import MeasuredRun
from pytest_skilleval.core.statistics.values import LEVEL
from pytest_skilleval.report.cells import Cells, Group
from pytest_skilleval.report.comparisons import CasePair, case_pairs, contrasts
from pytest_skilleval.report.facts import Pair, SpecFacts
from pytest_skilleval.report.values import Figure, Friction


class Metric(NamedTuple):
    """One thing that is counted per run; None where the run does not tell."""

    name: str
    unit: str
    of: Callable[[MeasuredRun], float | None]


def _tokens(run: MeasuredRun) -> float | None:
    usage = run.usage
    return usage.input + usage.output + usage.cache_read + usage.cache_write if usage.known else None


METRICS = (
    Metric("asked first", "share", lambda run: float(bool(run.score and run.score.asked_first))),
    Metric("turns", "", lambda run: run.turns_sent),
    Metric("tool calls", "", lambda run: run.tool_calls),
    Metric("tokens", "", _tokens),
    Metric("agent time", "s", lambda run: run.seconds),
    Metric("cost", "$", lambda run: run.cost_usd),
)


def friction(cells: Cells, facts: SpecFacts) -> tuple[Friction, ...]:
    """Every metric of every comparison over outcome cases."""
    return tuple(
        row
        for pair, _ in contrasts(cells, facts)
        for group in cells.groups
        if (cases := case_pairs(cells, "outcome", pair, group))
        for row in _metrics(pair, group, cases)
    )


def _metrics(pair: Pair, group: Group, cases: list[CasePair]) -> Iterator[Friction]:
    for metric in METRICS:
        told = [(_told(metric, one.before), _told(metric, one.after)) for one in cases]
        both = [(before, after) for before, after in told if before and after]
        if both:
            yield _friction(metric, pair, group, both)


def _friction(metric: Metric, pair: Pair, group: Group, both: list[tuple[list[float], list[float]]]) -> Friction:
    before, after = (fmean(fmean(one[which]) for one in both) for which in (0, 1))
    return Friction(
        metric=metric.name,
        unit=metric.unit,
        agent=group.agent,
        model=group.model,
        from_=pair[0],
        to=pair[1],
        from_mean=before,
        to_mean=after,
        from_runs=sum(len(one) for one, _ in both),
        to_runs=sum(len(one) for _, one in both),
        difference=Figure(
            value=after - before,
            low=None,
            high=None,
            level=LEVEL,
            method="mean over cases",
            n=len(both),
            unit="cases",
            reason="limits are not estimated",
        ),
        ratio=None,
    )


def _told(metric: Metric, runs: list[MeasuredRun]) -> list[float]:
    return [float(value) for run in runs if run.score and (value := metric.of(run)) is not None]
