"""Whose fault it is that a turn could not be measured: one pure function over what the real CLIs said."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_skilleval.agents import agent
from pytest_skilleval.core.errors import AgentApiError, AgentApiRefusal, AgentCrash, ArmSpoiled, IdleTimeout, RunError, SandboxError
from pytest_skilleval.core.transcript import TurnTranscript
from pytest_skilleval.running.conversation import attribute
from pytest_skilleval.running.story import RETRIES

FOLDER = Path(__file__).parent / "transcripts"
ROWS: dict[str, type[RunError] | None] = {
    "unauthorized": AgentApiRefusal,
    "forbidden": AgentApiRefusal,
    "bad_request": AgentApiRefusal,
    "rate_limited": AgentApiError,
    "overloaded": AgentApiError,
    "server_error": AgentApiError,
    "cut": AgentApiError,
    "garbage": AgentApiError,
    "empty": AgentApiError,
    "refused": None,
    "retried": None,
    "plain": None,
    "guarded": None,
    "asked": None,
    "confined": None,
    "unconfined": SandboxError,
}
"""Scenario -> what its turn raises; the exact type decides whether the run is tried again."""
KNOWN = [path for label in ROWS for path in sorted(FOLDER.glob(f"*-{label}.jsonl"))]
names = pytest.mark.parametrize("name", ["claude-code", "codex"])


def read(path: Path, *, exit_code: int | None = None, stdout: bytes | None = None) -> TurnTranscript:
    """The transcript of a recorded turn, or of one with another end."""
    cli = agent("codex" if path.stem.startswith("codex") else "claude-code")
    ended = int(path.with_suffix(".exit").read_text()) if stdout is None else exit_code
    return cli.parse(path.read_bytes() if stdout is None else stdout, path.with_suffix(".stderr").read_bytes(), ended)


def error(turn: TurnTranscript, *, timed_out: bool = False, exit_code: int | None = 0) -> type[RunError] | None:
    """What the turn raises."""
    try:
        attribute(turn, None, timed_out=timed_out, exit_code=exit_code)
    except RunError as found:
        return type(found)
    return None


@pytest.mark.parametrize("path", KNOWN, ids=lambda path: path.stem)
def test_each_recorded_end_has_its_row(path: Path) -> None:
    """What a real CLI said when the API, the machine or nobody failed ends in the row of the design's table."""
    assert error(read(path)) is ROWS[path.stem.rpartition("-")[2]]


@names
def test_a_time_out_is_the_agents_only_where_it_was_active(name: str) -> None:
    """Killed before it said or did anything: nobody's measurement. Killed at work: behaviour, which is scored."""
    path = next(FOLDER.glob(f"{name}-*-plain.jsonl"))
    lines = path.read_bytes().splitlines(keepends=True)
    begun = next(number for number, line in enumerate(lines) if b"echo one" in line)
    assert error(read(path, stdout=b"".join(lines[:begun])), timed_out=True, exit_code=None) is IdleTimeout
    assert error(read(path, stdout=b"".join(lines[: begun + 1])), timed_out=True, exit_code=None) is None


@names
def test_a_crash_is_the_clis(name: str) -> None:
    """No closing event, garbage, or nothing at all, and no time-out: the CLI crashed."""
    path = next(FOLDER.glob(f"{name}-*-plain.jsonl"))
    cut = path.read_bytes().splitlines(keepends=True)[:-1]
    for stdout in (b"".join(cut), b"Segmentation fault\n", b""):
        assert error(read(path, stdout=stdout, exit_code=139), exit_code=139) is AgentCrash


def test_only_what_may_pass_is_tried_again() -> None:
    """Busy APIs, sandboxes, seeds and wrong arms are tried again, a bounded number of times; what the agent did itself never is."""
    tried = {kind.__name__: times for kind, times in RETRIES.items()}
    assert tried == {"SandboxError": 1, "SeedError": 1, "ArmError": 1, "AgentApiError": 2}
    assert RETRIES.get(ArmSpoiled) is None
    assert RETRIES.get(AgentApiRefusal) is None
    assert (AgentApiRefusal.blame, AgentApiError.blame) == ("agent_api", "agent_api")
