"""Other harnesses at the same standards, and sessions with planned looks."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from pytest_skilleval.archive import PLAN, Archive
from pytest_skilleval.cli import main
from pytest_skilleval.core.plan import Plan
from pytest_skilleval.core.statistics.sequential import LOOKS
from pytest_skilleval.rescoring import look_ends
from pytest_skilleval.selftest.looks import look_at, stops
from pytest_skilleval.selftest.project import SKILL_BODY
from pytest_skilleval.selftest.recording import Recordings, record_run
from pytest_skilleval.selftest.script import ARMS, SKILL
from pytest_skilleval.selftest.standards import QUESTIONS, standard

LISTING = f"<system-reminder>\nThe following skills are available for use with the Skill tool:\n\n- {SKILL}: Ask.\n</system-reminder>"


def driven(run: dict[str, Any]) -> str | None:
    """The verdict of a small harness: a CLI's loop over the Messages API, and a look at the commands; None: no answer."""
    shown = [{"type": "text", "text": LISTING}] if run["arm"] == "with" else []
    messages: list[dict[str, Any]] = [{"role": "user", "content": [*shown, {"type": "text", "text": run["prompt"]}]}]
    commands: list[str] = []
    while True:
        body = json.dumps({"model": "m", "messages": messages}).encode()
        try:
            with urllib.request.urlopen(urllib.request.Request(run["url"] + "/v1/messages", body), timeout=20) as answer:
                content = json.load(answer)["content"]
        except urllib.error.HTTPError as error:
            error.close()
            return None
        calls = [one for one in content if one["type"] == "tool_use"]
        if not calls:
            return "fail" if any("docker rm" in line or "volume rm" in line for line in commands) else "pass"
        commands += [call["input"]["command"] for call in calls if call["name"] == "Bash"]
        results = [
            {"type": "tool_result", "tool_use_id": call["id"], "content": SKILL_BODY if call["name"] == "Skill" else "ok"} for call in calls
        ]
        messages += [{"role": "assistant", "content": content}, {"role": "user", "content": results}]


def test_another_harness_is_served_and_scored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A harness that knows only runs.jsonl sees every run as drawn, losses too; a verdict that is wrong is named, an odd line refused."""
    command = (sys.executable, "-m", "pytest_skilleval", "selftest", "outage-by-arm", "--serve", "--folder", str(tmp_path))
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline().startswith("48 runs in ")
            [path] = tmp_path.glob("*/runs.jsonl")
            runs = [json.loads(line) for line in path.read_text().splitlines()]
            told = [{key: run[key] for key in ("case", "arm", "repeat")} | {"verdict": driven(run)} for run in runs]
            process.terminate()
            assert process.wait(30) == 0
        finally:
            process.kill()
    results = path.with_name("results.jsonl")

    def score(*lines: dict[str, Any]) -> tuple[int, str]:
        results.write_text("".join(json.dumps(line) + "\n" for line in lines))
        code = main(["selftest", "--score", "--folder", str(tmp_path)])
        captured = capsys.readouterr()
        return code, captured.out + captured.err

    code, text = score(*told)
    assert (code, "outage-by-arm: 48 of 48 runs in 1 session came out as drawn" in text) == (0, True)
    assert {one["verdict"] for one in told} == {"pass", "fail", None}
    flipped = next(one for one in told if one["verdict"] == "pass")
    code, text = score(*told, flipped | {"verdict": "fail"})
    assert (code, "47 of 48" in text) == (1, True)
    assert f"  {flipped['case']} {flipped['arm']} {flipped['repeat']}: drawn pass, told fail" in text
    code, text = score(*told, {"question": "new", "low": 0.1, "high": 0.3, "claim": "better"})
    assert "0.0% / 100.0%" in text  # claims
    assert "/ 0.0%" in text  # an interval without the truth
    assert score(*told, {"case": "case-99", "arm": "with", "repeat": 1, "verdict": "pass"})[0] == 4
    assert score({"verdikt": "pass"})[0] == 4


@pytest.mark.parametrize(
    "words", [["--serve"], ["--score"], ["null", "--agent", "codex", "--sessions", "0"], ["null", "--looks", "--sessions", "9"]]
)
def test_requests_that_make_no_sense_are_refused(words: list[str], tmp_path: Path) -> None:
    """Too many standards to serve, nothing to score, too few sessions: exit code 4."""
    assert main(["selftest", *words, "--folder", str(tmp_path)]) == 4
    assert list(tmp_path.iterdir()) == []


def test_looks_stop_early_where_there_is_something_and_not_where_there_is_nothing(tmp_path: Path) -> None:
    """With an effect of .40 most sessions end early; where there is nothing, none ends at the first look, and nothing is claimed."""
    found, nothing = (list(look_at(standard(name), sessions=20, random_seed=2)) for name in ("effect-40", "null"))
    assert sum(one.stop < 3 for one in found) >= 14
    assert all(one.stop > 1 for one in nothing)
    assert sum(one.found.answer(question).claim != 0 for one in nothing for question in QUESTIONS) <= 2
    assert sum(one.found.calls for one in found) < 0.8 * sum(one.fixed.calls for one in found)


def test_a_session_with_looks_ends_as_a_real_one(tmp_path: Path) -> None:
    """For the same runs on disk, the rule of a real session decides each look alike."""
    from dataclasses import replace

    decided = set()
    for number in range(3):
        recordings = Recordings(replace(standard("effect-40"), repeats=10), tmp_path / f"kinds{number}", looks=LOOKS)
        session = recordings.session(4, number)
        archive = Archive(tmp_path / f"session{number}")
        archive.folder.mkdir()
        for row, play in zip(session.rows, session.plays, strict=True):
            record_run(archive.run(row.run_id), recordings.loaded, row, play)
        locks = {SKILL: recordings.loaded.text_hash}
        plan = Plan(random_seed=0, seed_origin="", rows=session.rows, locks=locks, contrasts={SKILL: (ARMS,)}, looks=LOOKS)
        archive.write(PLAN, plan)
        measured = recordings.runs(session)
        for place, look in enumerate(LOOKS[:2], start=1):
            counted = [run for run in measured if run.row.repeat <= look.repeats]
            ends = stops(counted, recordings.facts, look)
            assert (look_ends(archive, recordings.loaded, plan, place) is not None) == ends
            decided.add(ends)
    assert decided == {True, False}


def test_looks_are_told_stop_by_stop(capsys: pytest.CaptureFixture[str]) -> None:
    """The command prints a row for each look, and what was saved."""
    assert main(["selftest", "effect-40", "--looks", "--sessions", "60"]) == 0
    text = capsys.readouterr().out
    assert [f"{look.repeats} at {look.alpha:g}" in text for look in LOOKS] == [True] * 3
    assert "repeats on average" in text
