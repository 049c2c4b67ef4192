"""What the CLI itself says it offers the model is held against the arm, in every turn of every run."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_skilleval.agents import agent
from pytest_skilleval.core.errors import ArmError, ArmSpoiled
from pytest_skilleval.core.model_requests import Shown
from pytest_skilleval.core.transcript import TurnTranscript
from pytest_skilleval.running.arming import check_first_request, check_offered
from pytest_skilleval.running.conversation import Conversation

JOB: Any = SimpleNamespace(row=SimpleNamespace(arm="without", skill="tidy-up"), agent=agent("claude-code"))
ARMED: Any = SimpleNamespace(skills={"neighbour": "0" * 64})


def said(**more: object) -> TurnTranscript:
    """What Claude Code's first line makes of these facts."""
    init = {
        "type": "system",
        "subtype": "init",
        "session_id": "s",
        "model": "m",
        "tools": [],
        "mcp_servers": [],
        "skills": ["neighbour"],
        **more,
    }
    return agent("claude-code").parse(json.dumps(init).encode() + b"\n", b"", 0)


def test_what_the_arm_declares_is_no_fault() -> None:
    """The installed skill and the CLI's own ones, no server."""
    check_offered(said(), JOB, ARMED)
    check_offered(said(skills=["neighbour", "simplify"]), JOB, ARMED)


def test_an_mcp_server_voids_the_run_and_is_named_with_the_mend() -> None:
    """An account's connector that appears in one run only is named, whatever its state; what to do is said."""
    servers = [{"name": "claude.ai Tracker", "status": "needs-auth"}, {"name": "notes", "status": "connected"}]

    with pytest.raises(ArmError) as told:
        check_offered(said(mcp_servers=servers), JOB, ARMED)
    assert str(told.value).endswith(
        "claude.ai Tracker, notes; remove them where its set-up comes from: disconnect claude.ai Tracker in the account, "
        "`claude mcp remove notes`"
    )


@pytest.mark.parametrize(("name", "mend"), [("claude-code", "`claude mcp remove 'my notes'`"), ("codex", "`codex mcp remove 'my notes'`")])
def test_a_server_that_the_model_is_shown_is_named_with_the_mend(name: str, mend: str) -> None:
    """Also where only the first request tells of it; no other fault is followed by such words."""
    job: Any = SimpleNamespace(row=JOB.row, agent=agent(name), loaded=SimpleNamespace(catalogue={"tidy-up": None}))
    armed: Any = SimpleNamespace(skills={}, descriptions={}, instructions="")
    with pytest.raises(ArmError) as told:
        check_first_request(Shown(mcp_servers=("my notes",)), job, armed)
    assert str(told.value).endswith(f"MCP server my notes is offered to the model; remove them where its set-up comes from: {mend}")
    with pytest.raises(ArmError) as other:
        check_first_request(Shown(instructions=("Be brief.",)), job, armed)
    assert "remove" not in str(other.value)


@pytest.mark.parametrize(("skills", "told"), [(["neighbour", "tidy-up"], "is offered tidy-up"), ([], "is not offered .*: neighbour")])
def test_a_skill_too_many_or_too_few_voids_the_run(skills: list[str], told: str) -> None:
    """The skill that the arm excludes is offered, or one that it installs is not."""
    with pytest.raises(ArmError, match=told):
        check_offered(said(skills=skills), JOB, ARMED)


def test_what_is_offered_after_the_agents_first_turn_is_its_own_doing() -> None:
    """In the first turn the set-up is wrong, and another try may mend that; later the agent has had its hands on it."""
    with pytest.raises(ArmError) as first:
        check_offered(said(skills=[]), JOB, ARMED)
    assert type(first.value) is ArmError
    with pytest.raises(ArmSpoiled, match=r"is not offered .*: neighbour"):
        check_offered(said(skills=[]), JOB, ARMED, number=2)


def test_an_update_in_the_middle_of_a_run_is_told() -> None:
    """Each turn says which version of the CLI it is; another one than before is a warning of the run, none is no news."""
    talk = Conversation(JOB, JOB, ARMED, JOB, JOB, 0.0, [], [])
    for version in (None, "2.1.197", None, "2.1.197"):
        talk.notice(said(claude_code_version=version))
    assert talk.warnings == []
    talk.notice(said(claude_code_version="2.1.198"))
    assert talk.warnings == ["the agent updated itself in the middle of a run, from 2.1.197 to 2.1.198"]
