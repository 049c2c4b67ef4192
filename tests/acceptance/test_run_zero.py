"""Run 0 and arm equality with the real CLIs against the scripted model: a wrong set-up ends the session before its first run."""

from __future__ import annotations

import signal
import subprocess

import pytest
from acceptance_project import SKILL, Project, wait_for

from pytest_skilleval.core.arms import digest
from tests import required

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
PROGRAMS = {"claude-code": "claude", "codex": "codex"}
KINDS = {"claude-code": ("claude_code", "ClaudeCode"), "codex": ("codex", "Codex")}


@both
def test_arms_are_shown_as_declared_before_and_in_the_runs(project: Project, name: str) -> None:
    """Run 0 says in one line that both arms show what they declare; the runs' first requests then differ by the declared bytes only.

    The version is the one that each run's own record names: no run asks the CLI for it.
    """
    [folder] = required.program(name)
    told = subprocess.run([next(folder.rglob(PROGRAMS[name])), "--version"], capture_output=True, text=True, timeout=60, check=True)

    done = project.run("--skill-model=scripted", "--skill-case=tidy", agent=name)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "run 0: 2 arms x 1 agent shown what they declare, " in done.stdout
    assert [run["status"] for run in project.report()["runs"]] == ["scored", "scored"]
    shared = project.report()["provenance"]["shared"]
    assert shared["first_request"] == "differs in its block by the declared bytes only"
    assert shared["agent.version"] in told.stdout.split()
    assert project.left() == []


@both
def test_an_arm_of_an_earlier_revision_differs_by_that_skill_only(project: Project, name: str) -> None:
    """The arm shows the skill as it was committed, the other arms as it is now; all first requests differ by the declared bytes only."""
    required.program(name)
    skill = project.folder / "specs/catalogue" / SKILL / "SKILL.md"
    git = ("git", "-C", str(project.folder), "-c", "user.name=n", "-c", "user.email=n@example.org")
    for words in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "One."], ["tag", "one"]):
        subprocess.run([*git, *words], check=True, timeout=30)
    skill.write_text(f"---\nname: {SKILL}\ndescription: A later description.\n---\n# {SKILL}\n\nAsk twice.\n")
    project.edit(
        f"specs/{SKILL}/spec.yaml", "  with: {role: treatment}\n", "  with: {role: treatment}\n  old: {role: reference, revision: one}\n"
    )

    done = project.run("--skill-model=scripted", "--skill-case=tidy", "--skill-arms=without,with,old", agent=name)

    assert done.returncode == 0, done.stdout + done.stderr
    assert [run["status"] for run in project.report()["runs"]] == ["scored"] * 3
    assert project.report()["provenance"]["shared"]["first_request"] == "differs in its block by the declared bytes only"
    shown = {record["row"]["arm"]: record["provenance"]["arm.skill"] for record in project.records().values()}
    assert shown["without"] == "absent"
    assert len(set(shown.values())) == 3
    assert shown["with"] == digest(skill.read_bytes())
    assert project.left() == []


@both
def test_a_flag_that_the_version_does_not_know_ends_the_session_at_run_zero(project: Project, name: str) -> None:
    """Exit 4 before any run: CLI, version and flag are named, no results are left, no sandbox."""
    required.program(name)
    conftest = project.folder / "conftest.py"
    module, kind = KINDS[name]
    conftest.write_text(conftest.read_text() + FLAG.format(module=module, kind=kind))

    done = project.run("--skill-model=scripted", "--skill-case=tidy", "--skill-arms=with", agent=name)

    told = done.stdout + done.stderr
    assert done.returncode == 4, told
    assert "run 0: 1 of 1 set-ups can't be measured" in told
    assert f"arm with, {name} scripted, " in told
    assert "does not know --no-such-flag" in told
    assert list(project.results.iterdir()) == []
    assert project.left() == []


LOOSE = """
import dataclasses
from pytest_skilleval.agents.{module} import {kind} as Kind

Kind.files_as_they_are = Kind.files
Kind.files = lambda self, setup: tuple(
    dataclasses.replace(file, content=file.content.replace({tight!r}, {loose!r})) for file in self.files_as_they_are(setup)
)
"""
GUARDS = {"claude-code": (b'"permissions"', b'"permission"'), "codex": (b'decision="forbidden"', b'decision="allow"')}
"""What makes the guard hold, and what the CLI takes without a word and does not heed."""
GUARDED = """\
  with: {role: treatment}
  control: {role: reference, exclude: [careful-cleanup], guard: guard.yaml}
"""


@both
def test_a_guard_that_the_cli_does_not_heed_ends_the_session(project: Project, name: str) -> None:
    """Exit 4 before any run: the arm and what it does not deny are named, and how to go on; the arm without a guard is not blamed."""
    required.program(name)
    module, kind = KINDS[name]
    tight, loose = GUARDS[name]
    conftest = project.folder / "conftest.py"
    conftest.write_text(conftest.read_text() + LOOSE.format(module=module, kind=kind, tight=tight, loose=loose))
    project.edit(f"specs/{SKILL}/spec.yaml", "  with: {role: treatment}\n", GUARDED)
    (project.folder / "specs" / SKILL / "guard.yaml").write_text("deny: [docker system prune, docker volume prune]\n")

    done = project.run("--skill-model=scripted", "--skill-case=tidy", "--skill-arms=with,control", agent=name)

    told = stopped_at_run_zero(project, done, "1 of 2")
    assert f"arm control, {name} scripted, " in told
    assert "the guard does not hold: docker system prune, docker volume prune" in told


TEMPLATE = """
from pytest_skilleval.core.arms import tarball
from pytest_skilleval.core.ports import SandboxFile
from pytest_skilleval.sandboxes.engine.backend import EngineBackend

def with_more(self, request, as_it_is=EngineBackend.open):
    made = as_it_is(self, request)
    files = {files!r}
    made.put(tarball(SandboxFile(path=path, content=content.encode()) for path, content in files.items()), into="/", user="root")
    return made

EngineBackend.open = with_more
"""
SERVER = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    told = {}
    if asked.get("method") == "initialize":
        version = asked["params"]["protocolVersion"]
        told = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "t", "version": "1"}}
    elif asked.get("method") == "tools/list":
        told = {"tools": [{"name": "list_issues", "description": "List", "inputSchema": {"type": "object", "properties": {}}}]}
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": told}), flush=True)
"""
TRACKERS = {
    "claude-code": {"/workspace/.mcp.json": '{"mcpServers": {"tracker": {"command": "python3", "args": ["/opt/tracker.py"]}}}'},
    "codex": {"/etc/codex/config.toml": '[mcp_servers.tracker]\ncommand = "python3"\nargs = ["/opt/tracker.py"]\n'},
}
SAID = {"claude-code": "/workspace/.mcp.json should not be there", "codex": "/etc/codex/config.toml should not be there"}


@both
def test_an_mcp_server_of_the_sandbox_ends_the_session(project: Project, name: str) -> None:
    """Exit 4 before any run, where the sandbox' own files bring a server, whether the agent would heed or ignore them."""
    required.program(name)
    conftest = project.folder / "conftest.py"
    conftest.write_text(conftest.read_text() + TEMPLATE.format(files={"/opt/tracker.py": SERVER, **TRACKERS[name]}))

    done = project.run("--skill-model=scripted", "--skill-case=tidy", "--skill-arms=with", agent=name)

    assert SAID[name] in stopped_at_run_zero(project, done, "1 of 1")


REFUSED = {
    "claude-code": ("note: a---b\ndescription: All about it.", "Claude Code finds no description"),
    "codex": ("description: All about \x07 it.", "Codex refuses control characters"),
}
"""A front-matter that only this agent refuses, and why."""


@both
def test_a_skill_that_the_agent_would_not_list_ends_the_session(project: Project, name: str) -> None:
    """Exit 4 before run 0, and nothing is made: the skill is named, why this agent does not list it, and the mend."""
    required.program(name)
    front, why = REFUSED[name]
    (project.folder / "specs/catalogue/neighbour/SKILL.md").write_text(f"---\nname: neighbour\n{front}\n---\n# neighbour\n")

    done = project.run("--skill-model=scripted", "--skill-case=tidy", "--skill-arms=with", agent=name)

    told = done.stdout + done.stderr
    assert done.returncode == 4, told
    assert f"installs the skill `neighbour`: {why}" in told
    assert "mend its SKILL.md, exclude it, or take " in told
    assert not project.results.exists()
    assert project.left() == []


def test_ctrl_c_in_run_zero_closes_every_sandbox(project: Project) -> None:
    """Dry turns go on at the same time; one Ctrl-C ends them all, and nothing is left."""
    required.program("codex")
    process = project.start("-n", "2", "--skill-model=scripted", "--skill-case=tidy", agent="codex")
    wait_for(lambda: len(list(project.state.glob("*/s"))) == 2, 60, "two sandboxes at once")
    process.send_signal(signal.SIGINT)
    told, _ = process.communicate(timeout=60)
    assert process.returncode == 2, told
    assert "run 0: " not in told
    assert project.left() == []


def stopped_at_run_zero(project: Project, done: subprocess.CompletedProcess[str], how_many: str) -> str:
    """What a session told that ended at run 0, its mend named and nothing left."""
    told = done.stdout + done.stderr
    assert done.returncode == 4, told
    assert f"run 0: {how_many} set-ups can't be measured" in told
    assert "Mend that, or leave it out with --skill-arms or --skill-agent" in told
    assert list(project.results.iterdir()) == []
    assert project.left() == []
    return told
