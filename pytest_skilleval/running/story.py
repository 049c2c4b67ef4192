"""The way a run goes, told once: sandbox, arm, seed, baseline, turns, provenance, teardown, record."""

from __future__ import annotations

import contextlib
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pytest_skilleval.archive import SESSION
from pytest_skilleval.core import declared
from pytest_skilleval.core.arms import unpacked
from pytest_skilleval.core.choosing import SCRIPTED
from pytest_skilleval.core.errors import (
    AgentApiError,
    AgentApiRefusal,
    AgentCrash,
    ArmError,
    HarnessError,
    IdleTimeout,
    NothingThere,
    RunError,
    SandboxError,
    SeedError,
)
from pytest_skilleval.core.ports import Sandbox
from pytest_skilleval.core.record import Attempt, RunRecord
from pytest_skilleval.gateway import reading
from pytest_skilleval.running import arming
from pytest_skilleval.running.conversation import Conversation
from pytest_skilleval.running.door import ModelDoor
from pytest_skilleval.running.preparing import open_seeded, verify
from pytest_skilleval.running.provenance import agent_version, of_run, recorded_version

if TYPE_CHECKING:
    from pytest_skilleval.archive import RunFolder
    from pytest_skilleval.running.job import Job

RETRIES: dict[type[RunError], int] = {SandboxError: 1, SeedError: 1, ArmError: 1, AgentApiError: 2}
"""How often a run is tried again, by the kind of failure; all others not at all: a milder try would take the place of what an agent did."""


def run_one(job: Job) -> RunRecord:
    """Make one run and record it; tried again where the failure's kind allows.

    Returns the record as written to ``run.json``. Raises nothing for a run that could not be measured (the record
    says so), KeyboardInterrupt when the session is being stopped (nothing is recorded then).
    """
    attempts: list[Attempt] = []
    while True:
        job.cancellation.check()
        job = replace(job, mask=job.mask.anew())
        folder = replace(job.archive.run(job.row.run_id), mask=job.mask)
        folder.begin()
        record, error = _try(job, folder, tuple(attempts))
        if error is None or not _may_be_tried_again(error, folder, len(attempts)):
            folder.finish(record)
            return record
        attempts.append(Attempt(number=len(attempts) + 1, blame=error.blame, detail=job.mask.text(str(error))))


def _may_be_tried_again(error: RunError, folder: RunFolder, earlier: int) -> bool:
    """A sandbox that is lost once the agent has begun may be the agent's own doing.

    A second, milder try in its place would hide the worst that an agent does, so there is none: the run stays lost.
    """
    if isinstance(error, SandboxError) and any(path.stat().st_size for path in folder.path.glob("turn-*/stdout.jsonl")):
        return False
    return earlier < RETRIES.get(type(error), 0)


def _try(job: Job, folder: RunFolder, attempts: tuple[Attempt, ...]) -> tuple[RunRecord, RunError | None]:
    """One try: its record, and the error when it could not be measured."""
    attempt = _Attempt(job, folder, len(attempts) + 1)
    error: RunError | None = None
    try:
        attempt.go()
    except Exception as failure:
        job.cancellation.check()  # a sandbox that was killed under our hands is no failure of anything
        error = failure if isinstance(failure, RunError) else _our_fault(folder, failure)
        if isinstance(error, (AgentApiError, AgentCrash, IdleTimeout)):
            error = attempt.unpaid() or error
    finally:
        attempt.close(failed=error is not None)
    return attempt.record(error, attempts), error


def _our_fault(folder: RunFolder, failure: Exception) -> HarnessError:
    """Anything unforeseen is the harness' own failure: the session goes on, the traceback is kept beside the run."""
    with contextlib.suppress(OSError):
        folder.keep("traceback.txt", "".join(traceback.format_exception(failure)).encode("utf-8", "backslashreplace"))
    return HarnessError(f"{type(failure).__name__}: {failure} (see traceback.txt in the run's folder)")


class _Attempt:
    """The parts of one try that outlive its phases."""

    def __init__(self, job: Job, folder: RunFolder, number: int) -> None:
        self.job, self.folder, self.number = job, folder, number
        self.started_at, self.started = datetime.now(UTC), time.monotonic()
        self.phases: dict[str, float] = {}
        self.sandbox: Sandbox | None = None
        self.door: ModelDoor | None = None
        self.talk: Conversation | None = None
        self.provenance: dict[str, str] = {}
        self.warnings: list[str] = []

    def go(self) -> None:
        """All phases but teardown and record."""
        job = self.job
        with self._phase("sandbox"):
            self.sandbox = sandbox = open_seeded(job)
            job.cancellation.attach(sandbox)
        with self._phase("arm"):
            self._open_door(sandbox)
            armed = arming.install(sandbox, job, self.door.door if self.door else None)
            self.folder.write(declared.FILE, armed.declared)
            self.provenance = of_run(job, sandbox, armed)
        with self._phase("snapshot"):
            baseline = sandbox.state()
            sandbox.mark()
            began = time.monotonic()
            self.folder.write("baseline.json", baseline)
            if job.seed:
                verify(baseline, job.seed.makes, job.loaded.spec)
        self.talk = Conversation(job, sandbox, armed, self.folder, baseline, began, [], [], self.door)
        try:
            with self._phase("agent"):
                self.talk.hold()
        finally:
            self._keep_evidence(sandbox)
        if unpaid := self.unpaid():
            raise unpaid
        with self._phase("check"):
            if self.door:
                self.warnings += arming.check_first_request(reading.first_shown(self.door.records), job, armed)
            arming.check(sandbox, job, armed)

    def unpaid(self) -> AgentApiRefusal | None:
        """The session's money was spent in the middle of the run: whatever the agent made of that is no measurement of it."""
        cut = self.talk is not None and bool(self.talk.records) and self.talk.records[-1].cut  # it was decided before
        why = reading.unpaid(self.door.records) if self.door and not cut else None
        return AgentApiRefusal(f"stopped in its middle: {why}; go on with --skill-resume and a higher --skill-max-cost") if why else None

    def _open_door(self, sandbox: Sandbox) -> None:
        """Give an agent that asks a model its way to the gateway."""
        if self.job.gateway and not self.job.agent.simulated:
            self.door = ModelDoor(self.job, self.folder, self.number, self.job.gateway)
            self.door.lead_from(sandbox)

    def _keep_evidence(self, sandbox: Sandbox) -> None:
        """Events, validators and the CLI's own session record, also of a run that failed."""
        assert self.talk is not None
        if self.job.cancellation.cancelled:
            return
        self._close_door()
        self.folder.write_lines("events.jsonl", sandbox.events())
        self.folder.write("validators.json", self.talk.validators)
        for name in self.job.agent.session_folders:
            _fetch(sandbox, f"{sandbox.home}/{name}", self.folder)
        self.provenance["agent.version"] = recorded_version(self.job, self.folder) or agent_version(self.job, sandbox)

    def _close_door(self) -> None:
        if self.door:
            self.door.close()
            self.provenance |= self.door.provenance()

    def close(self, *, failed: bool) -> None:
        """Shut the door and remove the sandbox, unless it is to be kept for a look inside."""
        with contextlib.suppress(HarnessError):  # a gateway that is gone has closed its doors itself
            self._close_door()
        if self.sandbox is None:
            return
        keep = self.job.options.keep_sandbox
        if (keep == "always" or (keep == "failed" and failed)) and not self.job.cancellation.cancelled:
            self.warnings.append(f"sandbox {self.sandbox.name} is kept; remove it with `skilleval reap`")
            return
        try:
            with self._phase("teardown"):
                self.sandbox.close()
        except SandboxError as error:
            self.warnings.append(f"the sandbox could not be removed: {error}")
        finally:
            self.job.cancellation.detach(self.sandbox)

    def record(self, error: RunError | None, attempts: tuple[Attempt, ...]) -> RunRecord:
        """What ``run.json`` says."""
        return RunRecord(
            row=self.job.row,
            status="scored" if error is None else "void" if isinstance(error, ArmError) else "error",
            blame=error.blame if error else None,
            detail=self.job.mask.text(str(error)) if error else "",
            simulated=self.job.agent.simulated or self.job.row.model == SCRIPTED,
            started_at=self.started_at.isoformat(timespec="milliseconds"),
            seconds=round(time.monotonic() - self.started, 4),
            phases=self.phases,
            turns=tuple(self.talk.records) if self.talk else (),
            attempts=attempts,
            provenance=self.provenance,
            warnings=(*self.warnings, *(self.talk.warnings if self.talk else ())),
            masked_secrets=self.job.mask.count,
        )

    @contextmanager
    def _phase(self, name: str) -> Iterator[None]:
        began = time.monotonic()
        try:
            yield
        finally:
            self.phases[name] = round(time.monotonic() - began, 4)


def _fetch(sandbox: Sandbox, path: str, folder: RunFolder) -> None:
    """Keep a folder of the sandbox below ``session``; a missing one is nothing to keep."""
    with contextlib.suppress(NothingThere):
        for file in unpacked(sandbox.get(path)):
            folder.keep(f"{SESSION}/{file.path}", file.content)
