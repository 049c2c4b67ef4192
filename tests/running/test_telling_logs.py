"""The logs of seeded containers, which an agent can read, are searched for give-away words."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from pytest_skilleval.core.errors import SeedError
from pytest_skilleval.core.ports import Command, ExecResult
from pytest_skilleval.core.spec import Spec
from pytest_skilleval.running.preparing import LOG_BYTES, refuse_telling_logs

SPEC = Spec.model_validate(
    {"skill": "tidy-up", "arms": {"with": {"role": "treatment"}}, "cases": [{"id": "a", "kind": "trigger"}]}, strict=False
)


class Machine:
    """Runs commands here, with a stand-in for docker whose containers' logs are files."""

    def __init__(self, folder: Path) -> None:
        self.logs = folder / "logs"
        self.logs.mkdir()
        self.calls = 0
        docker = folder / "docker"
        docker.write_text(f'#!/bin/sh\ncd {self.logs} || exit 1\nif [ "$1" = ps ]; then ls; else cat "$2" >&2; fi\n')
        docker.chmod(0o755)
        self.path = f"{folder}:{os.environ['PATH']}"

    def exec(self, command: Command, *, timeout: float) -> ExecResult:
        """Run one command."""
        self.calls += 1
        done = subprocess.run(command.argv, capture_output=True, timeout=timeout, check=False, env={"PATH": self.path})
        return ExecResult(exit_code=done.returncode, stdout=done.stdout, stderr=done.stderr, seconds=0.0)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine without containers."""
    return Machine(tmp_path)


def test_words_that_tell_are_an_error_of_the_seed(machine: Any) -> None:
    """Each container whose log tells is named with the words, whatever stream it wrote to; the others are not."""
    (machine.logs / "db").write_bytes(b"ready\n\0running the fixture\n")
    (machine.logs / "latest").write_text("latest contest\n")
    (machine.logs / "web").write_text("serving\nThis is a test of tidy-up\n")
    with pytest.raises(SeedError) as told:
        refuse_telling_logs(machine, SPEC)
    assert str(told.value).endswith("log other words: db (fixture); web (test, tidy up)")
    assert machine.calls == 1


def test_as_much_as_an_agent_would_read(machine: Any) -> None:
    """Logs are read as far as the limit and no further; no containers are no fault."""
    refuse_telling_logs(machine, SPEC)
    (machine.logs / "db").write_text("x" * LOG_BYTES + " test\n")
    refuse_telling_logs(machine, SPEC)
    (machine.logs / "db").write_text("x" * (LOG_BYTES - 6) + " test\n")
    with pytest.raises(SeedError):
        refuse_telling_logs(machine, SPEC)


def test_logs_that_can_not_be_read(machine: Any) -> None:
    """An engine that does not answer is told with what it said."""
    machine.logs.rmdir()
    with pytest.raises(SeedError, match="can't be read"):
        refuse_telling_logs(machine, SPEC)
