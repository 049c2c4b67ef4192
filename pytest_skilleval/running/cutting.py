"""Trigger cases end when they are decided: at the load of the skill under test, or at the first state-changing command."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from pytest_skilleval.core.loads import skill_loads
from pytest_skilleval.core.ports import AGENT_USER, Command, Sandbox
from pytest_skilleval.core.trigger import changes_state

if TYPE_CHECKING:
    from pytest_skilleval.core.transcript import TurnTranscript
    from pytest_skilleval.running.job import Job


class TriggerCut:
    """Reads the agent's stream as it comes and ends the agent once the case is decided.

    What comes after costs money and tells nothing about the trigger.
    """

    def __init__(self, job: Job, sandbox: Sandbox) -> None:
        self._job, self._sandbox = job, sandbox
        self._seen = bytearray()
        self._killer: threading.Thread | None = None

    @property
    def cut(self) -> bool:
        """Whether the agent was ended before it would have ended by itself."""
        return self._killer is not None

    def write(self, chunk: bytes) -> None:
        """Take the next bytes of the stream."""
        self._seen += chunk
        if self._killer is None and b"\n" in chunk and self._decided(self._job.agent.parse(bytes(self._seen), b"", None)):
            # A thread of its own: this one must go on emptying the stream.
            self._killer = threading.Thread(target=self._end_agent, daemon=True)
            self._killer.start()

    def close(self) -> None:
        """Wait until the agent is ended, if it is being ended."""
        if self._killer is not None:
            self._killer.join()

    def _decided(self, transcript: TurnTranscript) -> bool:
        loads = skill_loads(
            transcript,
            1,
            folders=(self._job.agent.skills_folder,),
            catalogue=frozenset(self._job.loaded.catalogue),
            home=self._sandbox.home,
        )
        if any(load.sure and load.skill == self._job.row.skill for load in loads):
            return True
        return any(changes_state(command.line) for command in transcript.commands)

    def _end_agent(self) -> None:
        self._sandbox.exec(Command(argv=("pkill", "-KILL", "-u", AGENT_USER), user="root", cwd="/"), timeout=30)
