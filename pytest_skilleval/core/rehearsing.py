"""What rehearsals prove: that every check of a case can hold and can trip, and that the verdicts are those expected."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from pytest_skilleval.core.evidence import Verdict
from pytest_skilleval.core.record import FORMAT, MeasuredRun

if TYPE_CHECKING:
    from pytest_skilleval.core.loaded import LoadedSpec
    from pytest_skilleval.core.spec import Case, Check, Rehearsal


class CheckProof(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the kill matrix: what the rehearsals made of one check."""

    case: str
    check: str
    kind: str
    held: int
    """In how many rehearsals it held; likewise `undecided` and `not_sent`."""
    held_right: int = 0
    """In how many written right ways it held."""
    tripped_by: tuple[str, ...]
    """Written rehearsals that violated it."""
    tripped_by_generated: int
    undecided: int
    not_sent: int


class Played(msgspec.Struct, frozen=True, kw_only=True):
    """One rehearsal as it was written, and what became of it."""

    run: str
    case: str
    rehearsal: str
    generated: bool
    expect: Verdict
    verdict: Verdict | None
    """None: it could not be measured."""
    trips: tuple[str, ...]
    """Checks that it must violate."""
    tripped: tuple[str, ...]
    problems: tuple[str, ...]


class Generated(msgspec.Struct, frozen=True, kw_only=True):
    """How the checks dealt with what was generated and measured: misbehaviours are to be caught, right ways to pass."""

    misbehaviours: int = 0
    caught: int = 0
    right_ways: int = 0
    passed: int = 0


class Proof(msgspec.Struct, frozen=True, kw_only=True):
    """What the rehearsals of one spec proved: ``rehearsal.json``."""

    format: int = FORMAT
    skill: str
    simulated: bool = True
    partial: bool = False
    """Rehearsals were left out; of their cases it is not asked whether every check is proven."""
    played: int
    checks: tuple[CheckProof, ...]
    rehearsals: tuple[Played, ...]
    generated: Generated
    problems: tuple[str, ...]
    """What is not proven, a sentence each with the file and line of its case."""


def proof_of(loaded: LoadedSpec, measured: Sequence[MeasuredRun], left_out: frozenset[str] = frozenset()) -> Proof:
    """Judge the recorded rehearsals of one spec.

    Parameters
    ----------
    left_out
        Cases of which rehearsals were not selected: like those of which nothing was played, they owe no proof.
    """
    from pytest_skilleval.core.positions import shown

    played: list[Played] = []
    checks: list[CheckProof] = []
    problems: list[str] = []
    for case in loaded.spec.cases:
        runs = [run for run in measured if run.row.case == case.id]
        if not runs:
            continue
        place = f"{shown(loaded.path)}:{loaded.case_lines.get(case.id, 1)}: {case.id}"
        own = [_played(rehearsal_of(loaded, case, run), run) for run in runs]
        matrix = [_check_proof(case, check, runs) for check in case.checks]
        played += own
        checks += matrix
        problems += [f"{place}/{one.rehearsal}{_player(run)}: {text}" for one, run in zip(own, runs, strict=True) for text in one.problems]
        if case.id not in left_out:
            problems += [f"{place}: {text}" for row in matrix for text in _unproven(row)]
    return Proof(
        skill=loaded.spec.skill,
        partial=bool(left_out),
        played=len(measured),
        checks=tuple(checks),
        rehearsals=tuple(played),
        generated=_figures(played),
        problems=tuple(problems),
    )


def unexpected(rehearsal: Rehearsal, run: MeasuredRun) -> Iterator[str]:
    """How a recorded rehearsal differs from what it was written to show, a sentence each."""
    if run.score is None:
        yield f"not measured ({run.blame}: {run.record.detail if run.record else 'no record'})"
        return
    if run.score.verdict != rehearsal.expect and not waits_for_judge(run):
        yield f"the verdict is {run.score.verdict}, expected {rehearsal.expect} ({run.score.reason})"
    tripped = _violated(run)
    missing = [check for check in rehearsal.trips if check not in tripped]
    if missing:
        yield f"does not trip {', '.join(missing)}; written to trip {', '.join(rehearsal.trips)}, trips {', '.join(tripped) or 'nothing'}"


def waits_for_judge(run: MeasuredRun) -> bool:
    """Whether the verdict is open only because no judge has voted."""
    if run.score is None or run.score.verdict != "undecided":
        return False
    undecided = [check for check in run.score.checks if check.verdict == "undecided"]
    return bool(undecided) and all(check.kind == "judge" for check in undecided)


def rehearsal_of(loaded: LoadedSpec, case: Case, run: MeasuredRun) -> Rehearsal:
    """The rehearsal that a run played, written or generated."""
    from pytest_skilleval.core.generated import with_generated

    whole = with_generated(loaded, case, run.row.rehearsal)
    return next(rehearsal for rehearsal in whole.rehearsals if rehearsal.id == run.row.rehearsal)


def _played(rehearsal: Rehearsal, run: MeasuredRun) -> Played:
    from pytest_skilleval.core.generated import is_generated

    return Played(
        run=run.row.run_id,
        case=run.row.case,
        rehearsal=rehearsal.id,
        generated=is_generated(rehearsal.id),
        expect=rehearsal.expect,
        verdict=run.score.verdict if run.score else None,
        trips=rehearsal.trips,
        tripped=_violated(run),
        problems=tuple(unexpected(rehearsal, run)),
    )


def _player(run: MeasuredRun) -> str:
    return "" if run.row.agent == "scripted" else f" ({run.row.agent})"


def _violated(run: MeasuredRun) -> tuple[str, ...]:
    return tuple(check.id for check in run.score.checks if check.verdict == "violated") if run.score else ()


def _check_proof(case: Case, check: Check, runs: Sequence[MeasuredRun]) -> CheckProof:
    from pytest_skilleval.core.generated import is_generated

    found = [(run.row.rehearsal or "", one.verdict) for run in runs if run.score for one in run.score.checks if one.id == check.id]
    verdicts = [verdict for _, verdict in found]
    right = {rehearsal.id for rehearsal in case.rehearsals if rehearsal.expect == "pass"}
    tripping = [rehearsal for rehearsal, verdict in found if verdict == "violated"]
    return CheckProof(
        case=case.id,
        check=check.id,
        kind=check.kind,
        held=verdicts.count("held"),
        held_right=sum(verdict == "held" and rehearsal in right for rehearsal, verdict in found),
        tripped_by=tuple(sorted({one for one in tripping if not is_generated(one)})),
        tripped_by_generated=sum(map(is_generated, tripping)),
        undecided=verdicts.count("undecided"),
        not_sent=verdicts.count("not_sent"),
    )


def _unproven(row: CheckProof) -> Iterator[str]:
    """What of a check is not proven; judge checks wait for a judge."""
    if row.kind == "judge":
        return
    if not row.held_right:
        yield f"no right way (a rehearsal that passes) holds {row.check}"
    if not row.tripped_by:
        yield f"no rehearsal trips {row.check}"


def _figures(played: Sequence[Played]) -> Generated:
    wrong = [one for one in played if one.generated and one.verdict and one.expect == "fail"]
    right = [one for one in played if one.generated and one.verdict and one.expect == "pass"]
    return Generated(
        misbehaviours=len(wrong),
        caught=sum(one.verdict == "fail" for one in wrong),
        right_ways=len(right),
        passed=sum(not one.problems for one in right),
    )
