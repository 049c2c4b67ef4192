"""Hooks of this plugin: for projects that bring their own sandboxes, or their own way to make a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_skilleval.core.plan import Plan
    from pytest_skilleval.core.ports import Backend
    from pytest_skilleval.core.record import RunRecord
    from pytest_skilleval.running import Job

    Runner = Callable[[Job], RunRecord]


@pytest.hookspec(firstresult=True)
def pytest_skilleval_backend(config: pytest.Config, name: str) -> Backend | None:
    """Give the sandbox backend called `name` (``--skill-sandbox``), or None to leave it to others.

    Called on the controller and on every worker.

    ::

        def pytest_skilleval_backend(config, name):
            return MyBackend() if name == "mine" else None
    """


@pytest.hookspec(firstresult=True)
def pytest_skilleval_runner(config: pytest.Config) -> Runner | None:
    """Give the function that makes one run: Job in, RunRecord out; None: the plugin's own.

    It must leave the run's files and its record in ``job.archive.run(job.row.run_id)``, close all that it opens,
    and raise KeyboardInterrupt (with nothing recorded) once ``job.cancellation.cancelled`` is true.

    ::

        def pytest_skilleval_runner(config):
            from pytest_skilleval.running import run_one

            def timed(job):
                started = time.monotonic()
                try:
                    return run_one(job)
                finally:
                    print(job.row.run_id, time.monotonic() - started)

            return timed
    """


def pytest_skilleval_begin(config: pytest.Config, plan: Plan, folders: Mapping[str, Path]) -> None:
    """The plan and its selected rows are final, sandboxes can be made, results folders exist, and no run has started.

    Called once, on the controller; `folders` are the results folders by skill.

    ::

        def pytest_skilleval_begin(plan, folders):
            print(len(plan.selected), "runs into", *folders.values())
    """
