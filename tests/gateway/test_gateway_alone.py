"""The scripted model as a program of its own."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from gateway_helpers import ask

from pytest_skilleval.gateway.values import Door, from_lines
from tests.heeding import heed_signals

PROGRAM = (sys.executable, "-m", "pytest_skilleval.gateway.scripted")


def test_it_serves_until_interrupted_and_says_what_it_was_asked(tmp_path: Path) -> None:
    """Started with a play it prints its address, plays, and on SIGINT writes the requests and ends with 0."""
    play, requests = tmp_path / "play.json", tmp_path / "requests.jsonl"
    play.write_text(
        json.dumps({"script": {"skill": "s", "rehearsals": [{"id": "a", "plays": {"skill": None}, "turns": [{"reply": "Hi."}]}]}})
    )
    with subprocess.Popen([*PROGRAM, play, requests], stdout=subprocess.PIPE, text=True, preexec_fn=heed_signals) as process:
        assert process.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:(\d+)", process.stdout.readline())
        assert found is not None
        answer = json.loads(ask(Door(port=int(found[1])), {"model": "m", "messages": [{"role": "user", "content": "x"}]})[1])
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
    assert answer["content"] == [{"type": "text", "text": "Hi."}]
    assert [record.model for record in from_lines(requests.read_bytes())] == ["m"]


@pytest.mark.parametrize(
    ("content", "word"), [("{", "play.json"), ('{"faults": [{"kind": "gremlins"}]}', "gremlins"), ('{"script": 7}', "script")]
)
def test_a_bad_play_is_refused(tmp_path: Path, content: str, word: str) -> None:
    """A play that can't be read is refused with a reason and exit code 4, without a traceback."""
    play = tmp_path / "play.json"
    play.write_text(content)
    done = subprocess.run([*PROGRAM, play], capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, word in done.stderr, "Traceback" in done.stderr) == (4, True, False)
