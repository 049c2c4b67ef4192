"""The fixtures of a run: a ladder of small ones, each of which a project's conftest.py can override.

``skill_record`` makes the run, closes its sandbox and records it; ``skill_measured`` scores what was recorded; the item's
body (:mod:`pytest_skilleval.session.outcomes`) only says what the score means for pytest.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_skilleval.session import EVALUATION
from pytest_skilleval.session.outcomes import PROPERTY, Recorder, summary

if TYPE_CHECKING:
    from pytest_skilleval.archive import Archive
    from pytest_skilleval.core.loaded import LoadedSpec
    from pytest_skilleval.core.plan import Row
    from pytest_skilleval.core.ports import Agent, Backend
    from pytest_skilleval.core.record import MeasuredRun, RunRecord
    from pytest_skilleval.core.spec import Case, Rehearsal
    from pytest_skilleval.running import Job
    from pytest_skilleval.session.evaluation import Evaluation


class TeardownWarning(pytest.PytestWarning):
    """Something went wrong after a run was measured: its figures stand."""


@pytest.fixture(scope="session")
def skill_evaluation(request: pytest.FixtureRequest) -> Evaluation:
    """The evaluation of this session."""
    evaluation = request.config.stash.get(EVALUATION, None)
    if evaluation is None:
        pytest.fail("skill_ fixtures work in runs of a spec only, with --skill-eval", pytrace=False)
    return evaluation


@pytest.fixture
def skill_row() -> Row:
    """The row of the plan; every run of a spec is parametrised by its own."""
    pytest.fail("skill_row exists in runs of a spec only", pytrace=False)


@pytest.fixture
def skill_spec(skill_evaluation: Evaluation, skill_row: Row) -> LoadedSpec:
    """The spec, with every file that belongs to it."""
    return skill_evaluation.spec(skill_row.skill)


@pytest.fixture
def skill_case(skill_spec: LoadedSpec, skill_row: Row) -> Case:
    """The case, in the skin that its block drew."""
    from pytest_skilleval.rescoring import dressed_case

    return dressed_case(skill_spec, skill_row)


@pytest.fixture
def skill_archive(skill_evaluation: Evaluation, skill_row: Row) -> Archive:
    """The results folder of this session and spec."""
    return skill_evaluation.archive(skill_row.skill)


@pytest.fixture
def skill_agent(skill_row: Row) -> Agent:
    """The agent to be driven."""
    from pytest_skilleval.agents import agent

    return agent(skill_row.agent)


@pytest.fixture(scope="session")
def skill_backend(skill_evaluation: Evaluation) -> Backend:
    """What makes the sandboxes."""
    return skill_evaluation.backend


@pytest.fixture
def skill_strict(skill_evaluation: Evaluation, skill_spec: LoadedSpec, skill_row: Row) -> bool:
    """Whether this run fails when it does not meet its checks: treatment arms under --skill-strict."""
    return skill_evaluation.settings.strict and skill_spec.spec.arms[skill_row.arm].role == "treatment"


@pytest.fixture
def skill_rehearsal(skill_case: Case, skill_row: Row) -> Rehearsal | None:
    """The rehearsal that is played, in a session with --skill-rehearse."""
    return next((rehearsal for rehearsal in skill_case.rehearsals if rehearsal.id == skill_row.rehearsal), None)


@pytest.fixture(scope="session")
def skill_runner(skill_evaluation: Evaluation) -> Callable[[Job], RunRecord]:
    """What makes a run: the hook ``pytest_skilleval_runner``, else the plugin's own."""
    from pytest_skilleval.running import run_one

    config = skill_evaluation.config
    return config.hook.pytest_skilleval_runner(config=config) or run_one


@pytest.fixture
def skill_job(
    *,
    skill_evaluation: Evaluation,
    skill_row: Row,
    skill_spec: LoadedSpec,
    skill_case: Case,
    skill_archive: Archive,
    skill_agent: Agent,
    skill_backend: Backend,
) -> Job:
    """All that the runner needs to know."""
    from pytest_skilleval.running import Job

    return Job(
        row=skill_row,
        loaded=skill_spec,
        case=skill_case,
        archive=skill_archive,
        agent=skill_agent,
        backend=skill_backend,
        options=skill_evaluation.run_options,
        cancellation=skill_evaluation.cancellation,
        mask=skill_evaluation.mask(skill_row),
        gateway=skill_evaluation.gateway if skill_agent.api else None,
        rehearsal=skill_row.rehearsal,
    )


@pytest.fixture
def skill_note(request: pytest.FixtureRequest) -> Recorder:
    """Puts a run's summary into its reports (pytest's own `record_property` warns about today's junit format)."""
    properties = request.node.user_properties
    return lambda summary: properties.append((PROPERTY, dict(summary)))


@pytest.fixture
def skill_record(
    request: pytest.FixtureRequest,
    skill_note: Recorder,
    skill_evaluation: Evaluation,
    skill_job: Job,
    skill_runner: Callable[[Job], RunRecord],
) -> RunRecord:
    """The run: made, its sandbox closed and its record written before anything is scored. ERROR when it can't be measured."""
    from pytest_skilleval.core.record import MeasuredRun

    record = skill_evaluation.run(skill_job, skill_runner)
    if record is None:
        pytest.skip(f"not started: {skill_evaluation.why_not_started()}")
    for text in record.warnings:
        warn_about(request.node, text)
    if record.status != "scored":
        skill_note(summary(MeasuredRun(row=record.row, record=record)))
        pytest.fail(lost_text(record, skill_job.archive.run(record.row.run_id).path), pytrace=False)
    return record


@pytest.fixture
def skill_measured(skill_spec: LoadedSpec, skill_archive: Archive, skill_record: RunRecord) -> MeasuredRun:
    """The recorded run with its score, from the same function that scores it offline."""
    from pytest_skilleval.core.errors import ArchiveError
    from pytest_skilleval.rescoring import measure_one, recorded_prices

    try:
        prices = recorded_prices(skill_archive)
        return measure_one(skill_archive.run(skill_record.row.run_id), skill_spec, skill_record.row, skill_record, prices)
    except ArchiveError as error:
        pytest.fail(f"not measured (error, blame harness): {error}", pytrace=False)


def warn_about(item: pytest.Item, text: str) -> None:
    """Put a warning into pytest's summary, also where warnings are errors: the run was measured all the same."""
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        item.warn(TeardownWarning(text))


def lost_text(record: RunRecord, folder: Path) -> str:
    """Why a run could not be measured, for people."""
    kind = "void: the arm was not as declared" if record.status == "void" else f"not measured (error, blame {record.blame})"
    tries = f"\n  after {len(record.attempts) + 1} tries" if record.attempts else ""
    return f"{kind}: {record.detail}{tries}\n  run {record.row.run_id}\n  files {folder}"
