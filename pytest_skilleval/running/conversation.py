"""The turns of a run: prompt, agent, snapshot, validators; every raw byte is on disk as soon as it is there."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from pytest_skilleval.archive import CLOCK
from pytest_skilleval.core.checks import turn_is_sent
from pytest_skilleval.core.credentials import Masking
from pytest_skilleval.core.errors import AgentApiError, AgentApiRefusal, AgentCrash, HarnessError, IdleTimeout, RunError, SandboxError
from pytest_skilleval.core.evidence import ValidatorResult
from pytest_skilleval.core.ports import AgentTurn, Command, ExecResult, Sandbox
from pytest_skilleval.core.record import TurnRecord
from pytest_skilleval.core.snapshot import DockerState
from pytest_skilleval.core.transcript import Failure, TurnTranscript
from pytest_skilleval.running.arming import Armed, check_offered
from pytest_skilleval.running.cutting import TriggerCut

if TYPE_CHECKING:
    from pytest_skilleval.archive import RunFolder
    from pytest_skilleval.core.spec import Check, Turn
    from pytest_skilleval.running.door import ModelDoor
    from pytest_skilleval.running.job import Job


@dataclass(slots=True)
class Conversation:
    """What has been said and done so far in one run."""

    job: Job
    sandbox: Sandbox
    armed: Armed
    folder: RunFolder
    baseline: DockerState
    began: float
    records: list[TurnRecord]
    validators: list[ValidatorResult]
    door: ModelDoor | None = None
    session_id: str | None = None
    version: str | None = None
    """Of the CLI, as it last told."""
    warnings: list[str] = field(default_factory=list)

    def hold(self) -> None:
        """Play all turns that are to be sent, then the ``final`` validators.

        Raises
        ------
        AgentApiError, AgentCrash, IdleTimeout, ArmError
            The turn could not be measured; what was recorded until then stays on disk.
        """
        state = self.baseline
        for number, turn in enumerate(self.job.case.all_turns, start=1):
            self.job.cancellation.check()
            if not turn_is_sent(turn, state, self.baseline):
                break
            state = self._take(number, turn)
            if self.records[-1].timed_out:
                break
        self._validate(None, self.job.case.final.checks)

    def _take(self, number: int, turn: Turn) -> DockerState:
        """One turn: drive the agent, look at what it did, run the turn's validators."""
        drawn = self.job.row.paraphrases[number - 1] if number <= len(self.job.row.paraphrases) else 0
        prompt = turn.paraphrases[drawn % len(turn.paraphrases)]
        place = self.folder.turn(number)
        (place / "prompt.txt").write_text(prompt, encoding="utf-8", newline="")
        started = time.monotonic()
        result, masked, cut = self._drive(number, prompt, place)
        self.records.append(
            TurnRecord(
                number=number,
                exit_code=result.exit_code,
                seconds=round(result.seconds, 4),
                started=round(started - self.began, 4),
                timed_out=result.timed_out,
                cut=cut,
                masked_secrets=masked,
            )
        )
        self.job.cancellation.check()
        transcript = self.job.agent.parse((place / "stdout.jsonl").read_bytes(), (place / "stderr.txt").read_bytes(), result.exit_code)
        state = self.sandbox.state()
        self.folder.write(f"turn-{number}/snapshot.json", state)
        if not cut:
            seen = self.door.failure() if self.door and (transcript.failure or result.timed_out) else None
            attribute(transcript, seen, timed_out=result.timed_out, exit_code=result.exit_code)
        check_offered(transcript, self.job, self.armed, number)
        self.session_id = transcript.session_id or self.session_id
        self.notice(transcript)
        self._validate(number, turn.checks)
        return state

    def notice(self, transcript: TurnTranscript) -> None:
        """A CLI that updates itself in the middle of a run is another agent from then on: that is a warning."""
        version = transcript.offered.cli_version
        if version and self.version and version != self.version:
            self.warnings.append(f"the agent updated itself in the middle of a run, from {self.version} to {version}")
        self.version = version or self.version

    def _drive(self, number: int, prompt: str, place: Path) -> tuple[ExecResult, int, bool]:
        """Run the agent CLI for one turn, its streams going to disk as they come.

        Returns how it ended, how many secrets were removed, and whether it was cut.
        """
        turn = AgentTurn(
            prompt=prompt,
            setup=self.armed.setup,
            session_id=self.session_id,
            number=number,
            script=json.dumps(script(self.job)).encode(),
        )
        left = self.job.run_timeout - (time.monotonic() - self.began)
        if self.door:
            self.door.begin_turn(number)
        with (place / "stdout.jsonl").open("wb") as stdout, (place / "stderr.txt").open("wb") as stderr:
            out, err = Sink(stdout, self.job.mask, lambda: time.monotonic() - self.began), Sink(stderr, self.job.mask)
            cut = TriggerCut(self.job, self.sandbox, self.baseline) if self.job.case.kind == "trigger" else None
            result = self.sandbox.exec(
                self.job.agent.command(turn),
                timeout=max(1.0, min(self.job.turn_timeout, left)),
                on_stdout=_both(out.write, cut.write) if cut else out.write,
                on_stderr=err.write,
            )
            if cut:
                cut.close()
            masked = out.close() + err.close()
        (place / CLOCK).write_text("".join(f"{at:.4f}\n" for at in out.times), encoding="ascii")
        return result, masked, bool(cut and cut.cut)

    def _validate(self, turn: int | None, checks: tuple[Check, ...]) -> None:
        """Run the validators among `checks` inside the sandbox and keep what they said."""
        for check in checks:
            if check.validator is None:
                continue
            command = Command(argv=("bash", "-c", check.validator.run))
            result = self.sandbox.exec(command, timeout=check.validator.timeout)
            self.job.cancellation.check()
            self.validators.append(
                ValidatorResult(
                    check=check.id,
                    turn=turn,
                    exit_code=result.exit_code,
                    output=(result.stdout + result.stderr).decode("utf-8", "replace")[:20_000],
                    timed_out=result.timed_out,
                )
            )


class Sink:
    """A file that a stream flows into, secrets removed on the way, also such as are split between two chunks.

    `times` tells when each line of the file was whole, by the `clock`.
    """

    def __init__(self, file: BinaryIO, mask: Masking, clock: Callable[[], float] = time.monotonic) -> None:
        self._file, self._mask, self._clock = file, mask.stream(), clock
        self.times: list[float] = []

    def write(self, chunk: bytes) -> None:
        """Take the next bytes; all but the end that may be the beginning of a secret is on disk afterwards."""
        self._put(self._mask(chunk))

    def close(self) -> int:
        """Write what is left; returns how many secrets were removed."""
        self._put(self._mask.flush())
        return self._mask.count

    def _put(self, chunk: bytes) -> None:
        self._file.write(chunk)
        self._file.flush()
        self.times += [self._clock()] * chunk.count(b"\n")


def _both(first: Callable[[bytes], None], second: Callable[[bytes], None]) -> Callable[[bytes], None]:
    """One stream into two sinks."""

    def write(chunk: bytes) -> None:
        first(chunk)
        second(chunk)

    return write


def attribute(transcript: TurnTranscript, seen: Failure | None, *, timed_out: bool, exit_code: int | None) -> None:
    """Raise the error that says whose fault it is when the turn could not be measured; else nothing.

    `seen` is what the gateway saw fail; it is firmer than the CLI's own word. A refusal and a time-out after
    activity are the agent's behaviour: they are scored, unless the gateway itself failed.
    """
    if seen is not None and seen.blame == "harness":
        raise HarnessError(seen.reason)
    if transcript.refused:
        return
    if timed_out:
        if transcript.active:
            return
        raise IdleTimeout("the turn timed out and the agent had neither said nor done anything")
    failure = seen or transcript.failure
    if failure is not None:
        raise _error(failure)
    if transcript.closing != "complete":
        raise AgentCrash(f"no closing event in the agent's stream (exit code {exit_code})")


def _error(failure: Failure) -> RunError:
    if failure.blame == "agent_api":
        return (AgentApiError if failure.retryable else AgentApiRefusal)(failure.reason)
    return (SandboxError if failure.blame == "sandbox" else AgentCrash)(failure.reason)


def script(job: Job) -> dict[str, Any]:
    """What a scripted agent or scripted model plays: the case's rehearsals, or the one that the row names."""
    if job.script is not None:
        return dict(job.script)
    case = job.case
    rehearsals = [
        rehearsal.model_dump(mode="json", by_alias=True) for rehearsal in case.rehearsals if job.rehearsal in (None, rehearsal.id)
    ]
    return {
        "skill": job.row.skill,
        "rehearsals": rehearsals or _trigger_script(),
        "force": job.rehearsal,
        "loads": case.should_load if case.kind == "trigger" else job.rehearsal is None,
        "also": [case.owner] if case.kind == "trigger" and case.owner else [],
    }


def _trigger_script() -> list[dict[str, Any]]:
    """A case without rehearsals is answered in one sentence; whether the skill is read first, the case itself says."""
    return [{"id": "answers", "plays": {"skill": None, "guard": False}, "turns": [{"load": False, "run": [], "reply": "Here is how."}]}]
