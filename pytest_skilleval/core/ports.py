"""The narrow Protocols at the edges: what a sandbox, an agent and a judge must offer.

Implementations live in :mod:`pytest_skilleval.sandboxes`, ``agents`` and ``judges``;
nothing above knows more about them than is written here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from pytest_skilleval.core.snapshot import DockerState, EngineEvent
from pytest_skilleval.core.transcript import TurnTranscript

AGENT_USER = "agent"
AGENT_HOME = "/home/agent"
ModelApi = Literal["anthropic", "openai", "other"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One program to run inside a sandbox.

    `env` is added to the sandbox's own minimal environment (never the host's). `env_secret`
    names are treated like `env`, but no value of theirs may be logged or recorded.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    env_secret: Mapping[str, str] = field(default_factory=dict)
    stdin: bytes = b""
    cwd: str | None = None
    """None: the workspace."""
    user: str = AGENT_USER
    """``agent`` or ``root``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecResult:
    """How a command ended. After a time-out or `Sandbox.cancel` its whole process tree is dead."""

    exit_code: int | None
    stdout: bytes
    stderr: bytes
    seconds: float
    timed_out: bool = False
    cancelled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxRequest:
    """What one run needs of its sandbox.

    Attributes
    ----------
    name
        Unique in the session and innocent: it may be visible inside.
    restore
        Key of a prepared state that `Sandbox.save` wrote before, or None for an empty engine.
        Containers that were running when it was saved are running again when `open` returns.
    disk, memory, pids
        Limits in bytes, bytes and processes; None: the backend's default.
    read_only
        Host folder -> path inside, bound read-only (agent CLIs).
    hostname
        Host name seen inside; must not tell of testing.
    engine_env
        Added to the environment of the Docker Engine inside (its proxy); never part of a saved state.
    """

    name: str
    restore: str | None = None
    disk: int | None = None
    memory: int | None = None
    pids: int | None = None
    read_only: Mapping[Path, str] = field(default_factory=dict)
    hostname: str = "devbox"
    engine_env: Mapping[str, str] = field(default_factory=dict)


class Sandbox(Protocol):
    """One isolated machine with its own Docker Engine, made for one run and always closed."""

    name: str
    workspace: str
    """Absolute path of the workspace inside; never under HOME, never a skills checkout."""
    home: str

    def exec(
        self,
        command: Command,
        *,
        timeout: float,
        on_stdout: Callable[[bytes], None] | None = None,
        on_stderr: Callable[[bytes], None] | None = None,
    ) -> ExecResult:
        """Run `command` to its end, or to `timeout` seconds; streams are also handed on as they come.

        Raises SandboxError when the sandbox is gone; a failing command is a result, not an error.
        """

    def put(self, archive: bytes, *, into: str, user: str = AGENT_USER) -> None:
        """Unpack a tar archive into the folder `into` (made if missing), owned by `user`."""

    def get(self, path: str) -> bytes:
        """A tar archive of the file or folder `path`, as far as it stands still; NothingThere, a SandboxError, when there is none."""

    def state(self) -> DockerState:
        """The Docker state now: two equal looks with no state-changing event between them."""

    def events(self) -> tuple[EngineEvent, ...]:
        """All engine events since the sandbox opened or since `mark`, in order, none lost."""

    def heed(self, listener: Callable[[EngineEvent], None] | None) -> None:
        """Hand each further event to `listener` as it comes, on a thread of the sandbox's own, which it must not hold up; None: no more."""

    def mark(self) -> None:
        """Forget earlier events and start the run's clock (called at the baseline snapshot)."""

    def listen(self, port: int, target: tuple[str, int] | str) -> None:
        """Make 127.0.0.1:`port` inside lead to `target` outside (host and port, or a unix socket path)."""

    def save(self, key: str, *, age_days: float) -> None:
        """Keep the Docker state, HOME and workspace under `key`, back-dated; the sandbox is over then.

        Raises SandboxError where the backend can't (`Backend.can_restore` is False).
        """

    def describe(self) -> Mapping[str, str]:
        """Provenance: backend, the exact commands that made it, engine version, storage driver, image store, cgroups, root, limits."""

    def way_in(self) -> str:
        """The command line with which a person on the host opens a shell inside, as the agent's user."""

    def cancel(self) -> None:
        """Kill what runs inside, from any thread; a pending `exec` returns with ``cancelled``."""

    def close(self) -> None:
        """Remove every trace. Idempotent; called on every path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """Whether a backend can work here, and what it does and does not guarantee."""

    available: bool
    reason: str
    """Why not, with the mend; or in a few words how (``private Docker Engine 26.1.5, cgroup v1``)."""
    facts: Mapping[str, str] = field(default_factory=dict)
    limits: tuple[str, ...] = ()
    """Sentences printed before a real agent runs in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Blueprint:
    """What making one sandbox takes: the exact commands, and where things will lie inside.

    Attributes
    ----------
    commands
        Equal for sandboxes of the same kind; what is drawn anew for each (names, folders) is left out. `Sandbox.describe`
        tells the same lines of a sandbox that was made, as ``command``.
    """

    commands: tuple[str, ...]
    home: str = AGENT_HOME
    workspace: str = "/workspace"


class Backend(Protocol):
    """One kind of sandbox."""

    name: str
    can_restore: bool

    def probe(self) -> Probe:
        """Look, cheaply and without side effects that last."""

    def warm(self, report: Callable[[str], None]) -> None:
        """Once per session, on the controller: build and cache what every sandbox needs (root tree)."""

    def has(self, key: str) -> bool:
        """Whether a prepared state is kept under `key` (for this very engine and tree)."""

    def blueprint(self, request: SandboxRequest) -> Blueprint:
        """What `open` would run for `request`, told without running or making anything."""

    def open(self, request: SandboxRequest) -> Sandbox:
        """Make a sandbox, ready for use; SandboxError when it can't be made (nothing is left then)."""

    def reap(self) -> tuple[str, ...]:
        """Remove what dead sessions left; names what was removed. Safe while other sessions live."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxFile:
    """A file to place inside a sandbox; `path` is absolute, or relative to HOME."""

    path: str
    content: bytes
    mode: int = 0o644


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSetup:
    """What an agent must be told once, before its first turn.

    Attributes
    ----------
    deny
        Guard: command prefixes (``docker system prune``) that the agent's own permission rules must forbid.
    permissions
        ``bypass`` (nothing is asked) or ``default`` (what a human would be asked is denied and counted).
    model
        Model name for the CLI, or None for its default.
    endpoint
        Base URL inside the sandbox that leads to the gateway, or None: the CLI's own endpoint and credentials.
    workspace, home
        Absolute paths of the workspace and of HOME inside.
    env, secrets
        What the agent's environment needs besides: plain values (placeholders for the gateway), and credentials
        where there is no gateway; the latter are never logged or recorded.
    """

    deny: tuple[str, ...] = ()
    permissions: str = "bypass"
    model: str | None = None
    endpoint: str | None = None
    workspace: str = "/workspace"
    home: str = AGENT_HOME
    env: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTurn:
    """One turn to be driven: the prompt, and the session to go on with (None: a new one).

    `script` is what a scripted agent plays (JSON bytes, see :mod:`pytest_skilleval.agents.scripted`); real agents ignore it.
    """

    prompt: str
    setup: AgentSetup
    session_id: str | None = None
    number: int = 1
    script: bytes = b""


class Agent(Protocol):
    """One agent CLI as pure functions: what to install, what to run, what its output meant."""

    name: str
    simulated: bool
    api: ModelApi | None
    """Which models it asks, through the gateway; None: none at all."""
    skills_folder: str
    """Where skills are installed, relative to HOME."""
    instructions_file: str
    """The stock instructions file, relative to HOME; arms append to it."""
    session_folders: tuple[str, ...]
    """Folders of the CLI's own session record, relative to HOME; kept as raw artefacts."""

    def files(self, setup: AgentSetup) -> tuple[SandboxFile, ...]:
        """Configuration and guard files to place before the first turn."""

    def command(self, turn: AgentTurn) -> Command:
        """The argv, environment and stdin of one turn."""

    def version_command(self) -> Command | None:
        """Prints the CLI's version; None when there is nothing to ask."""

    def version_in(self, record: bytes) -> str | None:
        """The version that one file of the CLI's session record (`session_folders`) names; None: it names none."""

    def without_server(self, server: str) -> str:
        """How a user takes an MCP server out of the CLI's set-up: words for a message, a command where one does it."""

    def preview_command(self, setup: AgentSetup) -> Command | None:
        """Prints what the model would be shown, the prompt on stdin and no model asked; None when the CLI can't."""

    def parse(self, stdout: bytes, stderr: bytes, exit_code: int | None) -> TurnTranscript:
        """What the turn's raw streams meant; never raises for bad input."""

    def supplement(self, turns: Sequence[TurnTranscript], records: Iterable[bytes]) -> tuple[TurnTranscript, ...]:
        """The turns of a run with what only the CLI's own session `records` tell (files of `session_folders`)."""

    def host_program(self) -> Mapping[Path, str]:
        """Host folders to bind read-only so that the CLI runs inside an `engine` sandbox; empty: nothing needed."""
