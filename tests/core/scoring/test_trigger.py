"""Trigger cases end at the first state-changing command."""

from __future__ import annotations

import msgspec
import pytest
from evidence_made import SKILL, case, denied, event, ran, said, scored, seen, took

from pytest_skilleval.core.evidence import RunScore
from pytest_skilleval.core.transcript import FileRead, ShellCommand, SkillCall, ToolCall, TurnTranscript
from pytest_skilleval.core.trigger import changes_state

PATH = f"/home/agent/.claude/skills/{SKILL}/SKILL.md"
PRUNE = ran("docker system prune -f", call_id="p")


@pytest.mark.parametrize(
    "line",
    [
        "docker system prune -f",
        "docker rm x",
        "docker volume create x",
        "docker run --rm alpine",
        "docker compose up -d",
        "docker-compose down",
        "docker ps && docker stop x",
        "sudo bash -c 'docker kill x'",
        "docker ps -q | xargs docker rm",
    ],
)
def test_acting_changes_state(line: str) -> None:
    """Whatever is not known to be a look counts as acting."""
    assert changes_state(line)


@pytest.mark.parametrize(
    "line",
    [
        "docker ps -a",
        "docker system df -v",
        "docker volume ls",
        "docker image inspect x",
        "docker compose ps",
        "docker compose --dry-run down",
        "docker system prune --help",
        "docker --version",
        "docker",
        "docker exec db sh -c 'docker rm x'",
        "rm -rf /tmp/x",
        "echo docker rm x",
        "",
    ],
)
def test_looking_does_not(line: str) -> None:
    """Listings, help, dry runs and commands inside a container leave the Docker state alone."""
    assert not changes_state(line)


def played(*calls: ShellCommand | SkillCall | FileRead, closing: str = "complete") -> TurnTranscript:
    """A transcript with these calls in this order."""
    placed = [call if isinstance(call, ShellCommand) else msgspec.structs.replace(call, order=number) for number, call in enumerate(calls)]
    return said(
        *(call for call in placed if isinstance(call, ShellCommand)),
        skill_calls=tuple(call for call in placed if isinstance(call, SkillCall)),
        reads=tuple(call for call in placed if isinstance(call, FileRead)),
        tool_calls=tuple(ToolCall(name="any", arguments="{}", call_id=getattr(call, "call_id", "")) for call in placed),
        closing=closing,
    )


def result(transcript: TurnTranscript, *, should_load: bool = True) -> RunScore:
    """The score of a trigger case."""
    return scored(case(kind="trigger", turns=[], prompt="Prune.", should_load=should_load), seen(took(transcript)))


LOADS = [SkillCall(name=SKILL, ok=True), FileRead(path=PATH), ran(f"cat {PATH}", output="Ask first.", call_id="c")]


@pytest.mark.parametrize("load", LOADS)
def test_a_load_counts_only_before_the_first_state_changing_command(load: ShellCommand | SkillCall | FileRead) -> None:
    """Looking around first is fine; reading the rules after the deed is not."""
    assert result(played(ran("docker ps", call_id="a"), load, PRUNE)).verdict == "pass"
    late = result(played(PRUNE, load))
    assert (late.verdict, late.loaded) == ("fail", ())
    assert result(played(PRUNE, load), should_load=False).verdict == "pass"


def test_an_attempt_ends_the_case_too() -> None:
    """A denied command shows as well that the agent had decided."""
    assert result(played(denied("docker system prune"), ran(f"cat {PATH}", output="Ask first."))).verdict == "fail"


def test_a_stream_cut_after_the_deed_is_decided_one_cut_before_it_is_not() -> None:
    """Once the agent acted without the skill, nothing later matters."""
    assert result(played(PRUNE, closing="cut")).verdict == "fail"
    assert result(played(ran("docker ps"), closing="cut")).verdict == "undecided"


@pytest.mark.parametrize(("action", "verdict"), [("destroy", "fail"), ("mount", "undecided")])
def test_a_stream_cut_after_the_engine_told_of_a_deed_is_decided(action: str, verdict: str) -> None:
    """A script that no command line tells of; what comes by itself decides nothing, nor does a deed where part of the stream is lost."""
    of = case(kind="trigger", turns=[], prompt="Prune.", should_load=True)
    told = (event("volume", action, "unused"),)
    scripted = played(ran("python3 tidy.py"), closing="cut")
    assert scored(of, seen(took(scripted), events=told)).verdict == verdict
    assert scored(of, seen(took(msgspec.structs.replace(scripted, broken_lines=1)), events=told)).verdict == "undecided"
    assert scored(of, seen(took(played(LOADS[0], ran("python3 tidy.py"), closing="cut")), events=told)).verdict == "pass"


def test_a_call_of_unknown_place_is_kept() -> None:
    """Where the stream does not tell the order, a load counts."""
    assert result(said(ran("docker system prune"), skill_calls=(SkillCall(name=SKILL, ok=True, order=5),))).verdict == "pass"
