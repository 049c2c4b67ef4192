"""Signals and sudden deaths: every run that is open is closed, nothing more is started, recorded runs are kept."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.heeding import heed_signals


class Session:
    """An evaluation in a process group of its own."""

    def __init__(self, project, *args: str) -> None:
        self.project = project
        command = [sys.executable, "-m", "pytest", "-p", "no:randomly", "-p", "no:cacheprovider", "-p", "no:hypothesispytest"]
        command += ["--skill-eval=tidy-up", "--skill-agent=scripted", "--skill-sandbox=none", *args]
        environment = {**os.environ, "TMPDIR": str(project.path / "tmp")}
        (project.path / "tmp").mkdir()
        with (project.path / "out.txt").open("wb") as out:
            self.process = subprocess.Popen(
                command, cwd=project.path, stdout=out, stderr=out, env=environment, start_new_session=True, preexec_fn=heed_signals
            )

    def wait_for(self, runs: int) -> None:
        """Until so many runs have begun."""
        deadline = time.monotonic() + 60
        while len(self.project.opened()) < runs:
            assert time.monotonic() < deadline, self.output()
            assert self.process.poll() is None, self.output()
            time.sleep(0.05)

    def end(self) -> int:
        """The exit code, once the session has ended."""
        try:
            return self.process.wait(60)
        finally:
            if self.process.poll() is None:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait(10)

    def output(self) -> str:
        """What was printed so far."""
        return (self.project.path / "out.txt").read_text()


def assert_all_closed(project) -> None:
    """Every run that began was closed, by the process that began it."""
    diary = project.diary()
    assert sorted(line[1:] for line in diary if line[0] == "open") == sorted(line[1:] for line in diary if line[0] == "close")


def report(project) -> dict[str, object]:
    """What report.json says."""
    return json.loads((project.results() / "report.json").read_text())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_without_workers(project, number):
    """A signal closes the open run, keeps the recorded ones, reports them as partial, and exits 2."""
    project.spec()
    project.behaves({"*.r1": "hang"})
    session = Session(project)
    first_hang = next(place for place, row in enumerate(order(project), start=1) if row.endswith("r1"))
    session.wait_for(first_hang)
    session.process.send_signal(number)
    assert session.end() == 2
    assert_all_closed(project)
    assert len(project.opened()) == first_hang
    assert report(project)["partial"] is True
    assert len(report(project)["runs"]) == first_hang - 1
    assert f"Exit 2: interrupted ({signal.Signals(number).name})" in session.output()
    assert not list((project.path / "tmp").glob("skilleval-*"))


def order(project) -> list[str]:
    """The plan's order, made in this process."""
    from pytest_skilleval.core.loading import load_spec
    from pytest_skilleval.core.planning import Request, make_plan

    loaded = load_spec(project.path / "specs/tidy-up/spec.yaml")
    return [row.run_id for row in make_plan([loaded], Request(agents=("scripted",))).rows]


def test_ctrl_c_twice(project):
    """A second Ctrl-C does not break off the closing of sandboxes that the first began."""
    project.spec()
    project.behaves({"*": "hang"})
    project.conftest(
        """
        def pytest_skilleval_runner():
            def slow_to_close(job):
                try:
                    return run(job)
                finally:
                    time.sleep(1)
                    note("closed at last", job)
            return slow_to_close
        """
    )
    session = Session(project)
    session.wait_for(1)
    session.process.send_signal(signal.SIGINT)
    time.sleep(0.4)
    session.process.send_signal(signal.SIGINT)
    assert session.end() == 2
    assert "closed at last" in (project.path / "diary.txt").read_text()
    assert "sandboxes are being closed, please wait" in session.output()


@pytest.mark.parametrize("whom", ["controller", "group"])
def test_ctrl_c_with_workers(project, whom):
    """Ctrl-C, to the controller alone or to all, starts not one run more and closes those that are open."""
    project.spec()
    project.behaves({"*": "hang"})
    session = Session(project, "-n", "2")
    session.wait_for(2)
    if whom == "group":
        os.killpg(session.process.pid, signal.SIGINT)
    else:
        session.process.send_signal(signal.SIGINT)
    assert session.end() == 2
    assert len(project.opened()) == 2
    assert_all_closed(project)
    assert not list(Path(project.results() / "runs").glob("*/run.json"))
    assert "Exit 2: interrupted (SIGINT)" in session.output()
    assert not list((project.path / "tmp").glob("skilleval-*"))


def test_death_of_the_controller(project):
    """When the controller is killed, workers close their runs, start nothing more, and end."""
    project.spec()
    project.behaves({"*": "hang"})
    session = Session(project, "-n", "2")
    session.wait_for(2)
    workers = {int(line[2]) for line in project.diary()}
    session.process.kill()
    session.process.wait(10)
    deadline = time.monotonic() + 30
    while any(Path(f"/proc/{worker}/cmdline").exists() and Path(f"/proc/{worker}/cmdline").read_bytes() for worker in workers):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert len(project.opened()) == 2
    assert_all_closed(project)
    assert not list((project.path / "tmp").glob("skilleval-*"))


def test_a_worker_that_is_interrupted_alone(project):
    """SIGTERM to one worker ends the session: its run is not recorded as lost, since it was never finished."""
    project.spec()
    project.behaves({"*": "hang"})
    session = Session(project, "-n", "2")
    session.wait_for(2)
    os.kill(int(project.diary()[0][2]), signal.SIGTERM)
    assert session.end() == 2
    assert_all_closed(project)
    assert not list(Path(project.results() / "runs").glob("*/run.json"))
