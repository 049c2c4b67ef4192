"""Workers: what happens to a run whose worker dies."""

from __future__ import annotations

import json


def test_a_worker_that_dies_costs_one_run(project):
    """The run of a dead worker is an error with blame harness, shown as such and recorded; the rest goes on."""
    project.spec()
    project.behaves({"one.with.*.r1": "crash"})
    result = project.evaluate("-n", "2", "--skill-repeats=1", apart=True)
    assert result.ret == 1
    result.assert_outcomes(passed=3, errors=1)
    record = json.loads((project.results() / "runs/one.with.scripted.default.r1/run.json").read_text())
    assert (record["status"], record["blame"]) == ("error", "harness")
    assert "crashed while running" in record["detail"]
    assert project.last_line(result).startswith("Exit 1: 1 of 4 runs could not be measured (harness 1)")


def test_a_record_survives_the_death_of_its_worker(project):
    """A worker that dies after its run was recorded loses nothing: the record stands."""
    project.spec()
    project.conftest(
        """
        import pytest

        @pytest.fixture
        def skill_measured(skill_row, skill_record):
            if skill_row.run_id == "one.with.scripted.default.r1":
                os._exit(70)
            raise AssertionError
        """
    )
    project.evaluate("-n", "1", "--skill-repeats=1", "--skill-case=one", "--skill-arms=with", apart=True)
    record = json.loads((project.results() / "runs/one.with.scripted.default.r1/run.json").read_text())
    assert record["status"] == "scored"
    assert json.loads((project.results() / "report.json").read_text())["runs"][0]["verdict"] == "pass"
