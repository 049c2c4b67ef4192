"""Standards through the whole product: what the model drew is what the report finds, run by run."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_skilleval.archive import PLAN, PROVENANCE, SPEC, Archive
from pytest_skilleval.cli import main
from pytest_skilleval.core.errors import HarnessError
from pytest_skilleval.core.plan import Plan
from pytest_skilleval.report.files import write
from pytest_skilleval.rescoring import record_spec, report_on
from pytest_skilleval.sandboxes import backend
from pytest_skilleval.selftest import real
from pytest_skilleval.selftest.chances import Chances, Place
from pytest_skilleval.selftest.findings import Answer, Found
from pytest_skilleval.selftest.others import rows
from pytest_skilleval.selftest.real import Real, harvest, make, real_sessions
from pytest_skilleval.selftest.recording import record_run, spec_of
from pytest_skilleval.selftest.results import result
from pytest_skilleval.selftest.script import ARMS, SKILL
from pytest_skilleval.selftest.standards import STANDARDS, Standard, Truth, standard
from tests import required

INTERRUPTED = 2
CERTAIN = Standard(
    name="certain",
    about="nothing is left to chance: the skill turns one case, moves no other, and the last one is lost where it is offered",
    pool=(Truth(0, 1), Truth(1, 1), Truth(0, 0)),
    families=3,
    repeats=1,
    failures_lost=1.0,
    fair=False,
)


@pytest.mark.engine
@pytest.mark.npm
@pytest.mark.parametrize("name", ["scripted", "claude-code", "codex"])
def test_a_session_without_chance_is_found_exactly(name: str, tmp_path: Path) -> None:
    """Through pytest, a real sandbox and a real CLI: every run becomes what is told, and the report finds the very effect."""
    required.sandboxes(backend("engine"))
    required.program(name)
    found = make(Chances(CERTAIN, 1, 0), agent=name, folder=tmp_path / "session")
    assert found.strange == ()
    assert (found.runs, found.found.difference, found.found.verdict) == (6, 0.5, "lost too many runs")
    assert (found.found.new.claim, found.found.these.claim) == (0, 0)


def session(one: Standard, folder: Path, *, but: int | None = None) -> Archive:
    """A results folder in which every run became what was drawn, but for one that passes when it should not, or the other way."""
    chances, archive, loaded = Chances(one, 3, 1), Archive(folder), spec_of(one)
    planned = rows(chances)
    archive.folder.mkdir(parents=True)
    for row in planned:
        play = chances.play(Place.of(row), row.index)
        record_run(archive.run(row.run_id), loaded, row, play._replace(passes=not play.passes) if row.index == but else play)
    locks = {SKILL: loaded.text_hash}
    archive.write(PLAN, Plan(random_seed=0, seed_origin="", rows=planned, locks=locks, contrasts={SKILL: (ARMS,)}))
    archive.write(SPEC, record_spec(loaded))
    archive.write(PROVENANCE, {})
    write(archive.folder, report_on(archive), "")
    return archive


@pytest.mark.parametrize("name", ["loads-sometimes", "loss-by-arm"])
def test_a_run_that_is_not_as_drawn_is_named(name: str, tmp_path: Path) -> None:
    """Of a faithful session nothing is strange; one run that came out otherwise is named, and so is a report that tells another figure."""
    chances = Chances(standard(name), 3, 1)
    faithful = harvest(session(standard(name), tmp_path / "a"), chances, "scripted", 1.0)
    assert faithful.strange == ()
    assert faithful.found.these.truth == chances.effect

    odd = next(row for row in rows(chances) if not chances.play(Place.of(row), row.index).lost)
    [told] = harvest(session(standard(name), tmp_path / "b", but=odd.index), chances, "scripted", 1.0).strange
    assert told.startswith(f"{odd.run_id}: drawn ")

    report = tmp_path / "a" / "report.json"
    report.write_bytes(report.read_bytes().replace(b'"difference": ', b'"difference": 1', 1))
    changed = json.loads(report.read_bytes())
    changed["effects"][0]["difference"] = 0.987
    report.write_text(json.dumps(changed))
    assert harvest(Archive(tmp_path / "a"), chances, "scripted", 1.0).strange == ("report.json: difference",)


@pytest.mark.parametrize("name", [one.name for one in STANDARDS])
def test_the_model_is_told_the_published_probabilities(name: str) -> None:
    """Over many sessions runs pass, load and are lost as often as the standard says, in both arms."""
    one = standard(name)
    made = [Chances(one, 5, number) for number in range(25)]
    plays = [(row, chances, chances.play(Place.of(row), row.index)) for chances in made for row in rows(chances)]
    for arm in ARMS:
        mine = [
            (chances.kinds[int(row.case[-2:]) // one.paraphrases - (0 if int(row.case[-2:]) % one.paraphrases else 1)], play)
            for row, chances, play in plays
            if row.arm == arm
        ]
        rate = sum(truth.offered if arm == "with" else truth.without for truth, _ in mine) / len(mine)
        loads = sum(truth.loads for truth, _ in mine) / len(mine) if arm == "with" else 0
        error = 5 * math.sqrt(0.25 / len(mine))
        assert sum(play.passes for _, play in mine) / len(mine) == pytest.approx(rate, abs=error)
        assert sum(play.loads for _, play in mine) / len(mine) == pytest.approx(loads, abs=error if 0 < loads < 1 else 0)
        lost = one.loss_at_end / 2 + (arm == "with") * (one.runs_lost + one.failures_lost * (1 - rate))
        assert sum(play.lost for _, play in mine) / len(mine) == pytest.approx(lost, abs=error if lost else 0)


def test_the_scripted_agent_plays_by_what_it_is_shown() -> None:
    """Its script holds a rehearsal for either sight; the one for its own arm is what was drawn."""
    chances = Chances(standard("loads-sometimes"), 1, 0)
    for row in rows(chances):
        play = chances.play(Place.of(row), row.index)
        told = {one["plays"]["skill"]: one["turns"][0] for one in chances.script(row)["rehearsals"]}
        mine = told["loaded" if row.arm == "with" else "absent"]
        assert mine["load"] == play.loads
        assert any("docker rm" in line for line in mine["run"]) == (not play.passes)
        assert told["absent"]["load"] is False


def some(seconds: float | None = 20.0, *strange: str) -> Real:
    """A session by hand."""
    answer = Answer(0.0, covered=True, claim=0, p=0.5)
    return Real(agent="codex", version="1", found=Found(0.0, answer, answer, "not shown", 100), runs=48, seconds=seconds, strange=strange)


def test_only_missing_sessions_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second call with more sessions makes the new ones alone; the figures of the others are read."""
    asked: list[int] = []
    found: list[Real] = []

    def stand_in(chances: Chances, *, agent: str, folder: Path, workers: int) -> Real:
        assert (agent, workers) == ("codex", 2)
        folder.mkdir(parents=True)
        asked.append(chances.number)
        return some(float(chances.number))

    monkeypatch.setattr(real, "make", stand_in)
    for sessions in (1, 3):
        found = list(real_sessions(standard("null"), agent="codex", sessions=sessions, random_seed=1, folder=tmp_path, workers=2))
    assert asked == [0, 1, 2]
    assert [one.seconds for one in found] == [0.0, 1.0, 2.0]


def test_an_interrupted_session_is_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a plan stands already, pytest is told to go on with it; a session that could not be measured says where to look."""
    ready = session(standard("null"), tmp_path / "session" / "results" / "begun")
    (tmp_path / "python").write_text('#!/bin/sh\necho "$@"\nexit ${CODE:-1}\n')
    (tmp_path / "python").chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    found = make(Chances(standard("null"), 3, 1), agent="scripted", folder=tmp_path / "session", workers=2)
    told = (tmp_path / "session" / "pytest.txt").read_text()
    assert (f"--skill-resume={ready.folder}" in told, "-n 2" in told, found.seconds, found.strange) == (True, True, None, ())
    monkeypatch.setenv("CODE", "4")
    with pytest.raises(HarnessError, match="exit code 4"):
        make(Chances(standard("null"), 3, 1), agent="scripted", folder=tmp_path / "session")


def test_the_command_fails_when_a_run_is_not_as_drawn(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """It prints figures, time and what is strange; with something strange it ends with 1, else with 0."""
    monkeypatch.setattr(real, "real_sessions", lambda *_, **__: [some(), some(40.0)])
    assert main(["selftest", "null", "--agent", "codex"]) == 0
    assert "null, codex 1: 96 of 96 runs in 2 sessions came out as drawn; 30 s a session, 0.6 s a run" in capsys.readouterr().out
    monkeypatch.setattr(real, "real_sessions", lambda *_, **__: [some(None, "case-01: odd")])
    assert main(["selftest", "null", "--agent", "codex"]) == 1
    assert "47 of 48 runs in 1 session came out as drawn\n  case-01: odd" in capsys.readouterr().out


def test_a_few_sessions_neither_show_nor_refute_a_bias() -> None:
    """Two sessions that err alike prove nothing; many do."""
    answer = Answer(0.0, covered=True, claim=0, p=0.5)
    off = [Found(0.1 + number % 2 / 1000, answer, answer, "not shown", 100) for number in range(60)]
    assert [result(standard("null"), off[:count]).promises[-1].state for count in (2, 60)] == ["open", "broken"]


def ended(process: subprocess.Popen[str], ready: Callable[[], object]) -> int:
    """Send SIGTERM once something is there; the exit code."""
    try:
        deadline = time.monotonic() + 60
        while not ready():
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.terminate()
        return process.wait(60)
    finally:
        process.kill()


@pytest.mark.parametrize("processes", ["1", "2"])
def test_a_self_test_that_is_ended_leaves_nothing(processes: str, tmp_path: Path) -> None:
    """On SIGTERM, as on Ctrl-C, the temporary folder is removed, and the exit code is 2."""
    command = (sys.executable, "-m", "pytest_skilleval", "selftest", "null", "--sessions", "5000", "--processes", processes)
    with subprocess.Popen(command, env={**os.environ, "TMPDIR": str(tmp_path)}, stderr=subprocess.DEVNULL, text=True) as process:
        assert ended(process, lambda: next(tmp_path.glob("skilleval-selftest-*/**/run.json"), None)) == INTERRUPTED
    assert list(tmp_path.iterdir()) == []


def test_a_session_that_is_ended_is_waited_for(tmp_path: Path) -> None:
    """On SIGTERM the evaluation under way is ended too, and closes its sandboxes before the command is over."""
    slow = tmp_path / "python"
    slow.write_text(
        f"#!/bin/sh\ntrap 'sleep 0.5; touch {tmp_path}/closed; exit 2' TERM\ntouch {tmp_path}/started\nwhile :; do sleep 0.05; done\n"
    )
    slow.chmod(0o755)
    code = f"import sys\nfrom pytest_skilleval.cli import main\nsys.executable = {str(slow)!r}\nsys.exit(main(sys.argv[1:]))"
    with subprocess.Popen(
        (sys.executable, "-c", code, "selftest", "null", "--agent", "scripted", "--folder", str(tmp_path / "kept")),
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert ended(process, (tmp_path / "started").exists) == INTERRUPTED
        assert (tmp_path / "closed").exists()
