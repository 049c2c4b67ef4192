"""The end of an evaluation: recorded runs -> reports, and the exit code with its reason."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec
import pytest

from pytest_skilleval.archive import Archive
from pytest_skilleval.core.atomic import write_atomically
from pytest_skilleval.core.rehearsing import Proof, proof_of
from pytest_skilleval.report.files import write
from pytest_skilleval.report.rehearsals import proof_markdown
from pytest_skilleval.rescoring import measure, report_on

if TYPE_CHECKING:
    from pytest_skilleval.report.values import Report
    from pytest_skilleval.session.evaluation import Evaluation

OK, FAILED, INTERRUPTED, INTERNAL, USAGE, NOTHING = (
    int(code)
    for code in (
        pytest.ExitCode.OK,
        pytest.ExitCode.TESTS_FAILED,
        pytest.ExitCode.INTERRUPTED,
        pytest.ExitCode.INTERNAL_ERROR,
        pytest.ExitCode.USAGE_ERROR,
        pytest.ExitCode.NO_TESTS_COLLECTED,
    )
)
UNDECIDED = 6


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What the terminal shows at the end, and the process' exit code."""

    code: int
    reason: str
    reports: tuple[Report, ...] = ()
    proofs: tuple[Proof, ...] = ()


def conclude(evaluation: Evaluation, status: int, *, stopped_early: bool) -> Conclusion:
    """Score everything recorded, write the reports, decide the exit code.

    Parameters
    ----------
    status
        pytest's own exit code.
    stopped_early
        pytest did not run all it had selected.
    """
    stop = evaluation.control.stopped()
    if stop or stopped_early or status == INTERRUPTED:
        reason = stop.reason if stop else "the session was stopped early (-x or --maxfail)"
        evaluation.leave_out(_never_made(evaluation), f"not reached: {reason}")
    own = _own_ending(status, stop.reason if stop else "")
    if evaluation.plan.rehearsal:
        proofs = tuple(_proof(evaluation, skill, archive) for skill, archive in evaluation.archives.items())
        code, why = own or _proven(proofs)
        return Conclusion(code, why, proofs=proofs)
    reports = tuple(_report(evaluation, skill, archive) for skill, archive in evaluation.archives.items())
    code, why = own or _together(reports, status)
    if own or len(reports) == 1:
        reports = tuple(msgspec.structs.replace(report, exit_code=code, exit_reason=why) for report in reports)
    return Conclusion(code, why, reports=reports)


def _never_made(evaluation: Evaluation) -> set[tuple[str, str]]:
    """Selected rows that left no record."""
    recorded = {(skill, run_id) for skill, archive in evaluation.archives.items() for run_id in archive.records()[0]}
    return {row.key for row in evaluation.plan.selected} - recorded


def _report(evaluation: Evaluation, skill: str, archive: Archive) -> Report:
    """Score and report one results folder, just as it can be done again later."""
    settings = evaluation.settings
    report = report_on(archive, loaded=evaluation.spec(skill), strict=settings.strict, gate=settings.gate)
    write(archive.folder, report, datetime.now(UTC).isoformat(timespec="seconds"))
    return report


def _proof(evaluation: Evaluation, skill: str, archive: Archive) -> Proof:
    loaded = evaluation.spec(skill)
    rows = evaluation.plan.of(skill).rows
    measured, _ = measure(archive, loaded, rows)
    proof = proof_of(loaded, measured, frozenset(row.case for row in rows if not row.selected))
    archive.write("rehearsal.json", proof)
    write_atomically(archive.folder / "rehearsal.md", proof_markdown(proof).encode())
    return proof


def _own_ending(status: int, stop: str) -> tuple[int, str] | None:
    """Endings that the results don't decide."""
    if status == INTERRUPTED:
        return status, f"interrupted ({stop or 'by pytest'}); the runs recorded until then are kept"
    if status == INTERNAL:
        return status, "an internal error, see above; the runs recorded until then are kept"
    if status == USAGE:
        return status, "the evaluation can't be carried out as asked, see above"
    if status == NOTHING:
        return status, "nothing was selected"
    return None


def _together(reports: tuple[Report, ...], status: int) -> tuple[int, str]:
    """The session's exit code from those of its reports."""
    for code in (FAILED, UNDECIDED):
        found = [report for report in reports if report.exit_code == code]
        if found:
            return code, "; ".join(_named(report, reports) for report in found)
    if status != OK:
        return FAILED, "a test or a fixture of this project failed, see above"
    return OK, "; ".join(_named(report, reports) for report in reports)


def _named(report: Report, reports: tuple[Report, ...]) -> str:
    return report.exit_reason if len(reports) == 1 else f"{report.document.skill}: {report.exit_reason}"


def _proven(proofs: tuple[Proof, ...]) -> tuple[int, str]:
    problems = [problem for proof in proofs for problem in proof.problems]
    if problems:
        return FAILED, f"{len(problems)} things that rehearsals should prove are not proven, see above"
    played = sum(proof.played for proof in proofs)
    proven = "rehearsals were left out, so it is not asked whether every check is proven" if any(proof.partial for proof in proofs) else ""
    return OK, f"{played} rehearsals went as written; {proven or 'every check can hold and can trip (judge checks aside)'}"
