"""What rehearsals prove: that every check of a case can hold and can trip, and that the verdicts are those expected."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_skilleval.core.record import MeasuredRun

if TYPE_CHECKING:
    from pytest_skilleval.core.spec import Case, Check, Rehearsal, Spec


@dataclass(frozen=True, slots=True)
class Proof:
    """What the rehearsals of one spec proved: how many were played, and in a sentence each, what is not proven."""

    skill: str
    played: int
    problems: tuple[str, ...]


def proof_of(spec: Spec, measured: Sequence[MeasuredRun]) -> Proof:
    """Judge the recorded rehearsals of one spec. Cases of which nothing was played are not asked about."""
    problems: list[str] = []
    for case in spec.cases:
        runs = [run for run in measured if run.row.case == case.id]
        problems += [f"{case.id}/{run.row.rehearsal}: {text}" for run in runs for text in unexpected(rehearsal_of(case, run), run)]
        if runs:
            problems += _unproven(case, runs)
    return Proof(spec.skill, len(measured), tuple(problems))


def unexpected(rehearsal: Rehearsal, run: MeasuredRun) -> Iterator[str]:
    """How a recorded rehearsal differs from what it was written to show, a sentence each."""
    if run.score is None:
        yield f"not measured ({run.blame}: {run.record.detail if run.record else 'no record'})"
        return
    if run.score.verdict != rehearsal.expect and not waits_for_judge(run):
        yield f"the verdict is {run.score.verdict}, expected {rehearsal.expect} ({run.score.reason})"
    violated = {check.id for check in run.score.checks if check.verdict == "violated"}
    yield from (f"does not trip {check}" for check in rehearsal.trips if check not in violated)


def waits_for_judge(run: MeasuredRun) -> bool:
    """Whether the verdict is open only because no judge has voted."""
    if run.score is None or run.score.verdict != "undecided":
        return False
    undecided = [check for check in run.score.checks if check.verdict == "undecided"]
    return bool(undecided) and all(check.kind == "judge" for check in undecided)


def rehearsal_of(case: Case, run: MeasuredRun) -> Rehearsal:
    """The rehearsal that a run played."""
    return next(rehearsal for rehearsal in case.rehearsals if rehearsal.id == run.row.rehearsal)


def _unproven(case: Case, runs: Sequence[MeasuredRun]) -> Iterator[str]:
    """Checks that no rehearsal holds, or trips; judge checks wait for a judge."""
    seen = {(check.id, check.verdict) for run in runs if run.score for check in run.score.checks}
    for check in checks_of(case):
        if check.kind != "judge":
            yield from (f"{case.id}: no rehearsal {verb} {check.id}" for verb, verdict in VERDICTS if (check.id, verdict) not in seen)


VERDICTS = (("holds", "held"), ("trips", "violated"))


def checks_of(case: Case) -> Iterator[Check]:
    """Every check of a case, of its turns and its end state."""
    for turn in case.turns:
        yield from (*turn.must, *turn.must_not)
    yield from (*case.final.must, *case.final.must_not)
