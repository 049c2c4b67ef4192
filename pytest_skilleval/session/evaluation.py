"""One evaluation as one process sees it: the plan, the specs, where results go, and how it is stopped."""

from __future__ import annotations

import errno
import os
import shutil
import traceback
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import msgspec
import pytest

from pytest_skilleval.archive import PLAN, PRICES, PROVENANCE, SPEC, Archive
from pytest_skilleval.core.errors import UsageProblem
from pytest_skilleval.core.loading import load_spec
from pytest_skilleval.core.plan import Row
from pytest_skilleval.core.prices import Prices, shipped
from pytest_skilleval.core.record import RunRecord
from pytest_skilleval.gateway.limits import Ledger
from pytest_skilleval.options import RESULTS
from pytest_skilleval.rescoring import record_spec
from pytest_skilleval.running import Cancellation, RunOptions
from pytest_skilleval.session import request
from pytest_skilleval.session.control import Control, Stop
from pytest_skilleval.session.interrupts import Interrupts
from pytest_skilleval.session.looking import held_back
from pytest_skilleval.session.models import is_live, secret_mask
from pytest_skilleval.session.planned import Planned
from pytest_skilleval.session.provenance import provenance_of
from pytest_skilleval.session.readiness import Place
from pytest_skilleval.session.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_skilleval.core.credentials import Masking
    from pytest_skilleval.core.loaded import LoadedSpec
    from pytest_skilleval.core.ports import Backend
    from pytest_skilleval.hookspecs import Runner
    from pytest_skilleval.running import Job
    from pytest_skilleval.session.conclusion import Conclusion


UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
"""What an error of the operating system says when the results folder takes no more."""


class WorkerInput(TypedDict):
    """What the controller tells each worker; plain types."""

    plan: str
    files: dict[str, str]
    backend: str
    control: str
    gateway: str | None


@dataclass(kw_only=True)
class Evaluation:
    """The evaluation of this process (the controller's, which is also the only one without xdist, or a worker's).

    `specs` holds what was loaded so far, by skill; workers load what they collect.
    """

    config: pytest.Config
    settings: Settings
    planned: Planned
    control: Control
    is_worker: bool
    backend: Backend
    place: Place | None = None
    gateway: str | None = None
    """Control socket of the gateway; None: no agent asks a model."""
    specs: dict[str, LoadedSpec] = field(default_factory=dict)
    archives: dict[str, Archive] = field(default_factory=dict)
    cancellation: Cancellation = field(default_factory=Cancellation)
    prices: Prices = field(default_factory=shipped)
    conclusion: Conclusion | None = None
    """Known at the end of the session, on the controller."""

    def __post_init__(self) -> None:
        self.plan = self.planned.plan
        self.environ = dict(os.environ)
        self.interrupts = Interrupts(self._stop)
        self.ledger = Ledger(
            self.settings.max_cost, prices=self.prices, when_spent=lambda reason: self.control.stop(Stop("budget", reason))
        )
        """Kept on the controller; a worker's has no entries."""

    def _stop(self, reason: str) -> None:
        """Nothing more is started and what runs is killed: in this process, and from the controller in all."""
        if not self.is_worker:
            self.control.stop(Stop("interrupt", reason))
        self.cancellation.cancel()

    def spec(self, skill: str) -> LoadedSpec:
        """The loaded spec of `skill`; UsageProblem when it is no longer what the plan was made from."""
        if skill not in self.specs:
            file = self.planned.files[skill]
            loaded = self.planned.specs.get(file) or load_spec(file)
            if loaded.text_hash != self.plan.locks[skill]:
                raise UsageProblem(f"{file}: changed while the session ran; start again")
            self.specs[skill] = loaded
        return self.specs[skill]

    def mask(self, row: Row) -> Masking:
        """What removes secrets from what is recorded of this row's run."""
        return secret_mask(self.environ, self.settings.credentials, self.spec(row.skill), row)

    def archive(self, skill: str) -> Archive:
        """Where the runs of `skill` are recorded; known once the first run may start."""
        if not self.archives:
            self.archives = {name: Archive.open(folder) for name, folder in self.control.published().items()}
        return self.archives[skill]

    @property
    def live(self) -> bool:
        """Whether real agents run."""
        return any(is_live(row) for row in self.plan.selected)

    @property
    def workers(self) -> int:
        """How many runs go on at the same time."""
        return max(1, len(self.config.getoption("tx", None) or ()))

    @property
    def run_options(self) -> RunOptions:
        """The settings that a run obeys."""
        return RunOptions(
            turn_timeout=self.settings.turn_timeout,
            run_timeout=self.settings.run_timeout,
            keep_sandbox=self.settings.keep_sandbox,
            random_seed=self.plan.random_seed,
        )

    def run(self, job: Job, runner: Runner) -> RunRecord | None:
        """Make one run; None when it is not to be started (see `why_not_started`). What goes wrong in the runner is our own fault.

        Raises
        ------
        KeyboardInterrupt
            The session is being stopped; the run left nothing open and, unless it had ended before, no record.
        """
        if self.interrupts.received:
            raise KeyboardInterrupt
        if held_back(job.row, self.plan, self.control, may_wait=self.is_worker):
            return None
        with self.interrupts.guard(), self.control.busy():
            stop = self.control.stopped()
            if stop and stop.kind == "interrupt":
                raise KeyboardInterrupt
            if stop:
                return None
            try:
                return runner(job)
            except Exception as error:  # one run's bug must not cost the session, and must be seen
                if isinstance(error, OSError) and error.errno in UNWRITABLE:
                    return self.record_loss(job.row, _unwritable(job.archive.folder, error))
                return self.record_loss(job.row, traceback.format_exc(limit=-6))

    def why_not_started(self) -> str:
        """Why `run` made nothing."""
        stop = self.control.stopped()
        return stop.reason if stop else "a planned look ended the session"

    def record_loss(self, row: Row, detail: str) -> RunRecord:
        """Record a run that was lost by our own fault; a record that is there already stands."""
        folder = self.archive(row.skill).run(row.run_id)
        recorded = folder.record()
        if recorded is not None:
            return recorded
        loss = RunRecord(row=row, status="error", blame="harness", detail=detail, simulated=not is_live(row))
        with suppress(OSError):  # on a full disk, the plan's row without a record says the same
            folder.path.mkdir(parents=True, exist_ok=True)
            folder.finish(loss)
        return loss

    def begin(self, chosen: Iterable[Row], paths: tuple[str, ...]) -> None:
        """The selection is known: mark what was left out, make the results folders, write the plans. Controller only.

        Raises
        ------
        UsageProblem
            The results can't be written; nothing of this session is left there.
        """
        keys = {row.key for row in chosen} | self.planned.done
        self.plan = self.plan.keep(keys, request.left_out_by(self.config, paths))
        made: list[Archive] = []
        try:
            for skill in sorted({row.skill for row in self.plan.selected}):
                if skill not in self.archives:
                    self.archives[skill] = Archive.create(self.settings.results, skill)
                    made.append(self.archives[skill])
                    self.archives[skill].write(SPEC, record_spec(self.spec(skill)))
                    self.archives[skill].write(PROVENANCE, provenance_of(self))
                    self.archives[skill].write(PRICES, self.prices)
                self.archives[skill].write(PLAN, self.plan.of(skill))
        except OSError as error:
            self.archives.clear()
            for archive in made:
                shutil.rmtree(archive.folder, ignore_errors=True)
            raise UsageProblem(f"{RESULTS.flag}: {_unwritable(self.settings.results, error)}") from None
        self.control.publish({skill: archive.folder for skill, archive in self.archives.items()})

    def stop_at(self, skill: str, number: int, why: str) -> None:
        """A planned look ends the runs of `skill`: mark those beyond it, and write the plan again."""
        self.plan = self.plan.stop(skill, number, why)
        self.archives[skill].write(PLAN, self.plan.of(skill))

    def leave_out(self, keys: set[tuple[str, str]], reason: str) -> None:
        """Mark rows that were selected but never started, and write the plans again."""
        if not keys:
            return
        self.plan = self.plan.keep({row.key for row in self.plan.rows} - keys, reason)
        for skill, archive in self.archives.items():
            archive.write(PLAN, self.plan.of(skill))

    def for_worker(self) -> WorkerInput:
        """What a worker needs to make the same evaluation of it."""
        return {
            "plan": msgspec.json.encode(self.planned.plan).decode(),
            "files": {skill: str(path) for skill, path in self.planned.files.items()},
            "backend": self.backend.name,
            "control": str(self.control.folder),
            "gateway": self.gateway,
        }


def _unwritable(folder: Path, error: OSError) -> str:
    return f"can't write to {folder} ({error.strerror}); make room there, or name another folder with {RESULTS.flag}"
