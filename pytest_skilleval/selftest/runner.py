"""How the runs of a standard's project are made: as any run, but the scripted model plays by chance instead of the rehearsals.

The project's ``conftest.py`` brings this hook in; nothing else of the plugin is told that it is a self-test.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from pytest_skilleval.core.record import RunRecord
from pytest_skilleval.running import Job, run_one
from pytest_skilleval.selftest.project import read_project


class Config(Protocol):
    """What is asked of pytest's configuration."""

    @property
    def rootpath(self) -> Path:
        """The project's folder."""
        ...


def pytest_skilleval_runner(config: Config) -> Callable[[Job], RunRecord]:
    """The hook (see hookspecs)."""
    chances = read_project(config.rootpath)
    return lambda job: run_one(replace(job, script=chances.script(job.row)))
