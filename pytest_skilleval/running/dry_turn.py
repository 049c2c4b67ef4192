"""One turn of an arm that costs nothing: what the agent shows is held against the arm before any run is paid for.

The agent CLI is the real one, in a sandbox of its own, with the arm installed as in a run; its model is the scripted one.
Behind a gateway every run is checked again on what its model was really sent. In a sandbox without a gateway (the agent
reaches its model by itself) this turn, the same code on the same set-up, is the only check of what the model is shown.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass, replace

from pytest_skilleval.core.errors import AgentCrash, ArmError, HarnessError
from pytest_skilleval.core.manipulation import read_preview
from pytest_skilleval.core.ports import AgentTurn, Sandbox
from pytest_skilleval.core.transcript import ShellCommand, TurnTranscript
from pytest_skilleval.gateway import reading
from pytest_skilleval.gateway.client import GatewayClient
from pytest_skilleval.gateway.scripted.script import Plays, Rehearsal, Script, ScriptTurn
from pytest_skilleval.gateway.values import RunRequest
from pytest_skilleval.running import arming
from pytest_skilleval.running.arming import Armed
from pytest_skilleval.running.conversation import attribute
from pytest_skilleval.running.door import lead
from pytest_skilleval.running.job import Job
from pytest_skilleval.running.preparing import hosts_of, request, tail
from pytest_skilleval.running.provenance import agent_version

PROMPT = "Hello. What can you help me with in this folder?"
TIMEOUT = 120.0
HARMLESS = "--help"
"""Put behind a denied command when the guard is tried: should it not hold, nothing happens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DryTurn:
    """What a dry turn found in order."""

    warnings: tuple[str, ...] = ()


class NotAsDeclared(Exception):
    """Something in the set-up would spoil every run of this arm and agent; the text says what, and which version of the CLI."""


def dry_turn(job: Job, *, resumed: bool = False) -> DryTurn:
    """Make a sandbox and the arm of `job` in it, ask the agent one neutral prompt, and look at what its model is sent.

    Parameters
    ----------
    resumed
        A second turn is taken, so that what the CLI is told to go on with a session is tried, too.

    Raises
    ------
    NotAsDeclared
        The CLI does not know a flag, could not ask its model, or shows something else than the arm declares; the guard
        does not hold.
    SandboxError, HarnessError
        It could not be tried.
    KeyboardInterrupt
        The session is being stopped.
    """
    if job.gateway is None:
        raise HarnessError("a dry turn needs the session's gateway")
    client, run = GatewayClient(job.gateway), f"dry/{job.row.run_id}"
    sandbox = job.backend.open(request(job, restore=None, purpose="dry turn"))
    job.cancellation.attach(sandbox)
    try:
        return _DryTurn(job, sandbox, client, run).take(turns=2 if resumed else 1)
    except (ArmError, AgentCrash) as error:
        job.cancellation.check()
        raise NotAsDeclared(f"{job.agent.name} {agent_version(job, sandbox)}: {error}") from error
    finally:
        with contextlib.suppress(HarnessError):  # a gateway that is gone has closed its doors itself
            client.close(run)
        job.cancellation.detach(sandbox)
        sandbox.close()


class _DryTurn:
    """The parts of one dry turn."""

    def __init__(self, job: Job, sandbox: Sandbox, client: GatewayClient, run: str) -> None:
        self.job, self.sandbox, self.client, self.run = job, sandbox, client, run
        self.tries = tuple(f"{prefix} {HARMLESS}" for prefix in job.loaded.guards.get(job.row.arm, ()))

    def take(self, turns: int) -> DryTurn:
        """Arm, turns, checks."""
        opening = ScriptTurn(run=self.tries, manner="parallel" if self.tries else "sequence", reply="With many things.")
        script = Script(rehearsals=(Rehearsal(plays=Plays(), turns=(opening, ScriptTurn(reply="As I said."))),))
        door = self.client.open(
            RunRequest(run=self.run, models="scripted", script=script, guard=bool(self.tries), hosts=hosts_of(self.job))
        )
        lead(self.sandbox, door)
        armed = arming.install(self.sandbox, self.job, door)
        first = self._ask(armed, 1, None)
        for number in range(2, turns + 1):
            self._ask(armed, number, first.session_id)
        check_guard(first.commands, self.tries)
        shown = reading.first_shown(self.client.records(self.run))
        if shown is None:
            raise ArmError("the agent asked no model through the gateway")
        warnings = arming.check_first_request(shown, self.job, armed)
        self._preview(armed)
        arming.check(self.sandbox, self.job, armed)
        return DryTurn(warnings=warnings)

    def _ask(self, armed: Armed, number: int, session: str | None) -> TurnTranscript:
        agent = self.job.agent
        self.client.turn(self.run, number)
        turn = AgentTurn(prompt=PROMPT, setup=armed.setup, session_id=session, number=number)
        result = self.sandbox.exec(agent.command(turn), timeout=TIMEOUT)
        self.job.cancellation.check()
        transcript = agent.parse(result.stdout, result.stderr, result.exit_code)
        if result.timed_out:
            raise AgentCrash(f"a turn that asks for nothing took more than {TIMEOUT:.0f} s: {tail(result, 300)}")
        if transcript.failure is not None:
            raise AgentCrash(transcript.failure.reason)
        attribute(transcript, None, timed_out=False, exit_code=result.exit_code)
        arming.check_offered(transcript, self.job, armed)
        return transcript

    def _preview(self, armed: Armed) -> None:
        """What the CLI says that it would show, where it can say so without a model."""
        command = self.job.agent.preview_command(armed.setup)
        if command is not None:
            result = self.sandbox.exec(replace(command, stdin=PROMPT.encode()), timeout=TIMEOUT)
            if result.exit_code != 0:
                raise AgentCrash(f"the agent can't tell what it shows its model: {tail(result, 300)}")
            arming.check_first_request(read_preview(result.stdout), self.job, armed)


def check_guard(commands: Iterable[ShellCommand], tries: Iterable[str]) -> None:
    """ArmError when a command that the guard denies was not denied."""
    denied = {command.line for command in commands if command.denied and not command.executed}
    loose = [line.removesuffix(f" {HARMLESS}") for line in tries if line not in denied]
    if loose:
        raise ArmError(f"the guard does not hold: {', '.join(loose)}")
