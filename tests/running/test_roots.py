"""What lies where agents look, before the first turn and after the last: seen in folders of this machine."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_skilleval.agents import agent
from pytest_skilleval.core.arms import digest
from pytest_skilleval.core.errors import ArmError
from pytest_skilleval.core.ports import AgentSetup, Command, ExecResult
from pytest_skilleval.running import arming, roots


@dataclass
class Folders:
    """As much of a sandbox as the check needs; counts its commands."""

    home: str
    workspace: str
    commands: int = 0

    def exec(self, command: Command, timeout: float = 30) -> ExecResult:
        """Run it here."""
        self.commands += 1
        done = subprocess.run(command.argv, capture_output=True, timeout=timeout, check=False)
        return ExecResult(exit_code=done.returncode, stdout=done.stdout, stderr=done.stderr, seconds=0.0)


@pytest.fixture
def place(tmp_path: Path) -> Any:
    """HOME and a workspace, both empty."""
    for name in ("home", "work"):
        (tmp_path / name).mkdir()
    return Folders(str(tmp_path / "home"), str(tmp_path / "work"))


def put(folder: str, *names: str) -> None:
    """Files with something in them."""
    for name in names:
        path = Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")


def found(place: Folders, *, untouched: bool) -> set[str]:
    """What the inventory names within the test's own folder, relative to it."""
    own = Path(place.home).parent
    seen = roots.inventory(place, (), untouched=untouched)  # type: ignore[arg-type]
    return {str(Path(path).relative_to(own)) for path in seen if Path(path).is_relative_to(own)}


BELOW = ("sub/CLAUDE.md", "a/b/c/d/e/f/g/AGENTS.md", "sub/.claude/skills/x/SKILL.md", "sub/.agents/skills/y/z/SKILL.md", "link/GEMINI.md")
SETTINGS = (".claude/settings.json", ".claude/settings.local.json", ".codex/config.toml", ".codex/hooks.json", ".codex/rules/a.rules")
ELSEWHERE = ("sub/README.md", "sub/skills/x/SKILL.md", ".venv/lib/thing/skills/x/SKILL.md", "sub/.git/CLAUDE.md", "NOT-CLAUDE.md")


def test_settings_and_nested_files_are_seen_before_the_first_turn_only(place: Folders) -> None:
    """Whatever an agent would heed later is named beforehand; afterwards what it installed itself may have brought some along."""
    put(place.workspace, *BELOW[:-1], *ELSEWHERE, "GEMINI.text")
    Path(place.workspace, "link").mkdir()
    Path(place.workspace, "link/GEMINI.md").symlink_to("../GEMINI.text")
    put(place.home, *SETTINGS)
    wanted = {f"work/{name}" for name in BELOW} | {f"home/{name}" for name in SETTINGS}
    assert found(place, untouched=True) == wanted
    assert found(place, untouched=False) == set()
    assert place.commands == 2


def test_the_roots_are_seen_at_any_time(place: Folders) -> None:
    """Skills and instructions where every agent finds them void a run before its first turn and after its last."""
    put(place.workspace, "CLAUDE.md", ".claude/skills/x/SKILL.md")
    put(place.home, ".claude/skills/y/SKILL.md")
    both = {"work/CLAUDE.md", "work/.claude/skills/x/SKILL.md", "home/.claude/skills/y/SKILL.md"}
    assert (found(place, untouched=True), found(place, untouched=False)) == (both, both)


def armed(place: Folders, name: str) -> tuple[Any, Any, Mapping[str, bytes]]:
    """Job, arm and files of an arm that installs no more than the agent's configuration and a guard."""
    setup = AgentSetup(deny=("docker volume rm",), home=place.home, workspace=place.workspace, endpoint="http://127.0.0.1:1")
    files = {f"{place.home}/{file.path}": file.content for file in agent(name).files(setup)}
    kept = {path: digest(content) for path, content in files.items() if not path.endswith("config.toml")}
    placed = {path: digest(content) for path, content in files.items()}
    job = SimpleNamespace(agent=agent(name), row=SimpleNamespace(arm="guard"))
    return job, SimpleNamespace(kept=kept, placed=placed, final_instructions=digest(b"")), files


@pytest.mark.parametrize("name", ["claude-code", "codex"])
def test_the_arms_own_configuration_is_no_fault_and_another_is(place: Any, name: str) -> None:
    """What was put in place is as it should be; settings beside it, or in its place, are named. A CLI may write to its own later."""
    job, arm, files = armed(place, name)
    for path, content in files.items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(content)
    own = Path(place.home).parent
    if not any(Path(path).is_file() for path in roots.SETTINGS if path.startswith("/")):
        arming.check(place, job, arm, untouched=True)
    put(place.home, *SETTINGS[:3])
    with pytest.raises(ArmError) as told:
        arming.check(place, job, arm, untouched=True)
    config = "was changed" if name == "codex" else "should not be there"
    assert f"{own}/home/.claude/settings.json should not be there" in str(told.value)
    assert f"{own}/home/.claude/settings.local.json should not be there" in str(told.value)
    assert f"{own}/home/.codex/config.toml {config}" in str(told.value)
    arming.check(place, job, arm)
