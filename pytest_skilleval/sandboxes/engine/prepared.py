"""Prepared states: the engine's data, HOME and workspace of a seeded sandbox, kept to be restored.

A state is one tar archive, unpacked into every sandbox that asks for it, beside a note of what
ran. Saving is exclusive by name: the last of several equal savers wins, none is ever half there.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_skilleval.core.errors import SandboxError
from pytest_skilleval.core.ports import Command

if TYPE_CHECKING:
    from docker import APIClient

    from .sandbox import EngineSandbox

_PACKED = ("var/lib/docker", "var/lib/containerd", "home/agent", "workspace")
_LEFT_OUT = ("var/lib/docker/runtimes", "var/lib/docker/tmp")
_ALIVE = ("running", "paused", "restarting")
DAY = 86400.0
_KEPT = 30 * DAY


@dataclass(frozen=True, slots=True)
class Kept:
    """A state on disk: its archive and the ids of the containers that ran (`paused`: and were paused)."""

    archive: Path
    running: tuple[str, ...]
    paused: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Store:
    """The states kept for one root tree."""

    folder: Path

    def _path(self, key: str) -> Path:
        readable = re.sub(r"[^A-Za-z0-9.-]+", "-", key)[:60]
        return self.folder / f"{readable}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.tar"

    def find(self, key: str) -> Kept | None:
        """The state kept under `key`, if any."""
        archive = self._path(key)
        try:
            note = json.loads(archive.with_suffix(".json").read_text())
        except FileNotFoundError:
            return None
        try:
            os.utime(archive)
        except FileNotFoundError:
            return None
        return Kept(archive, tuple(note["running"]), tuple(note["paused"]))

    def require(self, key: str) -> Kept:
        """The state kept under `key`; SandboxError when there is none."""
        if (kept := self.find(key)) is None:
            raise SandboxError(f"no prepared state is kept under {key!r} in {self.folder}")
        return kept

    def keep(self, key: str, archive: bytes, running: Iterable[str], paused: Iterable[str]) -> None:
        """Keep a state, and forget those not used for `_KEPT` seconds; the note comes last, so that a state with a note is whole."""
        path = self._path(key)
        self.folder.mkdir(parents=True, exist_ok=True)
        note = json.dumps({"key": key, "running": [*running], "paused": [*paused]})
        for target, content in ((path, archive), (path.with_suffix(".json"), note.encode())):
            part = target.with_name(f"{target.name}.{os.getpid()}.part")
            part.write_bytes(content)
            part.rename(target)
        for old in self.folder.glob("*.tar"):
            if time.time() - old.stat().st_mtime > _KEPT:
                old.with_suffix(".json").unlink(missing_ok=True)
                old.unlink(missing_ok=True)


def save(sandbox: EngineSandbox, store: Store, key: str, age_days: float) -> None:
    """Stop all in `sandbox`, move all times back, pack it; the engine is down afterwards.

    Raises
    ------
    SandboxError
        A container was started with ``--rm``: the engine would remove it on the way.
    """
    alive = _alive(sandbox.client)
    _refuse_passing(alive)
    running = [one["Id"] for one in alive]
    paused = [one["Id"] for one in alive if one["State"]["Status"] == "paused"]
    _kill(sandbox.client, running, paused)
    sandbox.halt()
    _age(sandbox, age_days, running)
    store.keep(key, _pack(sandbox), running, paused)


def _alive(client: APIClient) -> list[Mapping[str, Any]]:
    listed = client.containers(all=True, filters={"status": list(_ALIVE)})
    return [client.inspect_container(one["Id"]) for one in reversed(listed)]


def _refuse_passing(alive: Iterable[Mapping[str, Any]]) -> None:
    for one in alive:
        if one["HostConfig"].get("AutoRemove"):
            raise SandboxError(f"container {one['Name'].lstrip('/')} was started with --rm and can't be kept; start it without")


def _kill(client: APIClient, running: list[str], paused: list[str]) -> None:
    """Killed, not stopped: one that ignores SIGTERM would cost ten seconds."""
    for one in paused:
        client.unpause(one)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(client.kill, running))
        list(pool.map(client.wait, running))


def _age(sandbox: EngineSandbox, days: float, running: list[str]) -> None:
    program = resources.files(__package__).joinpath("ageing.py").read_bytes()
    command = Command(
        argv=("python3", "-I", "-S", "-", str(days * DAY), str(sandbox.opened_at), *running), stdin=program, user="root", cwd="/"
    )
    done = sandbox.exec(command, timeout=120)
    if done.exit_code:
        raise SandboxError(f"cannot move the state's times back: {done.stderr.decode(errors='replace')[-1000:]}")


def _pack(sandbox: EngineSandbox) -> bytes:
    without = [f"--exclude={path}" for path in _LEFT_OUT]
    options = ("--xattrs", "--xattrs-include=*", "--numeric-owner", "--warning=no-file-ignored", *without)
    done = sandbox.exec(Command(argv=("tar", "-C", "/", *options, "-cf", "-", *_PACKED), user="root", cwd="/"), timeout=600)
    if done.exit_code:
        raise SandboxError(f"cannot pack the state: {done.stderr.decode(errors='replace')[-1000:]}")
    return done.stdout
