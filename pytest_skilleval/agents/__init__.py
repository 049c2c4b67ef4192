"""The agent CLIs, as pure functions: what to install, what to run, what the output meant."""

from __future__ import annotations

from pytest_skilleval.core.errors import UsageProblem
from pytest_skilleval.core.ports import Agent

AGENT_NAMES = ("claude-code", "codex", "scripted")


def agent(name: str) -> Agent:
    """The agent called `name`; its module is imported only now.

    Raises
    ------
    UsageProblem
        When there is no such agent.
    """
    if name == "scripted":
        from pytest_skilleval.agents.scripted import ScriptedAgent

        return ScriptedAgent()
    if name == "claude-code":
        from pytest_skilleval.agents.claude_code import ClaudeCode

        return ClaudeCode()
    if name == "codex":
        from pytest_skilleval.agents.codex import Codex

        return Codex()
    raise UsageProblem(f"no agent {name!r}; known: {', '.join(AGENT_NAMES)}")
