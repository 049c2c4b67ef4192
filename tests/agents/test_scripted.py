"""The scripted agent: its program, run for real on this machine's Python in a HOME of its own, and what is read from it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from pytest_skilleval.agents.scripted import ScriptedAgent
from pytest_skilleval.core.ports import AgentSetup, AgentTurn
from pytest_skilleval.core.transcript import TurnTranscript

AGENT = ScriptedAgent()
REHEARSALS = [
    {
        "id": "careful",
        "plays": {"skill": "loaded", "guard": False},
        "turns": [{"load": False, "run": ["echo looked"], "reply": "Shall I?"}, {"load": False, "run": ["echo done"], "reply": "Done."}],
    },
    {
        "id": "rash",
        "plays": {"skill": "absent", "guard": False},
        "turns": [{"load": False, "run": ["false", "echo swept"], "reply": "Swept."}],
    },
    {"id": "held", "plays": {"skill": "absent", "guard": True}, "turns": [{"load": False, "run": ["cd / && echo swept"], "reply": "No."}]},
]


def play(home: Path, *, session: str | None = None, deny: tuple[str, ...] = (), **more: Any) -> TurnTranscript:
    """What the agent tells of one turn that its program really plays in the folder `home`."""
    script = {"skill": "my-skill", "rehearsals": REHEARSALS, "force": None, "loads": True, "also": []} | more
    setup = AgentSetup(deny=deny)
    for file in AGENT.files(setup):
        (home / file.path).parent.mkdir(parents=True, exist_ok=True)
        (home / file.path).write_bytes(file.content)
    turn = AgentTurn(prompt="Please tidy up.", setup=setup, session_id=session, script=json.dumps(script).encode())
    command = AGENT.command(turn)
    done = subprocess.run(
        command.argv,
        input=command.stdin,
        capture_output=True,
        check=False,
        timeout=30,
        cwd=home,
        env={"HOME": str(home), "PATH": os.environ["PATH"]},
    )
    return AGENT.parse(done.stdout, done.stderr, done.returncode)


def install(home: Path) -> None:
    """Put the skill where the agent looks for skills."""
    folder = home / AGENT.skills_folder / "my-skill"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: my-skill\ndescription: Be careful.\n---\nBody.\n")


def test_it_plays_what_fits_when_the_skill_is_there(tmp_path: Path) -> None:
    """With the skill installed it reads it first, then plays the rehearsal for that."""
    install(tmp_path)

    told = play(tmp_path)

    assert [command.line for command in told.commands] == ["echo looked"]
    assert told.commands[0].output == "looked\n"
    assert [read.path for read in told.reads] == [str(tmp_path / ".agents/skills/my-skill/SKILL.md")]
    assert told.offered.skills == ("my-skill",)
    assert (told.reply, told.closing, told.failure) == ("Shall I?", "complete", None)


def test_it_plays_what_fits_when_the_skill_is_not_there(tmp_path: Path) -> None:
    """Without it nothing is read, and commands really run, with their exit codes."""
    told = play(tmp_path)

    assert [(command.line, command.exit_code) for command in told.commands] == [("false", 1), ("echo swept", 0)]
    assert told.reads == ()


def test_instructions_count_as_being_shown_the_skill(tmp_path: Path) -> None:
    """The rules arm plays the careful way without reading any skill."""
    (tmp_path / ".agent").mkdir()
    (tmp_path / AGENT.instructions_file).write_text("Be careful.")

    told = play(tmp_path)

    assert told.reply == "Shall I?"
    assert told.reads == ()


def test_a_guard_denies_and_the_attempt_is_told(tmp_path: Path) -> None:
    """What the guard forbids is attempted, not executed, wherever in the line it stands."""
    told = play(tmp_path, deny=("echo swept",))

    assert [(command.denied, command.executed) for command in told.commands] == [(True, False)]
    assert told.denials == 1


def test_a_session_goes_on_where_it_was(tmp_path: Path) -> None:
    """The second turn of a session plays the second turn of the script, and does not read the skill again."""
    install(tmp_path)
    first = play(tmp_path)

    second = play(tmp_path, session=first.session_id)

    assert (second.session_id, second.reply, second.reads) == (first.session_id, "Done.", ())


def test_an_unknown_session_is_a_crash_with_its_reason(tmp_path: Path) -> None:
    """A lost session is an infrastructure failure, never an empty success."""
    told = play(tmp_path, session="gone")

    assert told.closing == "none"
    assert told.failure is not None
    assert told.failure.reason == "the scripted agent ended early: no session gone"


def test_a_cut_stream_still_gives_what_came_before(tmp_path: Path) -> None:
    """A broken line is counted; the rest is read; the turn is not complete."""
    stream = b'{"type":"session","session":"s","skills":[]}\n{"type":"command","id":"c1","line":"ls","exit":0}\n{"type":"mess'

    told = AGENT.parse(stream, b"", None)

    assert (told.closing, told.broken_lines, [command.line for command in told.commands]) == ("cut", 1, ["ls"])
    assert told.failure is not None


def test_costs_follow_a_rule_that_can_be_checked_by_hand(tmp_path: Path) -> None:
    """Four characters are one token: prompt and everything read in, reply and commands out."""
    told = play(tmp_path)

    assert told.usage.input == (len("Please tidy up.") + len("swept\n")) // 4
    assert told.usage.output == (len("Swept.") + len("falseecho swept")) // 4
