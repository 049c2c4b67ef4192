"""Run 0 and arm equality with the real CLIs against the scripted model: a wrong set-up ends the session before its first run."""

from __future__ import annotations

import pytest
from acceptance_project import Project

from pytest_skilleval.agents import agent
from pytest_skilleval.core.errors import UsageProblem

pytestmark = pytest.mark.engine
both = pytest.mark.parametrize("name", ["claude-code", "codex"])

FLAG = """
import dataclasses
from pytest_skilleval.agents.{module} import {kind} as Kind

Kind.command_as_it_is = Kind.command
Kind.command = lambda self, turn: (
    lambda made: dataclasses.replace(made, argv=(*made.argv, "--no-such-flag"))
)(self.command_as_it_is(turn))
"""
KINDS = {"claude-code": ("claude_code", "ClaudeCode"), "codex": ("codex", "Codex")}


def require(name: str) -> None:
    """The real CLI is here, else a skip."""
    try:
        agent(name).host_program()
    except UsageProblem as problem:
        pytest.skip(str(problem))


@both
def test_arms_are_shown_as_declared_before_and_in_the_runs(project: Project, name: str) -> None:
    """Run 0 says in one line that both arms show what they declare; the runs' first requests then differ by the declared bytes only."""
    require(name)

    done = project.run("--skill-model=scripted", "--skill-case=tidy", agent=name)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "run 0: 2 arms x 1 agent shown what they declare, " in done.stdout
    told = [run["status"] for run in project.report()["runs"]]
    assert told == ["scored", "scored"]
    assert project.report()["provenance"]["shared"]["first_request"] == "differs in its block by the declared bytes only"
    assert project.left() == []


@both
def test_a_flag_that_the_version_does_not_know_ends_the_session_at_run_zero(project: Project, name: str) -> None:
    """Exit 4 before any run: CLI, version and flag are named, no results are left, no sandbox."""
    require(name)
    conftest = project.folder / "conftest.py"
    module, kind = KINDS[name]
    conftest.write_text(conftest.read_text() + FLAG.format(module=module, kind=kind))

    done = project.run("--skill-model=scripted", "--skill-case=tidy", "--skill-arms=with", agent=name)

    told = done.stdout + done.stderr
    assert done.returncode == 4, told
    assert "run 0: 1 of 1 set-ups can't be measured" in told
    assert f"arm with, {name} with scripted" in told
    assert "does not know --no-such-flag" in told
    assert list(project.results.iterdir()) == []
    assert project.left() == []
