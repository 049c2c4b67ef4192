"""Copied into generated projects as their conftest.py: a backend and a runner that need no Docker.

What a run does is read from ``behaviour.json`` beside it: patterns of run ids -> pass | fail | undecided | void | blame:NAME |
crash | bug | full | hang | slow. Every run appends a line to ``diary.txt`` when it opens and when it closes.
"""

from __future__ import annotations

import errno
import fnmatch
import json
import os
import time
from pathlib import Path

HERE = Path(__file__).parent


class NoBackend:
    """A sandbox backend that never makes a sandbox."""

    name = "none"
    can_restore = False

    def probe(self):
        """Always there."""
        from pytest_skilleval.core.ports import Probe

        return Probe(available=True, reason="stand-in", limits=("it isolates nothing",))

    def reap(self):
        """Nothing was left."""
        return ()

    def blueprint(self, request):
        """Told, and nothing made."""
        from pytest_skilleval.core.ports import Blueprint

        return Blueprint(commands=("make-nothing --for-nobody",))

    def warm(self, report):
        """Nothing to build."""
        report("warmed up")


def pytest_skilleval_backend(name):
    """Answer to --skill-sandbox=none."""
    return NoBackend() if name == "none" else None


def pytest_skilleval_runner():
    """Make runs without any sandbox."""
    return run


def behaviour(run_id):
    """What this run is to do."""
    rules = json.loads((HERE / "behaviour.json").read_text())
    return next((what for pattern, what in rules.items() if fnmatch.fnmatchcase(run_id, pattern)), "pass")


def note(what, job):
    """Write a line into the diary."""
    with (HERE / "diary.txt").open("a") as diary:
        diary.write(f"{what} {job.row.run_id} {os.getpid()}\n")


def run(job):
    """Make one run."""
    note("open", job)
    try:
        return play(job, behaviour(job.row.run_id))
    finally:
        note("close", job)


def play(job, what):
    """Do what is to be done, and record it as the real runner does."""
    from pytest_skilleval.core.record import RunRecord, TurnRecord
    from pytest_skilleval.core.snapshot import DockerState

    if what == "crash":
        os._exit(70)
    if what == "bug":
        raise ZeroDivisionError("a bug in the runner")
    if what == "full":
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    deadline = time.monotonic() + {"hang": 60, "slow": 0.1}.get(what, 0)
    while time.monotonic() < deadline:
        job.cancellation.check()
        time.sleep(0.01)
    folder = job.archive.run(job.row.run_id)
    folder.begin()
    status, blame = "scored", None
    if what == "void":
        status, blame = "void", "arm"
    if what.startswith("blame:"):
        status, blame = "error", what.removeprefix("blame:")
    if status == "scored":
        reply = {"fail": "no"}.get(what, "yes")
        folder.write("baseline.json", DockerState())
        turn = folder.turn(1)
        (turn / "prompt.txt").write_text("x")
        (turn / "stderr.txt").write_text("")
        folder.write("turn-1/snapshot.json", DockerState())
        lines = [{"type": "session", "session": "s", "model": "m"}, {"type": "done", "reply": reply, "usage": {"input": 5, "output": 5}}]
        (turn / "stdout.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    record = RunRecord(
        row=job.row,
        status=status,
        blame=blame,
        detail="made up" if blame else "",
        simulated=True,
        turns=(TurnRecord(number=1, exit_code=0, seconds=0.1, started=0.0),) if status == "scored" else (),
        warnings=("the sandbox could not be removed",) if what == "messy" else (),
    )
    folder.finish(record)
    return record
