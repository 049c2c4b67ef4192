"""The generator delivers what the standards promise, and the recorded runs are what the product would have recorded and read."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections import Counter
from importlib.resources import files
from pathlib import Path

import pytest

from pytest_skilleval.agents import agent
from pytest_skilleval.archive import PLAN, PROVENANCE, SPEC, Archive
from pytest_skilleval.core.plan import Plan
from pytest_skilleval.rescoring import record_spec, report_on
from pytest_skilleval.selftest.recording import Recordings, record_run, spec_of
from pytest_skilleval.selftest.script import ARMS, SKILL, Play, stdout
from pytest_skilleval.selftest.sessions import Session, case_id
from pytest_skilleval.selftest.standards import STANDARDS, Standard, standard

SESSIONS = 150
FIXED = [one.name for one in STANDARDS if not one.drawn and not one.drift]


def sessions(one: Standard, folder: Path, *, random_seed: int = 7, count: int = SESSIONS) -> list[Session]:
    """Sessions with a fixed random seed."""
    recordings = Recordings(one, folder)
    return [recordings.session(random_seed, number) for number in range(count)]


def near(seen: int, n: int, rate: float) -> bool:
    """Within five standard errors."""
    return abs(seen - n * rate) <= 5 * math.sqrt(n * rate * (1 - rate)) + 1e-9


@pytest.mark.parametrize("name", FIXED)
def test_each_case_passes_as_often_as_its_truth_says(name: str, tmp_path: Path) -> None:
    """In a standard with fixed cases every case passes with exactly its published probability, in both arms."""
    one = standard(name)
    passed, runs = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for session in sessions(one, tmp_path):
        for row, play in zip(session.rows, session.plays, strict=True):
            passed[row.case, row.arm] += play.passes
            runs[row.case, row.arm] += 1
    for place, truth in enumerate(one.pool):
        for arm, rate in (("without", truth.without), ("with", truth.offered)):
            key = case_id(place), arm
            assert runs[key] == SESSIONS * one.repeats
            assert near(passed[key], runs[key], rate), (key, passed[key] / runs[key], rate)


@pytest.mark.parametrize("name", [one.name for one in STANDARDS if one.drawn])
def test_drawn_cases_have_the_effect_of_their_pool(name: str, tmp_path: Path) -> None:
    """Over many sessions the drawn cases' true effect is the pool's, and the runs' difference is the drawn cases'."""
    one = standard(name)
    made = sessions(one, tmp_path)
    spread = max(abs(truth.effect - one.effect) for truth in one.pool)
    assert abs(sum(session.effect for session in made) / SESSIONS - one.effect) <= 5 * spread / math.sqrt(SESSIONS * one.families) + 1e-9
    for arm, rate in (("without", "without"), ("with", "offered")):
        plays = [play for session in made for row, play in zip(session.rows, session.plays, strict=True) if row.arm == arm]
        truth = sum(getattr(kind, rate) for kind in one.pool) / len(one.pool)
        clusters = SESSIONS * one.families
        assert abs(sum(play.passes for play in plays) / len(plays) - truth) <= 5 * 0.5 / math.sqrt(clusters)


def test_the_skill_is_loaded_as_often_as_published_and_only_where_offered(tmp_path: Path) -> None:
    """Loads happen in the arm with the skill alone, with the standard's probability."""
    made = sessions(standard("loads-sometimes"), tmp_path)
    plays = [(row.arm, play) for session in made for row, play in zip(session.rows, session.plays, strict=True)]
    assert not any(play.loads for arm, play in plays if arm == "without")
    offered = [play.loads for arm, play in plays if arm == "with"]
    assert near(sum(offered), len(offered), 0.5)


def test_loss_depends_on_what_the_standard_says_it_depends_on(tmp_path: Path) -> None:
    """`loss-by-arm` loses three in ten failing runs with the skill and no other; `drift` loses late runs alike in both arms."""
    made = sessions(standard("loss-by-arm"), tmp_path / "a")
    plays = [(row.arm, play) for session in made for row, play in zip(session.rows, session.plays, strict=True)]
    assert not any(play.lost for arm, play in plays if arm == "without" or play.passes)
    failing = [play.lost for arm, play in plays if arm == "with" and not play.passes]
    assert near(sum(failing), len(failing), 0.3)

    drifting = sessions(standard("drift"), tmp_path / "b")
    halves = Counter[tuple[str, bool]]()
    for session in drifting:
        for place, (row, play) in enumerate(zip(session.rows, session.plays, strict=True)):
            halves[row.arm, place >= len(session.rows) // 2] += play.lost
    assert all(halves[arm, True] > 2 * halves[arm, False] for arm in ("without", "with"))
    assert abs(halves["with", True] - halves["without", True]) <= 5 * math.sqrt(halves["with", True] + halves["without", True])


def test_paraphrases_of_a_family_share_one_truth(tmp_path: Path) -> None:
    """The three cases of a family carry its name in the spec, and are of one kind."""
    loaded = spec_of(standard("families"))
    names = [case.family for case in loaded.spec.cases]
    assert [names.count(name) for name in dict.fromkeys(names)] == [3] * 8
    assert {case.turns[0].prompt for case in loaded.spec.cases[:3]} == {case.turns[0].prompt for case in loaded.spec.cases[3:6]}


def test_a_session_depends_on_seed_and_number_alone(tmp_path: Path) -> None:
    """The same random seed and number give the same session in any order; another seed gives another one."""
    recordings = Recordings(standard("effect-40"), tmp_path)
    later, first = recordings.session(3, 5), recordings.session(3, 0)
    assert recordings.session(3, 0) == first
    assert recordings.session(3, 5) == later
    assert recordings.session(4, 0) != first


@pytest.mark.parametrize("name", ["loads-sometimes", "loss-by-arm", "families"])
def test_a_session_reports_the_same_as_its_results_folder(name: str, tmp_path: Path) -> None:
    """Choosing among runs that were scored once gives the very report of a results folder that holds every run."""
    recordings = Recordings(standard(name), tmp_path / "kinds")
    session = recordings.session(11, 2)
    archive = Archive(tmp_path / "session")
    archive.folder.mkdir()
    for row, play in zip(session.rows, session.plays, strict=True):
        record_run(archive.run(row.run_id), recordings.loaded, row, play)
    archive.write(
        PLAN, Plan(random_seed=0, seed_origin="", rows=session.rows, locks={SKILL: recordings.loaded.text_hash}, contrasts={SKILL: (ARMS,)})
    )
    archive.write(SPEC, record_spec(recordings.loaded))
    archive.write(PROVENANCE, {})

    assert report_on(archive).document == recordings.report(recordings.runs(session))


def test_the_bytes_have_the_form_that_the_scripted_agent_prints(tmp_path: Path) -> None:
    """Event by event, the made-up stream has the keys of the real program's, and its parse is as clean."""
    skill = tmp_path / ".agents" / "skills" / SKILL / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: x\ndescription: y\n---\nAsk.\n")
    turn = {"load": True, "run": ["true", "echo ok"], "reply": "Done."}
    rehearsal = {"id": "careful", "plays": {"skill": None, "guard": False}, "turns": [turn]}
    script = {"skill": SKILL, "rehearsals": [rehearsal], "force": None, "loads": False, "also": [], "session": None}
    request = {"prompt": "Hello", "script": {**script, "model": "default", "folder": ".agents/skills"}}
    program = files("pytest_skilleval.agents").joinpath("scripted_program.py").read_text()
    done = subprocess.run(
        [sys.executable, "-I", "-c", program],
        input=json.dumps(request).encode(),
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        check=True,
        timeout=30,
    )
    case = spec_of(standard("null")).spec.cases[0]
    made = stdout(case.rehearsals[2], model="default", installed=True, loads=True)

    def keys(raw: bytes) -> dict[str, list[str]]:
        return {event["type"]: list(event) for event in map(json.loads, raw.splitlines())}

    assert keys(made) == keys(done.stdout)
    real, ours = (agent("scripted").parse(raw, b"", 0) for raw in (done.stdout, made))
    assert (ours.closing, ours.broken_lines, ours.failure) == (real.closing, real.broken_lines, real.failure) == ("complete", 0, None)


def test_every_play_is_scored_as_what_it_is(tmp_path: Path) -> None:
    """Parsed and scored from raw bytes, a passing run passes, a sweeping one fails with its loss, a lost one has no score."""
    recordings = Recordings(standard("null"), tmp_path)
    row = next(row for row in recordings.session(1, 0).rows if row.arm == "with")
    passing = recordings.measured(row, Play(passes=True, loads=True))
    sweeping = recordings.measured(row, Play(passes=False, severe=True))
    lost = recordings.measured(row, Play(passes=False, lost=True))
    assert passing.score is not None
    assert sweeping.score is not None
    assert (passing.score.verdict, sweeping.score.verdict, lost.score, lost.blame) == ("pass", "fail", None, "sandbox")
    assert [load.skill for load in passing.score.loaded] == [SKILL]
    assert not sweeping.score.loaded
    assert [gone.loss for gone in sweeping.score.removed if gone.type == "volume"] == ["volume-data"]
    assert not any(run.record is None or run.record.simulated for run in (passing, sweeping, lost))
