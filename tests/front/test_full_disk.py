"""Results that can't be written: the run counts as lost by the harness, what was recorded stays, and nobody sees a traceback."""

from __future__ import annotations

import json


def test_a_run_that_cannot_be_recorded(project):
    """A disk that is full while a run is recorded: ERROR with blame harness and the mend, the other runs are measured, 1."""
    project.spec()
    project.behaves({"one.with.scripted.default.r1": "full"})
    result = project.evaluate()
    assert result.ret == 1
    assert project.last_line(result).startswith("Exit 1: 1 of 8 runs could not be measured (harness 1)")
    result.stdout.fnmatch_lines(["not measured (error, blame harness): can't write to *No space left on device*--skill-results*"])
    result.stdout.no_fnmatch_line("*Traceback*")


def test_a_report_that_cannot_be_written(project):
    """A report that can't be written: 1, the last line says why and how to get it, and every run is kept."""
    project.spec()
    project.conftest(
        """
        def pytest_skilleval_begin(folders):
            for folder in folders.values():
                (folder / "report.html").mkdir()
        """
    )
    result = project.evaluate()
    assert result.ret == 1
    assert project.last_line(result).startswith("Exit 1: the report can't be written (Is a directory)")
    assert f"skilleval report {project.results()}" in project.last_line(result)
    result.stdout.no_fnmatch_line("*Traceback*")
    assert len(list(project.results().glob("runs/*/run.json"))) == 8


def test_results_that_cannot_be_begun(project):
    """A results folder that takes nothing once the selection is known: 4 with the mend before any run, nothing left there."""
    project.spec()
    project.conftest(
        """
        def pytest_collection_modifyitems():
            import errno
            import pytest_skilleval.session.evaluation as evaluation

            def full(where):
                raise OSError(errno.ENOSPC, "No space left on device")

            evaluation.provenance_of = full
        """
    )
    result = project.evaluate(apart=True)
    assert result.ret == 4
    assert "--skill-results: can't write to" in result.stderr.str()
    assert "Traceback" not in result.stderr.str() + result.stdout.str()
    assert not project.diary()
    assert not list((project.path / "skill-results").iterdir())


def test_the_record_says_who_is_to_blame(project):
    """Where the loss itself can be recorded, run.json holds it: error, harness, and why."""
    project.spec()
    project.behaves({"one.with.scripted.default.r1": "full"})
    project.evaluate()
    record = json.loads((project.results() / "runs/one.with.scripted.default.r1/run.json").read_text())
    assert (record["status"], record["blame"]) == ("error", "harness")
    assert "No space left on device" in record["detail"]
