"""A sandbox that isolates nothing and costs nothing: commands run on the host, in folders of their own. For timing only."""

from __future__ import annotations

import io
import os
import selectors
import socket
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from pytest_skilleval.core.ports import Blueprint, Command, ExecResult, Probe, SandboxRequest
from pytest_skilleval.core.snapshot import DockerState
from pytest_skilleval.sandboxes.engine.forward import Forward

CHUNK = 65536
Told = Callable[[bytes], None]


class OpenSandbox:
    """HOME and workspace in a folder of the working directory, the same for one sandbox after the other; no Docker Engine."""

    def __init__(self, request: SandboxRequest) -> None:
        self.name = request.name
        self._folder = Path("box").absolute()
        self.home, self.workspace = f"{self._folder}/home", f"{self._folder}/work"
        for folder in (self.home, self.workspace):
            Path(folder).mkdir(parents=True)
        programs = [str(host / name) for host in request.read_only for name in ("", "bin")]
        self._env = {"PATH": os.pathsep.join([*programs, "/usr/bin", "/bin"]), "HOME": self.home, "LANG": "C.UTF-8", "IS_SANDBOX": "1"}
        self._forwards: list[Forward] = []

    def exec(self, command: Command, *, timeout: float, on_stdout: Told | None = None, on_stderr: Told | None = None) -> ExecResult:
        """Run `command` as it is, whoever it was meant for."""
        began, env = time.monotonic(), {**self._env, **command.env, **command.env_secret}
        with tempfile.TemporaryFile() as stdin:
            stdin.write(command.stdin)
            stdin.seek(0)
            process = subprocess.Popen(
                command.argv, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=command.cwd or self.workspace, env=env
            )
        stdout, stderr = _read(process, on_stdout, on_stderr)
        code = process.wait(timeout)
        return ExecResult(exit_code=code, stdout=stdout, stderr=stderr, seconds=time.monotonic() - began)

    def put(self, archive: bytes, *, into: str, user: str = "") -> None:
        """Unpack; what is meant for the whole machine would stay on it."""
        assert into.startswith(str(self._folder)), into
        Path(into).mkdir(parents=True, exist_ok=True)
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            tar.extractall(into, filter="data")

    def get(self, path: str) -> bytes:
        """Pack."""
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as tar:
            tar.add(path, Path(path).name)
        return packed.getvalue()

    def state(self) -> DockerState:
        """Nothing is there."""
        return DockerState()

    def events(self) -> tuple[()]:
        """Nothing happened."""
        return ()

    def heed(self, listener: object) -> None:
        """Nothing will happen."""

    def mark(self) -> None:
        """Nothing to forget."""

    def listen(self, port: int, target: tuple[str, int] | str) -> None:
        """On the host's own loopback."""
        self._forwards.append(Forward(socket.create_server(("127.0.0.1", port), backlog=64), target))

    def describe(self) -> dict[str, str]:
        """It has no provenance."""
        return {}

    def cancel(self) -> None:
        """Nobody interrupts a bench."""

    def close(self) -> None:
        """Put the folder aside, for that costs nothing: whoever made the working directory removes it."""
        for forward in self._forwards:
            forward.close()
        self._folder.rename(f"box-{time.monotonic_ns()}")


class OpenBackend:
    """``--skill-sandbox=open``."""

    name, can_restore = "open", False

    def probe(self) -> Probe:
        """Wherever there are processes."""
        return Probe(available=True, reason="the host itself", limits=("it isolates nothing",))

    def warm(self, report: Told) -> None:
        """Nothing to build."""

    def has(self, key: str) -> bool:
        """Nothing is kept."""
        return False

    def blueprint(self, request: SandboxRequest) -> Blueprint:
        """Two folders."""
        return Blueprint(commands=("mkdir home work",))

    def open(self, request: SandboxRequest) -> OpenSandbox:
        """A new pair of folders."""
        return OpenSandbox(request)

    def reap(self) -> tuple[str, ...]:
        """Nothing is left."""
        return ()


def _read(process: subprocess.Popen[bytes], on_stdout: Told | None, on_stderr: Told | None) -> tuple[bytes, bytes]:
    """Both streams to their ends, handed on as they come."""
    assert process.stdout is not None
    assert process.stderr is not None
    chunks: dict[int, list[bytes]] = {}
    with selectors.DefaultSelector() as selector, process.stdout, process.stderr:
        for pipe, told in ((process.stdout, on_stdout), (process.stderr, on_stderr)):
            selector.register(pipe, selectors.EVENT_READ, (told, chunks.setdefault(pipe.fileno(), [])))
        while selector.get_map():
            for key, _ in selector.select():
                chunk = os.read(key.fd, CHUNK)
                told, kept = key.data
                if not chunk:
                    selector.unregister(key.fileobj)
                    continue
                kept.append(chunk)
                if told:
                    told(chunk)
    stdout, stderr = (b"".join(kept) for kept in chunks.values())
    return stdout, stderr
