"""What a run costs beyond its agent: whole runs through pytest and the gateway, against the bare CLI on the same prompt.

The sandbox isolates nothing and there is no seed; what it takes to make and remove it is not counted. Bare CLI and run alternate
within one session: before or after each run, in turn, the same command is run in a HOME that holds the same files, and asks the
model directly. A run is everything between two items of pytest: fixtures, arm, door, snapshots, parsing, record, score.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

AGENTS = ("claude-code", "codex")
REPEATS = 16
TURN = {"run": ["sleep 0.2; echo one", "sleep 0.2; echo two", "sleep 0.2; echo three"], "reply": "Done."}
"""About a second in all: as long as commands take that ask something of Docker, and a model that answers at once."""
PLAY = {"script": {"skill": "be-brief", "rehearsals": [{"id": "works", "plays": {"skill": None}, "turns": [TURN]}]}}
SPEC = """\
skill: be-brief
defaults: {agents: [claude-code, codex], arms: [without, with]}
arms:
  without: {role: baseline, exclude: [be-brief]}
  with: {role: treatment}
contrasts: {primary: [[without, with]]}
cases:
  - id: one
    kind: outcome
    expects: hold
    turns:
      - prompt: Print one, two and three, slowly.
        must:
          - {id: says-so, reply: Done}
"""
SKILL = "---\nname: be-brief\ndescription: Say little.\n---\n# Be brief\n\nSay it in one word.\n"
CONFTEST = '''\
import json
import os
import time
from pathlib import Path

import pytest

from tests.bench.open_sandbox import OpenBackend

BARE = []
# seconds that are no run's: of the bare CLI with all that was done for it, of making the sandbox and removing it
BESIDE = []


def pytest_skilleval_backend(name):
    """Sandboxes that cost nothing."""
    return OpenBackend() if name == "open" else None


def pytest_skilleval_runner():
    """Each run after the bare CLI on the same prompt."""
    from pytest_skilleval.core.ports import AgentTurn
    from pytest_skilleval.gateway.values import Door
    from pytest_skilleval.running import run_one
    from pytest_skilleval.running.arming import planned
    from pytest_skilleval.running.preparing import request
    from pytest_skilleval.running.steps import take

    def alone(job):
        began = time.perf_counter()
        sandbox = job.backend.open(request(job, restore=None))
        door = Door(port=int(os.environ["BENCH_MODEL_PORT"]))
        armed = planned(job, door, b"", home=sandbox.home, workspace=sandbox.workspace)
        for step in armed.puts:
            take(sandbox, step)
        turn = AgentTurn(prompt=job.case.turns[0].prompt, setup=armed.setup)
        started = time.perf_counter()
        done = sandbox.exec(job.agent.command(turn), timeout=60)
        BARE.append(time.perf_counter() - started)
        assert done.exit_code == 0, done
        sandbox.close()
        BESIDE.append(time.perf_counter() - began)

    def both(job):
        bare_first = len(BARE) % 2
        if bare_first:
            alone(job)
        record = run_one(job)
        if not bare_first:
            alone(job)
        BESIDE[-1] += record.phases["sandbox"] + record.phases["teardown"]
        return record

    return both


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol():
    """The times of the bare CLI, and of the whole item without all that was done for it."""
    started = time.perf_counter()
    result = yield
    run = time.perf_counter() - started - BESIDE[-1]
    with Path("times.jsonl").open("a") as file:
        file.write(json.dumps([BARE[-1], run]) + "\\n")
    return result
'''


def main() -> None:
    """Print for each CLI what a run adds to it."""
    for agent in AGENTS:
        times = measure(agent)
        added = [1000 * (run - bare) for bare, run in times]
        bare, run = (1000 * statistics.median(column) for column in zip(*times, strict=True))
        print(
            f"{agent:12} bare CLI median {bare:7.1f} ms   run {run:7.1f} ms   added {statistics.median(added):6.1f} ms"
            f" (promised: at most 50)   x{run / bare:.3f} (promised: at most 1.05)   n {len(times)}"
        )


def measure(agent: str) -> list[tuple[float, float]]:
    """Seconds of the bare CLI and of the run that follows it, for each run of a session."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = {"conftest.py": CONFTEST, "play.json": json.dumps(PLAY), "pytest.ini": "[pytest]\n"}
        files |= {"specs/be-brief/spec.yaml": SPEC, "specs/catalogue/be-brief/SKILL.md": SKILL}
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        with _model(folder) as port:
            _evaluate(folder, agent, port)
        return [tuple(json.loads(line)) for line in (folder / "times.jsonl").read_text().splitlines()][1:]


def _evaluate(folder: Path, agent: str, port: int) -> None:
    asked = [
        "--skill-eval=be-brief",
        f"--skill-agent={agent}",
        "--skill-sandbox=open",
        f"--skill-repeats={REPEATS}",
        "--skill-max-cost=500",
    ]
    address = f"http://127.0.0.1:{port}"
    model = {"ANTHROPIC_BASE_URL": address, "ANTHROPIC_API_KEY": "none", "OPENAI_BASE_URL": f"{address}/v1", "OPENAI_API_KEY": "none"}
    env = {**os.environ, **model, "BENCH_MODEL_PORT": str(port), "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:cacheprovider", *asked]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)


@contextmanager
def _model(folder: Path) -> Iterator[int]:
    """The scripted model as a program of its own; its port."""
    command = [sys.executable, "-m", "pytest_skilleval.gateway.scripted", "play.json", "asked.jsonl"]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:(\d+)", process.stdout.readline())
        assert found
        try:
            yield int(found[1])
        finally:
            process.terminate()
