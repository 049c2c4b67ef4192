"""An evaluation from pytest's session start to its end: hooks of the controller (or the only process) and of a worker."""

from __future__ import annotations

import os
import traceback
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING

import pytest

from pytest_skilleval.core.errors import SandboxError, UsageProblem
from pytest_skilleval.options import SANDBOX
from pytest_skilleval.session import EVALUATION, PLANNED, say
from pytest_skilleval.session.beginning import on_controller, on_worker
from pytest_skilleval.session.control import sweep
from pytest_skilleval.session.distribution import INPUT, Distribution, hand_out_singly, is_distributed
from pytest_skilleval.session.evaluation import Evaluation
from pytest_skilleval.session.interrupts import watch
from pytest_skilleval.session.looking import Looking
from pytest_skilleval.session.models import open_gateway
from pytest_skilleval.session.outcomes import summary_in
from pytest_skilleval.session.run_zero import run_zero

if TYPE_CHECKING:
    from pytest_skilleval.core.plan import Row
    from pytest_skilleval.gateway.server import GatewayServer
    from pytest_skilleval.session.conclusion import Conclusion
    from pytest_skilleval.session.planned import Planned

CLOSING_SECONDS = 60.0
"""How long an interrupted controller waits for its workers to close their sandboxes before xdist ends them."""


def start(config: pytest.Config) -> None:
    """Begin the evaluation of this process, or nothing but its plan."""
    told = getattr(config, "workerinput", {}).get(INPUT)
    if told is not None:
        evaluation = on_worker(config, told)
        _enter(config, evaluation.planned, evaluation, Worker(evaluation))
        return
    found = on_controller(config)
    if isinstance(found, Evaluation):
        _enter(config, found.planned, found, Controller(found))
    else:
        _enter(config, found, None, None)


def _enter(config: pytest.Config, planned: Planned, evaluation: Evaluation | None, hooks: object) -> None:
    config.stash[PLANNED] = planned
    if not config.getoption("file_or_dir"):
        config.args[:] = [str(path) for path in planned.files.values()]
    if evaluation is None:
        return
    config.stash[EVALUATION] = evaluation
    config.pluginmanager.register(hooks, "skilleval-evaluation")
    evaluation.interrupts.install()


class Controller:
    """Hooks of the process that owns the evaluation."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation, self._config = evaluation, evaluation.config
        self._distributed = is_distributed(self._config)
        self._looking = Looking(evaluation)
        self._gateway = self._open_gateway()
        if self._distributed:
            hand_out_singly(self._config)
            self._config.pluginmanager.register(Distribution(evaluation, self._begin, self._looking.give_up), "skilleval-distribution")

    def _open_gateway(self) -> GatewayServer | None:
        """Before any worker exists: the way of all agents to their models."""
        evaluation = self._evaluation
        try:
            gateway = open_gateway(evaluation.plan, evaluation.ledger, evaluation.control.folder)
        except UsageProblem as problem:
            evaluation.control.remove()
            raise pytest.UsageError(str(problem)) from None
        evaluation.gateway = gateway.control if gateway else None
        return gateway

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Here, after every other hook, the order is restored and the selection known."""
        self._evaluation.planned.sort(session.items)
        if not session.testsfailed:
            self._begin(self._evaluation.planned.rows_of(session.items))

    def _begin(self, rows: Sequence[Row]) -> None:
        """The selection is known and nothing runs yet: prepare the sandboxes, make the folders, say what will happen."""
        if not rows:
            return
        evaluation, config = self._evaluation, self._config
        self._prepare()
        try:
            run_zero(evaluation, rows)
            evaluation.begin(rows, tuple(config.getoption("file_or_dir")))
        except UsageProblem as problem:
            raise pytest.UsageError(str(problem)) from None
        self._looking.begin()
        folders = {skill: archive.folder for skill, archive in evaluation.archives.items()}
        config.hook.pytest_skilleval_begin(config=config, plan=evaluation.plan, folders=folders)

    def _prepare(self) -> None:
        """Remove what dead sessions left, and build what every sandbox needs."""
        backend = self._evaluation.backend
        try:
            for name in (*sweep(), *backend.reap()):
                say(self._config, f"skilleval: removed {name}, left by a session that died")
            backend.warm(lambda text: say(self._config, f"skilleval: {text}"))
        except SandboxError as error:
            raise pytest.UsageError(f"{SANDBOX.flag}: {backend.name} can't be made ready: {error}") from None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Money that went past the gateway is booked (simulated runs cost none), and a planned look may end the session."""
        found = summary_in(report.user_properties)
        row = self._evaluation.planned.row_at(report.nodeid)
        if row is not None and report.when not in ("setup", "call"):
            self._looking.finished(row)
        if report.when == "teardown" and found and not found["simulated"]:
            folder = self._evaluation.archives[found["skill"]].folder
            self._evaluation.ledger.told(f"{folder}/{found['run']}", found["cost_usd"] or 0.0)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> Generator[None, object, object]:
        """Score and report what was recorded, when workers and fixtures are done; set the exit code."""
        if exitstatus == pytest.ExitCode.INTERRUPTED:
            self._evaluation.interrupts.stop("the session was stopped")
            self._evaluation.control.wait_until_idle(CLOSING_SECONDS)
        result = yield
        stopped_early = bool(session.shouldstop or session.shouldfail)
        conclusion = self._conclude(int(exitstatus), stopped_early=stopped_early)
        self._evaluation.conclusion = conclusion
        session.exitstatus = conclusion.code
        return result

    def _conclude(self, status: int, *, stopped_early: bool) -> Conclusion:
        from pytest_skilleval.session.conclusion import FAILED, INTERNAL, Conclusion, conclude  # loads the statistics

        folders = " ".join(str(archive.folder) for archive in self._evaluation.archives.values())
        kept = f"the runs that were recorded are kept, see them with `skilleval report {folders}`"
        try:
            return conclude(self._evaluation, status, stopped_early=stopped_early)
        except OSError as error:
            return Conclusion(FAILED, f"the report can't be written ({error.strerror}): make room; {kept}")
        except Exception as error:  # raised here, it would hide which runs were measured, and the exit code
            say(self._config, "", *traceback.format_exc().splitlines())
            return Conclusion(INTERNAL, f"no report could be made ({error}); {kept}")

    def pytest_unconfigure(self) -> None:
        """Leave nothing behind."""
        if self._gateway is not None:
            self._gateway.__exit__(None, None, None)
        self._evaluation.interrupts.restore()
        self._evaluation.control.remove()


class Worker:
    """Hooks of a worker: it makes the runs that it is given, and nothing more once the controller says so or is gone."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation
        self._parent = os.getppid()
        self._watch = watch(self._is_over, evaluation.interrupts.stop)

    def _is_over(self) -> str | None:
        if os.getppid() != self._parent:
            return "the controller died"
        stop = self._evaluation.control.stopped()
        return stop.reason if stop and stop.kind == "interrupt" else None

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """The same order in every process."""
        self._evaluation.planned.sort(session.items)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self) -> Generator[None, object, object]:
        """The controller removes the shared folder; without one, whoever is left does (and xdist can't say good-bye then)."""
        if os.getppid() != self._parent:
            self._evaluation.control.remove()
        return (yield)

    def pytest_unconfigure(self) -> None:
        """Leave nothing behind."""
        self._watch.set()
        self._evaluation.interrupts.restore()
