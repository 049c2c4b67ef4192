"""What one run needs to know, and how it is told to stop."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from pytest_skilleval.archive import Archive
from pytest_skilleval.core.credentials import Masking
from pytest_skilleval.core.loaded import LoadedSpec, Skin
from pytest_skilleval.core.plan import Row
from pytest_skilleval.core.ports import Agent, Backend, Sandbox

if TYPE_CHECKING:
    from pytest_skilleval.core.spec import Arm, Case, Seed


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """Settings of the session that a run obeys.

    `turn_timeout` and `run_timeout` in seconds; None: the spec's own.
    """

    turn_timeout: float | None = None
    run_timeout: float | None = None
    keep_sandbox: Literal["never", "failed", "always"] = "never"
    random_seed: int = 0


class Cancellation:
    """The one way to stop runs in this process: what is running is killed, nothing more is started."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sandboxes: list[Sandbox] = []
        self._cancelled = False

    @property
    def cancelled(self) -> bool:
        """Whether nothing more may be started."""
        return self._cancelled

    def cancel(self) -> None:
        """Kill what runs in every attached sandbox, from any thread; the runs' own clean-up then closes them."""
        with self._lock:
            self._cancelled = True
            sandboxes = tuple(self._sandboxes)
        for sandbox in sandboxes:
            sandbox.cancel()

    def attach(self, sandbox: Sandbox) -> None:
        """Let `cancel` reach this sandbox."""
        with self._lock:
            self._sandboxes.append(sandbox)
        if self._cancelled:
            sandbox.cancel()

    def detach(self, sandbox: Sandbox) -> None:
        """The sandbox is closed."""
        with self._lock:
            self._sandboxes = [other for other in self._sandboxes if other is not sandbox]

    def check(self) -> None:
        """KeyboardInterrupt when the session is being stopped."""
        if self._cancelled:
            raise KeyboardInterrupt


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One run to be made. `case` is dressed in the block's skin."""

    row: Row
    loaded: LoadedSpec
    case: Case
    archive: Archive
    agent: Agent
    backend: Backend
    options: RunOptions = RunOptions()
    cancellation: Cancellation = field(default_factory=Cancellation)
    mask: Masking = field(default_factory=Masking)
    """Removes secrets from all that is recorded before the first byte reaches disk."""
    gateway: str | None = None
    """Control socket of the session's gateway, for agents that ask a model; None: there is none, or the agent needs none."""
    rehearsal: str | None = None
    """Id of the rehearsal to be played, whatever the arm shows; None: the one that fits."""
    script: Mapping[str, Any] | None = None
    """What a scripted agent or model plays instead of the case's rehearsals, for those who make runs themselves (see hookspecs)."""

    @property
    def arm(self) -> Arm:
        """The arm under which the case runs."""
        return self.loaded.spec.arms[self.row.arm]

    @property
    def skin(self) -> Skin:
        """The block's names and ages."""
        return self.loaded.skins[self.row.skin]

    @property
    def seed(self) -> Seed | None:
        """The case's seed in the block's skin (dressing put the spec's there); None: an empty engine."""
        return self.case.seed

    @property
    def turn_timeout(self) -> float:
        """Seconds one turn may take."""
        return self.options.turn_timeout or self.loaded.spec.defaults.turn_timeout

    @property
    def run_timeout(self) -> float:
        """Seconds all turns together may take."""
        return self.options.run_timeout or self.loaded.spec.defaults.run_timeout
