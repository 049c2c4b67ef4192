"""What a scripted run costs, against a plain ``docker run`` on a Docker Engine of the same kind in the same minute."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

from pytest_skilleval.core.ports import Command, SandboxRequest
from pytest_skilleval.sandboxes import backend
from tests.bench.timing import milliseconds

SPEC = "docker-destructive-guardrails"
CASE = "out-disk-cleanup"


def evaluate(results: Path, *arguments: str) -> float:
    """Seconds of one session of the guardrails spec with the scripted agent."""
    command = [sys.executable, "-m", "pytest", f"--skill-eval={SPEC}", "--skill-agent=scripted", "--skill-sandbox=engine"]
    start = time.perf_counter()
    done = subprocess.run([*command, f"--skill-results={results}", *arguments], capture_output=True, check=False)
    if done.returncode not in {0, 1}:
        raise SystemExit(done.stdout.decode() + done.stderr.decode())
    return time.perf_counter() - start


def records(results: Path) -> list[dict[str, object]]:
    """Every recorded run of the session."""
    return [json.loads(path.read_bytes()) for path in sorted(results.glob("*/runs/*/run.json"))]


def plain_docker_run(rounds: int) -> list[float]:
    """Milliseconds of ``docker run --rm IMAGE true`` inside a private engine."""
    engine = backend("engine")
    engine.warm(print)
    sandbox = engine.open(SandboxRequest(name="bench"))
    build = "mkdir b && cp /bin/busybox b/ && ln -s busybox b/true && tar -C b -c . | docker import - tiny:1"
    try:
        sandbox.exec(Command(argv=("sh", "-c", build)), timeout=60)
        run = Command(argv=("docker", "run", "--rm", "tiny:1", "/true"))
        sandbox.exec(run, timeout=60)
        return [milliseconds(lambda: sandbox.exec(run, timeout=60)) for _ in range(rounds)]
    finally:
        sandbox.close()


def main() -> None:
    """Print the seconds of a run and the runs of a minute."""
    with tempfile.TemporaryDirectory() as name:
        evaluate(Path(name, "warm"), f"--skill-case={CASE}", "--skill-repeats=1", "--skill-random-seed=1")
        base = statistics.median(plain_docker_run(9))
        evaluate(Path(name, "one"), f"--skill-case={CASE}", "--skill-repeats=9", "--skill-random-seed=1")
        one = [record for record in records(Path(name, "one")) if record["status"] == "scored"]
        seconds = [float(str(record["seconds"])) for record in one]
        print(f"plain docker run                  median {base:9.1f} ms")
        median = statistics.median(seconds) * 1000
        print(
            f"one scripted run                  median {median:9.1f} ms  (n {len(seconds)})  x{median / base:.2f}  (promised: at most 2000)"
        )
        wall = evaluate(Path(name, "two"), f"--skill-case={CASE}", "--skill-repeats=30", "--skill-random-seed=1", "-n", "2")
        two = records(Path(name, "two"))
        starts = [datetime.fromisoformat(str(record["started_at"])).timestamp() for record in two]
        ends = [start + float(str(record["seconds"])) for start, record in zip(starts, two, strict=True)]
        rate = 60 * len(two) / (max(ends) - min(starts))
        print(
            f"-n 2                              {rate:.0f} runs a minute over {len(two)} runs (promised: at least 60); session {wall:.0f} s"
        )
