"""Several agents and models side by side, and their average."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from pytest_skilleval.core.statistics.pooling import pool
from pytest_skilleval.report.comparisons import Comparison
from pytest_skilleval.report.facts import Pair
from pytest_skilleval.report.numbers import new_cases, of_estimate
from pytest_skilleval.report.values import Pooled, PooledModel


def pooled(compared: Sequence[Comparison]) -> tuple[Pooled, ...]:
    """One row for every primary contrast that ran under more than one agent or model."""
    pairs = dict.fromkeys(one.subject.pair for one in compared if one.primary)
    by_pair = [(pair, [one for one in compared if one.primary and one.subject.pair == pair]) for pair in pairs]
    return tuple(_pooled(pair, several) for pair, several in by_pair if len(several) > 1)


def _pooled(pair: Pair, several: Sequence[Comparison]) -> Pooled:
    groups = {f"{place}": one.subject.group for place, one in enumerate(several)}
    differences = {
        name: {case.case: case.difference for case in one.counts if case.complete} for name, one in zip(groups, several, strict=True)
    }
    found = pool(differences, {case.case: case.family for one in several for case in one.counts})
    return Pooled(
        from_=pair[0],
        to=pair[1],
        expects=several[0].subject.expects,
        cases=len(found.cases),
        average=new_cases(found.average),
        between=found.between,
        models=tuple(
            PooledModel(agent=groups[name].agent, model=groups[name].model, **structs.asdict(of_estimate(estimate, "cases")))
            for name, estimate in found.models.items()
        ),
    )
