"""Per arm: pass rates, pass^k, and whether the skill is followed once loaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from pytest_skilleval.core.statistics import passk
from pytest_skilleval.core.statistics.proportions import NO_RUNS, rate_new_cases, rate_these_cases
from pytest_skilleval.core.statistics.values import Interval, RunCounts, mean
from pytest_skilleval.report.cells import Cells, Group, Runs, Tally, added, loaded, passes
from pytest_skilleval.report.facts import SpecFacts
from pytest_skilleval.report.numbers import limit_fields, limits, of_estimate
from pytest_skilleval.report.values import Bounds, Fidelity, PassHatK, Rate

KINDS = ("outcome", "fidelity", "trigger")
LENGTHS = (2, 3, 5, 10)
"""The k for which the chance of k good runs in a row is reported."""
FEWEST_MEASURED = Fraction(1, 2)
"""A rate over fewer of its runs is not printed: what was lost could turn it into anything."""


def rates(cells: Cells, facts: SpecFacts) -> tuple[Rate, ...]:
    """Pass rates by kind, agent, model and arm."""
    return tuple(_rate(kind, arm, group, cells.cell(kind, arm, group), facts) for kind in KINDS for arm, group in cells.places(kind))


def pass_hat_k(cells: Cells) -> tuple[PassHatK, ...]:
    """Over outcome cases: pass^k (no must-not violation in any repeat), and unbiased chances of k good runs in a row."""
    return tuple(row for arm, group in cells.places("outcome") for row in _reliability(arm, group, cells.cell("outcome", arm, group)))


def fidelity(cells: Cells, skill: str) -> tuple[Fidelity, ...]:
    """Over fidelity cases, runs in which the skill was loaded."""
    return tuple(_fidelity(arm, group, cells.cell("fidelity", arm, group), skill) for arm, group in cells.places("fidelity"))


def _rate(kind: str, arm: str, group: Group, cases: Mapping[str, Runs], facts: SpecFacts) -> Rate:
    by_case = passes(cases)
    tallies = [runs.tally for runs in cases.values()]
    total = added(tallies)
    refusal = _refusal(total)
    these, new = rate_these_cases(by_case), rate_new_cases(by_case)
    if refusal:
        these_interval, new_interval = (Interval.unknown(refusal, name) for name in (these.interval.method, new.interval.method))
    else:
        these_interval, new_interval = these.interval, new.interval
    return Rate(
        arm=arm,
        role=facts.arm(arm).role,
        agent=group.agent,
        model=group.model,
        kind=kind,
        cases=len(cases),
        runs=total.runs,
        passed=total.passed,
        scored=total.scored,
        undecided=total.undecided,
        errors=total.errors,
        void=total.void,
        rate=None if refusal else these.value,
        reason=refusal,
        wilson=limits(these_interval, these.n, "effective runs"),
        new_cases=limits(new_interval, new.n, "families"),
        bounds=_bounds(tallies),
    )


def _refusal(total: Tally) -> str | None:
    if not total.scored:
        return NO_RUNS
    if Fraction(total.scored, total.runs) < FEWEST_MEASURED:
        return f"only {total.scored} of {total.runs} runs have a verdict"
    return None


def _bounds(tallies: Sequence[Tally]) -> Bounds:
    return Bounds(
        low=float(mean([Fraction(one.passed, one.runs) for one in tallies])),
        high=float(mean([Fraction(one.runs - one.failed, one.runs) for one in tallies])),
        method="runs without a verdict all failed, or all passed",
        n=sum(one.runs for one in tallies),
        unit="runs",
    )


def _reliability(arm: str, group: Group, cases: Mapping[str, Runs]) -> list[PassHatK]:
    clean = [RunCounts(case, runs.clean, runs.tally.scored, runs.family) for case, runs in cases.items()]
    right = passes(cases)
    longest = max(case.n for case in right)
    lengths = [k for k in LENGTHS if k <= longest]
    found = [passk.every_repeat("pass^k", clean)]
    for name, figures in (("passes k times in a row", right), ("no violation k times in a row", clean)):
        found += [passk.k_in_a_row(name, figures, k) for k in lengths]
    return [_pass_hat_k(arm, group, one) for one in found]


def _pass_hat_k(arm: str, group: Group, found: passk.PassK) -> PassHatK:
    return PassHatK(
        arm=arm,
        agent=group.agent,
        model=group.model,
        name=found.name,
        k=found.k,
        cases=found.cases,
        given=found.given,
        fewest_runs=found.fewest_runs,
        most_runs=found.most_runs,
        value=found.value,
        **limit_fields(found.interval, found.families, "families"),
    )


def _fidelity(arm: str, group: Group, cases: Mapping[str, Runs], skill: str) -> Fidelity:
    with_it = {case: Runs(run for run in runs if loaded(run, skill)) for case, runs in cases.items()}
    by_case = [RunCounts(case, runs.tally.passed, runs.tally.scored, cases[case].family) for case, runs in with_it.items()]
    total = added(runs.tally for runs in with_it.values())
    return Fidelity(
        arm=arm,
        agent=group.agent,
        model=group.model,
        runs=sum(map(len, cases.values())),
        loaded=total.runs,
        passed=total.passed,
        scored=total.scored,
        undecided=total.undecided,
        these_cases=of_estimate(rate_these_cases(by_case), "effective runs"),
        new_cases=of_estimate(rate_new_cases(by_case), "families"),
    )
