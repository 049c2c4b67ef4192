"""pytest-xdist, when it is there: the only place that knows its hooks. Registered on the controller of a distributed session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pytest_skilleval.core.plan import Row
    from pytest_skilleval.session.evaluation import Evaluation

INPUT = "skilleval"
"""Our key in ``workerinput``."""


class Distribution:
    """Sends the plan to the workers, learns from them what pytest selected, and records the run of a worker that died."""

    def __init__(self, evaluation: Evaluation, begin: Callable[[Sequence[Row]], None], lost_worker: Callable[[], None]) -> None:
        self._evaluation, self._begin, self._lost_worker = evaluation, begin, lost_worker
        self._begun = False

    def pytest_configure_node(self, node: Any) -> None:
        """Before a worker starts: tell it the plan."""
        node.workerinput[INPUT] = self._evaluation.for_worker()

    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """Before the first run is handed out. All workers collect the same, else xdist ends the session."""
        if self._begun:
            return
        self._begun = True
        rows = [self._evaluation.planned.row_at(nodeid) for nodeid in ids]
        self._begin([row for row in rows if row is not None])

    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """A worker that was interrupted ends the session: the others stop, too. One that died leaves its runs to them."""
        if error is not None:
            self._lost_worker()
        if getattr(node, "workeroutput", {}).get("exitstatus") == pytest.ExitCode.INTERRUPTED:
            self._evaluation.interrupts.stop(f"worker {node.gateway.id} was interrupted")

    def pytest_handlecrashitem(self, crashitem: str, report: pytest.TestReport) -> None:
        """A worker is gone in the middle of a run. One that was interrupted said good-bye: its run was never finished, not lost."""
        row = self._evaluation.planned.row_at(crashitem)
        node = getattr(report, "node", None)
        if row is not None and not hasattr(node, "workeroutput"):
            self._evaluation.record_loss(row, f"{report.longrepr}; its sandbox is closed by its own guardian or by the next session")


def is_distributed(config: pytest.Config) -> bool:
    """Whether this process is the controller of workers."""
    return config.getoption("dist", "no") != "no" and config.pluginmanager.has_plugin("xdist")


def hand_out_singly(config: pytest.Config) -> None:
    """Let xdist hand out one run at a time, so that the plan's order holds; None of it without xdist."""
    if hasattr(config.option, "maxschedchunk"):
        config.option.maxschedchunk = 1
