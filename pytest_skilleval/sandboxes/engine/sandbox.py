"""One sandbox as the rest of the project sees it: `core.ports.Sandbox` on top of a supervisor."""

from __future__ import annotations

import contextlib
import itertools
import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_skilleval.core.errors import HarnessError, NothingThere, SandboxError
from pytest_skilleval.core.ports import AGENT_USER, Command, ExecResult
from pytest_skilleval.core.snapshot import DockerState, EngineEvent
from pytest_skilleval.sandboxes import docker_state

from . import prepared, provenance, volumes
from .conversation import Conversation
from .forward import Forward, Target, listen_inside
from .tree import WORKSPACE, Tree
from .wire import Account, Program, Started, send

if TYPE_CHECKING:
    from docker import APIClient

ARGUMENT_BYTES = 131072
"""Linux takes no single argument or variable of this size or more."""
CLOSE_SECONDS = 60
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_NO_FOLDER = 99
_NOTHING = 98
_CHANGED_MEANWHILE = 1
"""How tar ends when something left running wrote to a file as it was packed; the archive is whole."""


@dataclass(frozen=True, slots=True)
class Made:
    """What the backend has made: the supervisor, its control socket, and the engine's socket on the host."""

    id: str
    door: Path
    supervisor: subprocess.Popen[bytes]
    control: socket.socket
    started: Started
    commands: tuple[str, ...]
    """What was run on the host and inside to make it."""


class EngineSandbox:
    """A private Docker Engine and the machine around it."""

    def __init__(self, name: str, made: Made, client: APIClient, tree: Tree, store: prepared.Store) -> None:
        self.name = name
        self.id = made.id
        """Names its folder and control groups on the host."""
        self.workspace = WORKSPACE
        self.home = tree.accounts[AGENT_USER].home
        self.client = client
        """The engine's API, from outside."""
        self.init = made.started.init
        """The sandbox's first process, as the host numbers it."""
        self.supervisor = made.supervisor.pid
        """The process that owns it."""
        self.opened_at = time.time()
        """Seconds since 1970."""
        self._made = made
        self._tree = tree
        self._store = store
        self._numbers = itertools.count(1)
        self._running: dict[int, Conversation] = {}
        self._forwards: list[Forward] = []
        self._lock = threading.Lock()
        self._closed = False
        self._watch = docker_state.Watch(client, self._alive)

    def exec(
        self,
        command: Command,
        *,
        timeout: float,
        on_stdout: Callable[[bytes], None] | None = None,
        on_stderr: Callable[[bytes], None] | None = None,
    ) -> ExecResult:
        """Run `command`; see `core.ports.Sandbox.exec`.

        The result comes when the program itself ends, even if something it left running holds its
        output open. An exit by a signal reads 128 + its number, as in a shell.

        Raises
        ------
        SandboxError
            The sandbox is gone.
        HarnessError
            An argument is larger than Linux allows.
        """
        program = self._program(command)
        with self._lock:
            number = next(self._numbers)
            conversation = self._running[number] = Conversation(number, self._request, self._lost)
        try:
            return conversation.hold(program, command.stdin, timeout, on_stdout, on_stderr)
        finally:
            with self._lock:
                del self._running[number]

    def _program(self, command: Command) -> Program:
        """`command` with the environment of a login inside, and nothing of the host's."""
        account = self._account(command.user)
        login = {
            "PATH": _PATH,
            "HOME": account.home,
            "USER": command.user,
            "LOGNAME": command.user,
            "SHELL": account.shell,
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
        }
        env = {**login, **command.env, **command.env_secret}
        _refuse_long((*command.argv, *(f"{name}={value}" for name, value in env.items())))
        return Program(command.argv, env, command.cwd or self.workspace, account)

    def _account(self, user: str) -> Account:
        if user not in self._tree.accounts:
            raise HarnessError(f"no user {user!r} inside; there are: {', '.join(self._tree.accounts)}")
        return self._tree.accounts[user]

    def _request(self, message: Mapping[str, object], descriptors: tuple[int, ...] = ()) -> None:
        """Ask the supervisor; SandboxError when it is gone."""
        try:
            send(self._made.control, message, descriptors)
        except OSError as error:
            raise self._lost() from error

    def _lost(self) -> SandboxError:
        """What to raise when the sandbox is found dead."""
        how = "it was closed" if self._closed else "its first process or its supervisor has died"
        return SandboxError(f"sandbox {self.name!r} is gone: {how}")

    def put(self, archive: bytes, *, into: str, user: str = AGENT_USER) -> None:
        """Unpack a tar archive; see `core.ports.Sandbox.put`. The unpacking is done as `user`."""
        script = f'test -d "$1" || exit {_NO_FOLDER}; exec tar -xf - --no-same-owner -C "$1"'
        unpack = Command(argv=("sh", "-c", script, "sh", into), stdin=archive, user=user, cwd="/")
        done = self.exec(unpack, timeout=600)
        if done.exit_code == _NO_FOLDER:
            self._make_folder(into, user)
            done = self.exec(unpack, timeout=600)
        if done.exit_code:
            raise SandboxError(f"cannot unpack into {into} as {user}: {done.stderr.decode(errors='replace').strip()}")

    def _make_folder(self, path: str, user: str) -> None:
        script = 'd=$1; while [ ! -e "$d" ]; do top=$d; d=$(dirname "$d"); done; mkdir -p "$1" && chown -R "$2:" "$top"'
        done = self.exec(Command(argv=("sh", "-c", script, "sh", path, user), user="root", cwd="/"), timeout=60)
        if done.exit_code:
            raise SandboxError(f"cannot make {path}: {done.stderr.decode(errors='replace').strip()}")

    def get(self, path: str) -> bytes:
        """A tar archive of `path`; see `core.ports.Sandbox.get`."""
        folder, name = os.path.split(os.path.normpath(path))
        # It looks and packs in one command: each takes some milliseconds.
        script = f'test -e "$1/$2" || test -L "$1/$2" || exit {_NOTHING}; exec tar -cf - -C "$1" -- "$2"'
        done = self.exec(Command(argv=("sh", "-c", script, "sh", folder, name or "."), user="root", cwd="/"), timeout=600)
        if done.exit_code == _NOTHING:
            raise NothingThere(f"cannot read {path}: there is no such file or folder")
        if done.exit_code not in {0, _CHANGED_MEANWHILE}:
            raise SandboxError(f"cannot read {path}: {done.stderr.decode(errors='replace').strip()}")
        return done.stdout

    def state(self) -> DockerState:
        """The Docker state now; see `core.ports.Sandbox.state`."""
        with self.engine_errors():
            return docker_state.take(self.client, self._watch, lambda name: volumes.fingerprint(self.init, name))

    def events(self) -> tuple[EngineEvent, ...]:
        """All state-changing events; see `core.ports.Sandbox.events`."""
        with self.engine_errors():
            return self._watch.events()

    def heed(self, listener: Callable[[EngineEvent], None] | None) -> None:
        """Hand on each further event as it comes; see `core.ports.Sandbox.heed`."""
        self._watch.heed(listener)

    def mark(self) -> None:
        """Forget earlier events and start the run's clock."""
        self._watch.mark()

    def _alive(self) -> bool:
        return self._made.supervisor.poll() is None and self._made.door.exists()

    @contextlib.contextmanager
    def engine_errors(self) -> Iterator[None]:
        """Whatever goes wrong with the engine's API is the sandbox's fault: SandboxError."""
        from docker.errors import DockerException
        from requests import RequestException

        if self._closed or not self._alive():
            raise self._lost()
        try:
            yield
        except (DockerException, RequestException, OSError) as error:
            if not self._alive():
                raise self._lost() from error
            raise SandboxError(f"the Docker Engine of sandbox {self.name!r} does not answer: {error}") from error

    def listen(self, port: int, target: Target) -> None:
        """Make 127.0.0.1:`port` inside lead to `target`; see `core.ports.Sandbox.listen`."""
        try:
            listener = listen_inside(self.init, port)
        except OSError as error:
            raise SandboxError(f"cannot open port {port} in sandbox {self.name!r}: {error}") from error
        self._forwards.append(Forward(listener, target))

    def save(self, key: str, *, age_days: float) -> None:
        """Keep the state under `key`, back-dated by `age_days`; the sandbox is over then."""
        with self.engine_errors():
            prepared.save(self, self._store, key, age_days)
        self.close()

    def halt(self) -> None:
        """End the engine cleanly, so that its data can be packed."""
        self._watch.close()  # a dockerd that ends waits five seconds for open streams
        answer, done = os.pipe()
        with os.fdopen(answer, "rb") as file:
            self._request({"do": "halt"}, (done,))
            os.close(done)
            if not file.read():
                raise self._lost()

    def describe(self) -> Mapping[str, str]:
        """Provenance; see `core.ports.Sandbox.describe`."""
        with self.engine_errors():
            return provenance.describe(self.client, self._tree, self._made.started, self._made.commands)

    def way_in(self) -> str:
        """See `core.ports.Sandbox.way_in`; for root on the host."""
        spaces = "--user --mount --net --pid --ipc --uts --cgroup --root"
        return f"nsenter --target {self.init} {spaces} --setuid 0 --setgid 0 su - {AGENT_USER}"

    def cancel(self) -> None:
        """Kill what commands have started inside; from any thread."""
        with self._lock:
            for conversation in self._running.values():
                conversation.cancelled = True
        with contextlib.suppress(SandboxError):
            self._request({"do": "kill", "id": 0})

    def close(self) -> None:
        """Remove every trace; see `core.ports.Sandbox.close`."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        for forward in self._forwards:
            forward.close()
        self._watch.close()
        end(self._made.supervisor, self._made.control)
        self.client.close()


def end(supervisor: subprocess.Popen[bytes], control: socket.socket) -> None:
    """Close the supervisor's lifeline and wait until it has removed the sandbox."""
    with contextlib.suppress(OSError):
        control.shutdown(socket.SHUT_RDWR)
    control.close()
    try:
        supervisor.wait(CLOSE_SECONDS)
    except subprocess.TimeoutExpired:
        supervisor.kill()
        supervisor.wait()


def _refuse_long(texts: Iterable[str]) -> None:
    for text in texts:
        if (size := len(text.encode("utf-8", "surrogatepass")) + 1) > ARGUMENT_BYTES:
            raise HarnessError(
                f"an argument of {size} bytes ({text[:40]!r}...) can't be passed: Linux takes {ARGUMENT_BYTES - 1} bytes at most"
                " in one argument or variable; pass it through standard input or a file"
            )
