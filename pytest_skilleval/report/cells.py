"""Counting: the runs of one report, ordered and grouped by kind, arm, agent, model and case."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pytest_skilleval.core.record import MeasuredRun
from pytest_skilleval.core.statistics.values import RunCounts

Runs = list[MeasuredRun]


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
        cells: dict[tuple[str, str, Group], dict[str, Runs]] = defaultdict(lambda: defaultdict(list))
        for run in runs:
            cells[run.row.kind, run.row.arm, Group(run.row.agent, run.row.model)][run.row.case].append(run)
        arms = sorted({run.row.arm for run in runs}, key=lambda arm: (place.get(arm, len(place)), arm))
        groups = sorted({Group(run.row.agent, run.row.model) for run in runs})
        return cls(tuple(runs), tuple(arms), tuple(groups), {key: dict(cases) for key, cases in cells.items()})

    def cell(self, kind: str, arm: str, group: Group) -> dict[str, Runs]:
        """Runs by case; empty when there are none."""
        return self._by_cell.get((kind, arm, group), {})

    def cases_of(self, arm: str, group: Group, kinds: Sequence[str]) -> dict[str, Runs]:
        """Runs by case over some kinds in one arm."""
        return {case: runs for kind in kinds for case, runs in self.cell(kind, arm, group).items()}

    def runs_of(self, arm: str, group: Group, kinds: Sequence[str]) -> Runs:
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


def counts(cases: Mapping[str, Runs], good: Callable[[MeasuredRun], bool], counted: Callable[[MeasuredRun], bool]) -> list[RunCounts]:
    """Good of counted runs for every case."""
    kept = {case: [run for run in runs if counted(run)] for case, runs in cases.items()}
    return [RunCounts(case, sum(map(good, kept[case])), len(kept[case]), runs[0].family) for case, runs in cases.items()]


def _outcome(run: MeasuredRun) -> str:
    return verdict(run) or ("void" if run.status == "void" else "error")


def _order(run: MeasuredRun, place: dict[str, int]) -> tuple[str, int, str, str, str, int, str]:
    row = run.row
    return (row.case, place.get(row.arm, len(place)), row.arm, row.agent, row.model, row.repeat, row.run_id)
