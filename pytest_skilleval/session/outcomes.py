"""What a run's score means for pytest, and the summary of a run that travels in its reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pytest_skilleval.core.record import MeasuredRun
    from pytest_skilleval.core.spec import Rehearsal

PROPERTY = "skilleval"
"""Name of the user property that carries a run's summary: plain types, in every report and in junit XML."""

Recorder = Callable[[Mapping[str, Any]], None]


def assess(measured: MeasuredRun, note: Recorder, *, strict: bool, rehearsal: Rehearsal | None) -> None:
    """The body of every item: pass; "not met" (see `status`), or failed where `strict`; skipped when undecided.

    A rehearsal passes when it got the verdict that it is there to show.
    """
    __tracebackhide__ = True
    note(summary(measured))
    score = measured.score
    if score is None:
        pytest.fail("not measured: the run has no score", pytrace=False)
    if rehearsal is not None:
        _assess_rehearsal(measured, rehearsal)
    elif score.verdict == "undecided":
        pytest.skip(f"undecided: {score.reason}")
    elif score.verdict == "fail" and strict:
        pytest.fail(f"not met: {score.reason}", pytrace=False)


def _assess_rehearsal(measured: MeasuredRun, rehearsal: Rehearsal) -> None:
    """FAILED when the checks do not say of the rehearsal what it was written to show."""
    __tracebackhide__ = True
    from pytest_skilleval.core.rehearsing import unexpected, waits_for_judge

    problems = tuple(unexpected(rehearsal, measured))
    if problems:
        checks = measured.score.checks if measured.score else ()
        details = [f"  {check.id} ({check.polarity}): {check.verdict} {check.detail}".rstrip() for check in checks]
        pytest.fail("\n".join([f"rehearsal {rehearsal.id}: {'; '.join(problems)}", *details]), pytrace=False)
    if waits_for_judge(measured):
        pytest.skip("undecided: only a judge can decide this rehearsal")


def summary(measured: MeasuredRun) -> dict[str, Any]:
    """What became of a run, in plain types."""
    row, record, score = measured.row, measured.record, measured.score
    return {
        "run": row.run_id,
        "skill": row.skill,
        "case": row.case,
        "kind": row.kind,
        "arm": row.arm,
        "agent": row.agent,
        "model": row.model,
        "repeat": row.repeat,
        "rehearsal": row.rehearsal,
        "status": measured.status,
        "blame": measured.blame,
        "verdict": score.verdict if score else None,
        "reason": score.reason if score else record.detail if record else "",
        "cost_usd": measured.cost_usd,
        "seconds": measured.seconds,
        "simulated": record.simulated if record else None,
    }


def summary_in(properties: Iterable[tuple[str, object]]) -> Mapping[str, Any] | None:
    """The summary among a report's user properties; None: not a run, or not yet known."""
    return next((value for name, value in properties if name == PROPERTY and isinstance(value, Mapping)), None)


def status(report: pytest.TestReport | pytest.CollectReport) -> tuple[str, str, str | tuple[str, Mapping[str, bool]]] | None:
    """How a run's report is shown: "not met" in yellow for a measured fail, and an error for a worker that died."""
    if not isinstance(report, pytest.TestReport):
        return None
    if report.when not in ("setup", "call", "teardown") and report.failed:
        return "error", "E", "ERROR"
    found = summary_in(report.user_properties)
    if found and report.when == "call" and report.passed and found["verdict"] == "fail" and not found["rehearsal"]:
        return "not met", "n", ("NOT MET", {"yellow": True})
    return None
