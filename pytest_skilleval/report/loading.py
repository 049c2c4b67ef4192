"""Offered, loaded, passed: how far an effect goes through the loading of the skill."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from pytest_skilleval.core.record import MeasuredRun
from pytest_skilleval.core.statistics.complier import Loads, load_effect
from pytest_skilleval.report.cells import Cells, Group, Runs, loaded, passed, unviolated
from pytest_skilleval.report.comparisons import CasePair, case_pairs, contrasts, paired
from pytest_skilleval.report.facts import Pair, SpecFacts
from pytest_skilleval.report.numbers import of_estimate
from pytest_skilleval.report.values import Chain, Figure, Loading

CONFOUNDED = "confounded: loading is not assigned, so what made runs load is mixed in"


def loading(cells: Cells, facts: SpecFacts) -> tuple[Loading, ...]:
    """One row per comparison into an arm that installs the skill, over outcome cases."""
    return tuple(
        _loading(pair, group, cases, facts.skill)
        for pair, _ in contrasts(cells, facts)
        if facts.arm(pair[1]).installs
        for group in cells.groups
        if (cases := case_pairs(cells, "outcome", pair, group))
    )


def chains(cells: Cells, facts: SpecFacts) -> tuple[Chain, ...]:
    """Per arm, over its runs of outcome cases with a verdict."""
    return tuple(_chain(cells, facts, arm, group) for arm, group in cells.places("outcome"))


def _chain(cells: Cells, facts: SpecFacts, arm: str, group: Group) -> Chain:
    known = facts.arm(arm)
    runs = [run for of_case in cells.cell("outcome", arm, group).values() for run in of_case.decided]
    offered = runs if known.installs else []
    with_it = [run for run in offered if loaded(run, facts.skill)]
    followed = [run for run in with_it if unviolated(run)]
    return Chain(
        arm=arm,
        agent=group.agent,
        model=group.model,
        runs=len(runs),
        offered=len(offered),
        loaded=len(with_it),
        followed=len(followed),
        passed=sum(map(passed, followed)),
        passed_all=sum(map(passed, runs)),
        reason=None if known.installs else known.why_not,
    )


def _loading(pair: Pair, group: Group, cases: Sequence[CasePair], skill: str) -> Loading:
    found = load_effect([_loads(one, skill) for one in cases])
    offered = [run for one in cases for run in one.after.decided]
    with_it = [run for run in offered if loaded(run, skill)]
    return Loading(
        agent=group.agent,
        model=group.model,
        from_=pair[0],
        to=pair[1],
        offered=len(offered),
        loaded=len(with_it),
        passed_loaded=sum(map(passed, with_it)),
        as_assigned=of_estimate(found.as_assigned, "families"),
        as_loaded=_confounded(of_estimate(found.as_loaded, "families")),
        first_stage=of_estimate(found.first_stage, "families"),
        of_loading=of_estimate(found.of_loading, "families"),
    )


def _confounded(figure: Figure) -> Figure:
    """The label travels with the number."""
    return structs.replace(figure, reason="; ".join(filter(None, (CONFOUNDED, figure.reason))))


def _loads(one: CasePair, skill: str) -> Loads:
    after = _with_it(one.after, skill)
    return Loads(paired(one), len(_with_it(one.before, skill)), len(after), sum(map(passed, after)))


def _with_it(runs: Runs, skill: str) -> list[MeasuredRun]:
    return [run for run in runs.decided if loaded(run, skill)]
