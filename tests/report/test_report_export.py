"""Reports in the layouts of other tools."""

from __future__ import annotations

import json
from typing import get_args

import msgspec
import pytest
import report_situations
from report_made import DATA_A, grid, session, spec

from pytest_skilleval.report.build import build
from pytest_skilleval.report.export import Dialect, export
from pytest_skilleval.report.values import BANNER


def loaded(files: dict[str, bytes], path: str) -> dict[str, object]:
    """One file of an export."""
    return json.loads(files[path])


def test_standard_layout() -> None:
    """The standard's layout has one eval per case and repeat, both configurations, grading, timing and benchmark."""
    files = export(build(grid(DATA_A), spec(), session()).document, "standard")
    assert len(files) == 48 * 2 + 1
    grading = loaded(files, "eval-case-01.claude-code-2/without_skill/grading.json")
    assert grading["summary"] == {"passed": 0, "failed": 1, "total": 1, "pass_rate": 0.0}
    assert grading["assertion_results"] == [{"text": "must_not swept (turn 1)", "passed": False, "evidence": ""}]
    assert loaded(files, "eval-case-01.claude-code-2/with_skill/timing.json") == {"total_tokens": 1100, "duration_ms": 40000}
    summary = loaded(files, "benchmark.json")["run_summary"]
    assert summary["with_skill"]["pass_rate"]["mean"] == 0.875
    assert summary["delta"]["pass_rate"] == 0.375


def test_skill_creator_layout() -> None:
    """The skill-creator layout has runs, expectations under its own key, and deltas as signed text."""
    files = export(build(grid(DATA_A), spec(), session()).document, "skill-creator")
    grading = loaded(files, "eval-case-01.claude-code/without_skill/run-2/grading.json")
    assert [one["passed"] for one in grading["expectations"]] == [False]
    benchmark = loaded(files, "benchmark.json")
    assert benchmark["run_summary"]["delta"] == {"pass_rate": "+0.38", "time_seconds": "+0.0", "tokens": "+0"}
    assert benchmark["metadata"]["runs_per_configuration"] == 3
    assert len(benchmark["runs"]) == 48
    assert {"eval_id", "eval_name", "configuration", "run_number", "result", "expectations", "notes"} == set(benchmark["runs"][0])


@pytest.mark.parametrize("dialect", get_args(Dialect))
def test_only_what_both_configurations_ran_is_compared(dialect: Dialect) -> None:
    """Trigger cases run only where the skill is installed: they are graded, and kept out of the means and their difference."""
    outcomes = build(grid(DATA_A), spec(), session()).document
    trigger = msgspec.structs.replace(
        next(run for run in outcomes.runs if run.arm == "with"), case="trig-01", kind="trigger", verdict="fail"
    )
    files = export(msgspec.structs.replace(outcomes, runs=(*outcomes.runs, trigger)), dialect)
    benchmark = loaded(files, "benchmark.json")
    assert benchmark["run_summary"] == loaded(export(outcomes, dialect), "benchmark.json")["run_summary"]
    assert any("/with_skill/" in path and "trig-01" in path for path in files)
    assert benchmark["notes"][-1] == "not in run_summary, because only one configuration has them: trig-01.claude-code"


@pytest.mark.parametrize("dialect", get_args(Dialect))
def test_lost_runs_are_noted_not_graded(dialect: Dialect) -> None:
    """A run without a verdict gets no grading; the notes name it with the reason."""
    document = report_situations.many_errors().document
    files = export(document, dialect)
    graded = [path for path in files if path.endswith("grading.json")]
    assert len(graded) == sum(run.verdict in ("pass", "fail") for run in document.runs)
    notes = loaded(files, "benchmark.json")["notes"]
    assert sum("not graded" in note for note in notes) == len(document.runs) - len(graded)


@pytest.mark.parametrize("dialect", get_args(Dialect))
def test_simulated_is_stamped(dialect: Dialect) -> None:
    """Exports of simulated results carry the banner."""
    assert BANNER in loaded(export(report_situations.simulated().document, dialect), "benchmark.json")["notes"]
