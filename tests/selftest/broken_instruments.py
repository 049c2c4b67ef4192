"""Instruments with a fault of the kind that other tools have: the self-test must find each."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from pytest_skilleval.core.evidence import RunScore
from pytest_skilleval.core.record import MeasuredRun
from pytest_skilleval.core.statistics.verdict import Word
from pytest_skilleval.report.facts import SessionFacts, SpecFacts
from pytest_skilleval.report.values import Document, Effect
from pytest_skilleval.selftest.recording import instrument


def by_percentile_bootstrap(measured: Sequence[MeasuredRun], spec: SpecFacts, session: SessionFacts) -> Document:
    """Claims an effect for new cases whenever the percentile bootstrap over cases excludes 0."""
    document = instrument(measured, spec, session)
    return replace(document, effects=tuple(_bootstrapped(effect) for effect in document.effects))


def _bootstrapped(effect: Effect) -> Effect:
    limits = effect.bootstrap
    if limits.low is None or limits.high is None or limits.low <= 0 <= limits.high:
        return effect
    direction = "better" if (effect.difference or 0) > 0 else "worse"
    return replace(effect, verdict=str(Word.SHOWN), direction=direction, holm_p=1.0)


def lost_runs_fail(measured: Sequence[MeasuredRun], spec: SpecFacts, session: SessionFacts) -> Document:
    """Counts a run that could not be measured as a failure of the agent."""
    return instrument([_failed(run) for run in measured], spec, session)


def _failed(run: MeasuredRun) -> MeasuredRun:
    if run.status == "scored" or run.record is None:
        return run
    return replace(run, record=replace(run.record, status="scored", blame=None), score=RunScore(verdict="fail", reason="no output"))


def families_ignored(measured: Sequence[MeasuredRun], spec: SpecFacts, session: SessionFacts) -> Document:
    """Takes every paraphrase for a case of its own."""
    return instrument([replace(run, family=None) for run in measured], spec, session)


def optimistic(measured: Sequence[MeasuredRun], spec: SpecFacts, session: SessionFacts) -> Document:
    """Lets every fourth repeat of a failed run with the skill pass: a bias that no interval shows."""
    return instrument([_rescued(run) if run.row.arm == "with" and run.row.repeat == 1 else run for run in measured], spec, session)


def _rescued(run: MeasuredRun) -> MeasuredRun:
    return run if run.score is None else replace(run, score=replace(run.score, verdict="pass"))
