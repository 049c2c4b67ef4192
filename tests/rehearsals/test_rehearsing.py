"""Rehearsals planned, and judged: the kill matrix, and what is not proven."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from pytest_skilleval.core.errors import UsageProblem
from pytest_skilleval.core.evidence import CheckResult, CheckVerdict, RunScore, Verdict
from pytest_skilleval.core.loaded import LoadedSpec
from pytest_skilleval.core.loading import load_spec
from pytest_skilleval.core.plan import Row
from pytest_skilleval.core.planning import Request, make_plan
from pytest_skilleval.core.record import MeasuredRun, RunRecord
from pytest_skilleval.core.rehearsing import Generated, Proof, proof_of
from pytest_skilleval.report.rehearsals import matrix_lines, proof_markdown

CASE = "out-one-service"
SPEC = Path(__file__).parents[2] / "specs" / "docker-compose-patterns" / "spec.yaml"


@pytest.fixture(scope="module")
def loaded() -> LoadedSpec:
    """A spec of this repository."""
    return load_spec(SPEC)


def played(loaded: LoadedSpec, rehearsal: str, verdict: Verdict | None, *tripped: str) -> MeasuredRun:
    """A recorded rehearsal of the case in which these checks tripped and the others held; without a verdict it was lost."""
    [row, *_] = rows(loaded, Request(rehearse=True, generated=None, cases=(CASE,)), rehearsal)
    record = RunRecord(row=row, status="scored" if verdict else "error", blame=None if verdict else "sandbox", detail="no room")
    if verdict is None:
        return MeasuredRun(row=row, record=record)

    def said(check: str) -> CheckVerdict:
        return "violated" if check in tripped else "held"

    checks = tuple(
        CheckResult(id=check.id, kind=check.kind, polarity="must", turn=None, verdict=said(check.id))
        for check in loaded.spec.case(CASE).checks
    )
    return MeasuredRun(row=row, record=record, score=RunScore(verdict=verdict, reason="so it is", checks=checks))


def rows(loaded: LoadedSpec, request: Request, *rehearsals: str) -> list[Row]:
    """The planned rows of some rehearsals, or of all."""
    return [row for row in make_plan([loaded], request).rows if not rehearsals or row.rehearsal in rehearsals]


def as_written(loaded: LoadedSpec) -> list[MeasuredRun]:
    """All written rehearsals of the case, each as it should go."""
    return [
        played(loaded, "acts", "pass"),
        played(loaded, "asks-first", "pass"),
        played(loaded, "takes-all", "fail", "only-cache", "api-runs", "others-touched"),
        played(loaded, "stops-instead", "fail", "only-cache"),
    ]


def test_everything_as_written_is_a_proof(loaded: LoadedSpec) -> None:
    """The matrix says of each check how often it held and what tripped it, and nothing is missing."""
    proof = proof_of(loaded, as_written(loaded))
    assert proof.problems == ()
    matrix = {row.check: (row.held, row.tripped_by) for row in proof.checks}
    assert matrix == {
        "only-cache": (2, ("stops-instead", "takes-all")),
        "api-runs": (3, ("takes-all",)),
        "others-touched": (3, ("takes-all",)),
    }
    assert "  others-touched  held 3, tripped by takes-all" in list(matrix_lines(proof))


def test_both_sides_of_a_difference_are_named(loaded: LoadedSpec) -> None:
    """A verdict or a trip that is not as written is told with what was written and what came, at the line of its case."""
    runs = [*as_written(loaded)[:2], played(loaded, "takes-all", "pass"), played(loaded, "stops-instead", "fail", "only-cache", "api-runs")]
    place = f"spec.yaml:{loaded.case_lines[CASE]}: {CASE}"
    [verdict, trips, unproven] = proof_of(loaded, runs).problems
    assert verdict.endswith(f"{place}/takes-all: the verdict is pass, expected fail (so it is)")
    written = "only-cache, api-runs, others-touched"
    assert trips.endswith(f"{place}/takes-all: does not trip {written}; written to trip {written}, trips nothing")
    assert unproven.endswith(f"{place}: no rehearsal trips others-touched")


def test_a_check_that_nothing_tripped_is_told_in_words_no_id_can_have(loaded: LoadedSpec) -> None:
    """An id is one word, and a rehearsal may be called `nothing`."""
    proof = proof_of(loaded, as_written(loaded)[:2])
    assert "  others-touched  held 2, never tripped" in list(matrix_lines(proof))
    assert "| others-touched | state | 2 | never tripped | 0 | 0 |" in proof_markdown(proof)


def test_a_check_that_no_right_way_holds_proves_nothing(loaded: LoadedSpec) -> None:
    """That a check holds where a wrong way is played is no proof that anybody can satisfy it; nor is a generated right way."""
    every = ("only-cache", "api-runs", "others-touched")
    wrong = [played(loaded, "takes-all", "fail", *every), played(loaded, "stops-instead", "fail", "only-cache")]
    proof = proof_of(loaded, [*wrong, played(loaded, "gen-right-acts-bash", "pass")])
    assert [problem.split(": ")[-1] for problem in proof.problems] == [
        f"no right way (a rehearsal that passes) holds {check}" for check in every
    ]
    assert [(row.held, row.held_right) for row in proof.checks] == [(1, 0), (2, 0), (2, 0)]


def test_a_generated_rehearsal_trips_but_does_not_prove(loaded: LoadedSpec) -> None:
    """Generated ones are counted apart: a check needs a written rehearsal that trips it."""
    wrong = played(loaded, "gen-remove-container-inventory-api-1-docker", "fail", "only-cache", "api-runs", "others-touched")
    missed = played(loaded, "gen-stop-container-inventory-db-1-curl", "pass")
    right, condemned = (played(loaded, f"gen-right-acts-{how}", verdict) for how, verdict in (("bash", "pass"), ("sudo", "fail")))  # type: ignore[arg-type]
    proof = proof_of(loaded, [*as_written(loaded), wrong, missed, right, condemned])
    assert proof.generated == Generated(misbehaviours=2, caught=1, right_ways=2, passed=1)
    assert [problem.split("/")[-1].split(":")[0] for problem in proof.problems] == [missed.row.rehearsal, condemned.row.rehearsal]
    assert list(matrix_lines(proof))[-2:] == [
        "Generated misbehaviours: 1 of 2 caught (50.0%).",
        "Generated right ways: 1 of 2 passed, 1 false alarms.",
    ]
    assert {row.tripped_by_generated for row in proof.checks} == {1}
    alone = proof_of(loaded, [as_written(loaded)[0], wrong])
    assert f"no rehearsal trips {proof.checks[0].check}" in alone.problems[0]


def test_a_lost_rehearsal_is_a_problem_and_no_figure(loaded: LoadedSpec) -> None:
    """What could not be measured is told with its blame, and is neither caught nor missed."""
    proof = proof_of(loaded, [*as_written(loaded), played(loaded, "gen-right-acts-bash", None)])
    [problem] = proof.problems
    assert problem.endswith("gen-right-acts-bash: not measured (sandbox: no room)")
    assert proof.generated == Generated()


def test_cases_of_which_something_was_left_out_owe_no_proof(loaded: LoadedSpec) -> None:
    """Selecting single rehearsals is no fault of the spec; the proof says that it is partial."""
    proof = proof_of(loaded, as_written(loaded)[:1], frozenset({CASE}))
    assert (proof.partial, proof.problems) == (True, ())


def test_a_proof_survives_the_disk_and_says_that_it_is_simulated(loaded: LoadedSpec) -> None:
    """rehearsal.json reads back as it was, and the Markdown has a row for each check."""
    proof = proof_of(loaded, as_written(loaded))
    assert msgspec.json.decode(msgspec.json.encode(proof), type=Proof) == proof
    page = proof_markdown(proof)
    assert page.count(f"| {CASE} |") == len(proof.checks)
    assert "Simulated" in page


def test_real_clis_rehearse_with_the_scripted_model(loaded: LoadedSpec) -> None:
    """Each rehearsal is planned for each agent that is named; a live model plays no script and is refused."""
    request = Request(rehearse=True, cases=(CASE,), agents=("claude-code", "codex"), models=("scripted",))
    planned = {(row.agent, row.model, row.rehearsal) for row in rows(loaded, request)}
    written = [one.id for one in loaded.spec.case(CASE).rehearsals]
    assert planned == {(agent, "scripted", one) for agent in ("claude-code", "codex") for one in written}
    with pytest.raises(UsageProblem, match="add --skill-model=scripted"):
        make_plan([loaded], with_own_models(request))


def with_own_models(request: Request) -> Request:
    """The same request with the CLIs' own models."""
    from dataclasses import replace

    return replace(request, models=())


def test_generated_ones_are_planned_beside_the_written(loaded: LoadedSpec) -> None:
    """So many a case, with run ids that are folder names; none without the option."""
    few = rows(loaded, Request(rehearse=True, cases=(CASE,), generated=3))
    none = rows(loaded, Request(rehearse=True, cases=(CASE,)))
    assert len(few) == len(none) + 3
    assert all(set(row.run_id) <= set("abcdefghijklmnopqrstuvwxyz0123456789-._") for row in few)
    assert len({row.label for row in few}) == len(few)
