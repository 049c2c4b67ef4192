"""Trigger cases end when they are decided: at the load of the skill under test, or as soon as Docker's state is changed."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from pytest_skilleval.core.acting import acted
from pytest_skilleval.core.loads import skill_loads
from pytest_skilleval.core.ports import AGENT_USER, Command, Sandbox
from pytest_skilleval.core.trigger import changes_state

if TYPE_CHECKING:
    from pytest_skilleval.core.snapshot import DockerState, EngineEvent
    from pytest_skilleval.core.transcript import TurnTranscript
    from pytest_skilleval.running.job import Job


class TriggerCut:
    """Reads the agent's stream and the engine's events as they come, and ends the agent once the case is decided.

    What comes after costs money and tells nothing about the trigger. A command that would change the state is seen in the stream
    before it is done; what a script or another program does is seen by the engine's events.
    """

    def __init__(self, job: Job, sandbox: Sandbox, baseline: DockerState) -> None:
        self._job, self._sandbox, self._baseline = job, sandbox, baseline
        self._seen = bytearray()
        self._lock = threading.Lock()
        self._closed = False
        self._killer: threading.Thread | None = None
        sandbox.heed(self._hear)

    @property
    def cut(self) -> bool:
        """Whether the agent was ended before it would have ended by itself."""
        return self._killer is not None

    def write(self, chunk: bytes) -> None:
        """Take the next bytes of the stream."""
        self._seen += chunk
        if self._killer is None and b"\n" in chunk and self._decided(self._job.agent.parse(bytes(self._seen), b"", None)):
            self._end()

    def close(self) -> None:
        """Heed no more events, and wait until the agent is ended, if it is being ended."""
        self._sandbox.heed(None)
        with self._lock:
            self._closed = True
        if self._killer is not None:
            self._killer.join()

    def _hear(self, event: EngineEvent) -> None:
        if acted(event, self._baseline):
            self._end()

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

    def _end(self) -> None:
        with self._lock:
            if self._closed or self._killer is not None:
                return
            # A thread of its own: this one must go on emptying the stream.
            self._killer = threading.Thread(target=self._end_agent, daemon=True)
            self._killer.start()

    def _end_agent(self) -> None:
        self._sandbox.exec(Command(argv=("pkill", "-KILL", "-u", AGENT_USER), user="root", cwd="/"), timeout=30)
