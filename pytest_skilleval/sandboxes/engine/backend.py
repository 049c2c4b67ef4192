"""`EngineBackend`: sandboxes with a private Docker Engine on a Linux host, for root."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_skilleval.core.errors import SandboxError
from pytest_skilleval.core.ports import Blueprint, Probe, SandboxRequest

from . import blueprint, host_root, prepared, probe, reap, tree
from .cgroups import Hierarchy, hierarchies
from .sandbox import EngineSandbox, Made, end
from .wire import Setup, Started, receive

if TYPE_CHECKING:
    from docker import APIClient

DISK, PIDS = 4 << 30, 4096
MEMORY = 4 << 30
START_SECONDS = 60
ANSWER_SECONDS = 60
_SOCKET_PATH = 107
_PROJECT = Path(__file__).resolve().parents[3]
_BOOT = "import sys; sys.path.append({project!r}); from pytest_skilleval.sandboxes.engine.supervisor import main; main({setup!r})"


def default_cache() -> Path:
    """Where root trees and prepared states are kept: the user's cache folder."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pytest-skilleval"


def default_state_dir() -> Path:
    """Where live sandboxes have their folders; short, for the sake of socket paths."""
    return Path("/run/devbox") if os.access("/run", os.W_OK) else Path(tempfile.gettempdir(), "devbox")


class EngineBackend:
    """Makes `EngineSandbox`es.

    Parameters
    ----------
    cache
        Folder for root trees and prepared states.
    root
        ``tree``: a Debian 13 of the sandboxes' own; ``host``: the host's ``/usr``, read-only.
    state_dir
        Folder of live sandboxes; None: `default_state_dir`.
    in_memory
        Keep what sandboxes write in memory; None: where the kernel can (6.6 or later), else on the cache's disk.
    cgroups
        Finds the control group hierarchies to use.
    """

    name = "engine"
    can_restore = True

    def __init__(
        self,
        cache: Path,
        root: str = "tree",
        state_dir: Path | None = None,
        *,
        in_memory: bool | None = None,
        cgroups: Callable[[], tuple[Hierarchy, ...]] = hierarchies,
    ) -> None:
        if root not in ("tree", "host"):
            raise ValueError(f"the engine's root is 'tree' or 'host', not {root!r}")
        self.cache = cache
        self.root = root
        self.state_dir = state_dir or default_state_dir()
        self._scratch = None if (probe.memory_files_take_marks() if in_memory is None else in_memory) else cache / "scratch"
        self._cgroups = cgroups
        self.tree: tree.Tree | None = None
        """The root of its sandboxes, once `warm` has found or made it."""

    def probe(self) -> Probe:
        """Whether this machine can do it; see `core.ports.Backend.probe`."""
        return probe.look(self.root, self.cache)

    def warm(self, report: Callable[[str], None]) -> None:
        """Build the root tree if it is not there yet; SandboxError when that fails."""
        if self.tree is None:
            self.tree = host_root.make(self.cache) if self.root == "host" else tree.build(self.cache, report)

    def _root(self) -> tree.Tree:
        if self.tree is None:
            self.warm(lambda _: None)
        assert self.tree is not None
        return self.tree

    def _store(self) -> prepared.Store:
        return prepared.Store(self.cache / "prepared" / self._root().digest)

    def has(self, key: str) -> bool:
        """Whether a prepared state is kept under `key` for this root."""
        return self._store().find(key) is not None

    def reap(self) -> tuple[str, ...]:
        """Remove what dead sessions left; see `core.ports.Backend.reap`."""
        return reap.reap(self.state_dir, self._cgroups(), self.cache / "scratch")

    def open(self, request: SandboxRequest) -> EngineSandbox:
        """Make a sandbox; see `core.ports.Backend.open`."""
        root, store = self._root(), self._store()
        kept = store.require(request.restore) if request.restore is not None else None
        name, folder, lock = reap.claim(self.state_dir)
        with contextlib.ExitStack() as undo:
            undo.callback(shutil.rmtree, folder, ignore_errors=True)
            with contextlib.ExitStack() as handed:
                handed.callback(os.close, lock)
                setup = self._setup(request, name, folder, root)
                supervisor, control = _launch(setup, lock, kept, handed)
            undo.callback(end, supervisor, control)
            started = _await(control, supervisor)
            client = _connect(folder / "s")
            undo.callback(client.close)
            commands = tuple(blueprint.commands(supervisor.args, setup))  # type: ignore[arg-type]  # a list, as _launch gave it
            made = Made(name, folder / "s", supervisor, control, started, commands)
            sandbox = EngineSandbox(request.name, made, client, root, store)
            undo.callback(sandbox.close)
            if kept is not None:
                with sandbox.engine_errors():
                    _resume(client, kept)
            undo.pop_all()
            return sandbox

    def blueprint(self, request: SandboxRequest) -> Blueprint:
        """What `open` would do; see `core.ports.Backend.blueprint`."""
        root = self.tree or (host_root if self.root == "host" else tree).foreseen(self.cache)
        setup = self._setup(request, "", self.state_dir, root)
        return Blueprint(commands=tuple(blueprint.commands(blueprint.supervisor_argv(), setup)), home=tree.HOME, workspace=tree.WORKSPACE)

    def _setup(self, request: SandboxRequest, name: str, folder: Path, root: tree.Tree) -> Setup:
        mounts = (*root.read_only, *((str(source), inside) for source, inside in request.read_only.items()))
        return Setup(
            id=name,
            folder=str(folder),
            scratch=str(folder / "m" if self._scratch is None else self._scratch / name),
            tree=str(root.path),
            masks=root.masks,
            read_only=mounts,
            size=(request.disk or DISK) if self._scratch is None else None,
            hostname=request.hostname,
            limits={"memory": request.memory or min(MEMORY, _half_of_memory()), "pids": request.pids or PIDS},
            owner=tree.FIRST_ID,
            ids=tree.IDS,
            docker_gid=root.docker_gid,
            tar=shutil.which("tar") or "/bin/tar",
            programs=root.programs,
            engine_env=dict(request.engine_env),
            cgroups=tuple((str(one.path), one.version, one.controllers) for one in self._cgroups()),
        )


def _launch(
    setup: Setup, lock: int, kept: prepared.Kept | None, handed: contextlib.ExitStack
) -> tuple[subprocess.Popen[bytes], socket.socket]:
    """Start the supervisor; it inherits the engine's listening socket, the lock and its lifeline."""
    control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    handed.enter_context(theirs)
    listener = handed.enter_context(_listener(Path(setup.folder, "s")))
    archive = handed.enter_context(kept.archive.open("rb")).fileno() if kept is not None else None
    setup = replace(setup, control=theirs.fileno(), listener=listener.fileno(), archive=archive)
    python = Path(sys.executable).resolve()
    supervisor = subprocess.Popen(
        blueprint.supervisor_argv(),
        executable=python,
        env={"PATH": str(python.parent)},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=setup.folder,
        start_new_session=True,
        pass_fds=[one for one in (setup.control, setup.listener, setup.archive, lock) if one is not None],
    )
    with supervisor.stdin as program:  # type: ignore[union-attr]
        program.write(_BOOT.format(project=str(_PROJECT), setup=setup.dump()).encode())
    return supervisor, control


def _listener(path: Path) -> socket.socket:
    if len(os.fsencode(path)) > _SOCKET_PATH:
        raise SandboxError(f"the folder for live sandboxes has too long a path for a socket: {path.parent.parent}")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    path.chmod(0o600)
    listener.listen(128)
    return listener


def _half_of_memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


def _await(control: socket.socket, supervisor: subprocess.Popen[bytes]) -> Started:
    """The supervisor's first message, as a value or as an error."""
    if not select.select([control], [], [], START_SECONDS)[0]:
        raise SandboxError(f"the sandbox did not start within {START_SECONDS} s")
    message, _ = receive(control)
    if message is None:
        raise SandboxError(f"the sandbox's supervisor ended at once (exit code {supervisor.wait(5)})")
    if "error" in message:
        raise SandboxError(f"the sandbox could not be made: {message['error']}")
    return Started(message["init"], message["limits"], tuple(message["notes"]))


def _connect(path: Path) -> APIClient:
    """A client of the engine; waits until the engine answers."""
    from docker import APIClient
    from docker.errors import DockerException

    try:
        return APIClient(base_url=f"unix://{path}", version="auto", timeout=ANSWER_SECONDS)
    except DockerException as error:
        raise SandboxError(f"the Docker Engine did not start: {error}") from error


def _resume(client: APIClient, kept: prepared.Kept) -> None:
    """Run again what ran when the state was saved."""
    if not kept.running:
        return
    with ThreadPoolExecutor(len(kept.running)) as pool:
        list(pool.map(client.start, kept.running))
        list(pool.map(client.pause, kept.paused))
