"""Counting: the runs of one report, ordered and grouped by kind, arm, agent, model and case."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from pytest_skilleval.core.evidence import RemovedObject, RunScore
from pytest_skilleval.core.harm import irreversible, weight
from pytest_skilleval.core.record import MeasuredRun
from pytest_skilleval.core.statistics.values import RunCounts


class Group(NamedTuple):
    """One agent with one model: never pooled with another."""

    agent: str
    model: str


class Tally(NamedTuple):
    """Runs of one case in one arm by what became of them."""

    passed: int
    failed: int
    undecided: int
    errors: int
    void: int

    @property
    def scored(self) -> int:
        """Runs with a verdict that is not undecided."""
        return self.passed + self.failed

    @property
    def lost(self) -> int:
        """Runs that could not be measured."""
        return self.errors + self.void

    @property
    def runs(self) -> int:
        """All runs."""
        return self.scored + self.undecided + self.lost


class Runs(tuple[MeasuredRun, ...]):  # noqa: SLOT001 (what is counted is kept beside the runs)
    """The runs of one case in one arm under one group; what several tables ask of them is counted once."""

    @cached_property
    def tally(self) -> Tally:
        """Outcomes."""
        return tally(self)

    @cached_property
    def decided(self) -> tuple[MeasuredRun, ...]:
        """Runs that passed or failed."""
        return tuple(filter(has_verdict, self))

    @cached_property
    def clean(self) -> int:
        """Runs that passed or failed and tripped no must-not check."""
        return sum(map(unviolated, self.decided))

    @cached_property
    def measured(self) -> tuple[MeasuredRun, ...]:
        """Runs that have a score, undecided ones too."""
        return tuple(run for run in self if run.score)

    @cached_property
    def scores(self) -> tuple[RunScore, ...]:
        """Of all runs that have one, undecided ones too."""
        return tuple(run.score for run in self if run.score)

    @cached_property
    def losses(self) -> tuple[tuple[str, ...], ...]:
        """For each score, the loss classes of what was destroyed or altered outside the request."""
        return tuple(tuple(one.loss for one in outside(score)) for score in self.scores)

    @cached_property
    def severity(self) -> Fraction | None:
        """Mean weight of the gravest loss of a score, 0 where nothing was lost; None without scores."""
        return sum((max(map(weight, lost)) for lost in self.losses if lost), _NO_LOSS) / len(self.scores) if self.scores else None

    @cached_property
    def irreversible(self) -> int:
        """Scores with a loss that can't be made good."""
        return sum(any(map(irreversible, lost)) for lost in self.losses)

    @cached_property
    def asked_first(self) -> int:
        """Scores of runs that asked before they acted."""
        return sum(score.asked_first for score in self.scores)

    @property
    def family(self) -> str | None:
        """The case's family."""
        return self[0].family

    @property
    def expects(self) -> str | None:
        """What the policy predicts for the case."""
        return self[0].expects


_NO_LOSS = Fraction(0)


@dataclass(frozen=True)
class Cells:
    """All selected runs in one fixed order, whatever order they came in."""

    runs: tuple[MeasuredRun, ...]
    arms: tuple[str, ...]
    """Arms that ran, in the order of the spec."""
    groups: tuple[Group, ...]
    _by_cell: dict[tuple[str, str, Group], dict[str, Runs]] = field(repr=False)

    @classmethod
    def of(cls, measured: Iterable[MeasuredRun], arms_in_order: Sequence[str]) -> Cells:
        """Sort and group; rows that were not selected are left out."""
        place = {arm: position for position, arm in enumerate(arms_in_order)}
        runs = sorted((run for run in measured if run.row.selected), key=lambda run: _order(run, place))
        cells: dict[tuple[str, str, Group], dict[str, list[MeasuredRun]]] = defaultdict(lambda: defaultdict(list))
        for run in runs:
            cells[run.row.kind, run.row.arm, Group(run.row.agent, run.row.model)][run.row.case].append(run)
        arms = sorted({run.row.arm for run in runs}, key=lambda arm: (place.get(arm, len(place)), arm))
        groups = sorted({Group(run.row.agent, run.row.model) for run in runs})
        return cls(tuple(runs), tuple(arms), tuple(groups), {key: _tied(cases) for key, cases in cells.items()})

    @cached_property
    def by_group(self) -> dict[Group, list[MeasuredRun]]:
        """All runs of each agent with each model, in order."""
        found: dict[Group, list[MeasuredRun]] = {group: [] for group in self.groups}
        for run in self.runs:
            found[Group(run.row.agent, run.row.model)].append(run)
        return found

    def cell(self, kind: str, arm: str, group: Group) -> dict[str, Runs]:
        """Runs by case; empty when there are none."""
        return self._by_cell.get((kind, arm, group), {})

    def cases_of(self, arm: str, group: Group, kinds: Sequence[str]) -> dict[str, Runs]:
        """Runs by case over some kinds in one arm."""
        return {case: runs for kind in kinds for case, runs in self.cell(kind, arm, group).items()}

    def runs_of(self, arm: str, group: Group, kinds: Sequence[str]) -> list[MeasuredRun]:
        """All runs of some kinds in one arm."""
        return [run for kind in kinds for runs in self.cell(kind, arm, group).values() for run in runs]

    def places(self, kind: str) -> list[tuple[str, Group]]:
        """Arms with groups in which this kind of case ran, in order."""
        return [(arm, group) for group in self.groups for arm in self.arms if (kind, arm, group) in self._by_cell]


def tally(runs: Sequence[MeasuredRun]) -> Tally:
    """Count runs by outcome."""
    found = Counter(map(_outcome, runs))
    return Tally(found["pass"], found["fail"], found["undecided"], found["error"], found["void"])


def added(tallies: Iterable[Tally]) -> Tally:
    """The sum of some tallies."""
    return Tally(*map(sum, zip((0, 0, 0, 0, 0), *tallies, strict=True)))


def verdict(run: MeasuredRun) -> str | None:
    """``pass | fail | undecided``; None for a run that could not be measured."""
    return run.score.verdict if run.status == "scored" and run.score else None


def has_verdict(run: MeasuredRun) -> bool:
    """Whether the run passed or failed."""
    return verdict(run) in ("pass", "fail")


def passed(run: MeasuredRun) -> bool:
    """Whether the run passed."""
    return verdict(run) == "pass"


def loaded(run: MeasuredRun, skill: str) -> bool:
    """Whether this skill was loaded in this run."""
    return run.score is not None and any(load.skill == skill for load in run.score.loaded)


def unviolated(run: MeasuredRun) -> bool:
    """Whether no must-not check tripped."""
    return run.score is not None and not any(check.polarity == "must_not" and check.verdict == "violated" for check in run.score.checks)


def outside(score: RunScore) -> list[RemovedObject]:
    """What this run destroyed or altered outside the request."""
    return [one for one in score.removed + score.altered if one.outside]


def passes(cases: Mapping[str, Runs]) -> list[RunCounts]:
    """Passes of the runs with a verdict, for every case."""
    return [RunCounts(case, runs.tally.passed, runs.tally.scored, runs.family) for case, runs in cases.items()]


def hits(cases: Mapping[str, Runs], hit: Callable[[Runs], int]) -> list[RunCounts]:
    """Runs that `hit` counts of all scored ones, for every case."""
    return [RunCounts(case, hit(runs), len(runs.scores), runs.family) for case, runs in cases.items()]


def _tied(cases: Mapping[str, Iterable[MeasuredRun]]) -> dict[str, Runs]:
    return {case: Runs(runs) for case, runs in cases.items()}


def _outcome(run: MeasuredRun) -> str:
    return verdict(run) or ("void" if run.status == "void" else "error")


def _order(run: MeasuredRun, place: dict[str, int]) -> tuple[str, int, str, str, str, int, str]:
    row = run.row
    return (row.case, place.get(row.arm, len(place)), row.arm, row.agent, row.model, row.repeat, row.run_id)
