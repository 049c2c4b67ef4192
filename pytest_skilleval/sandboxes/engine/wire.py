"""What the plugin and a supervisor say to each other.

The supervisor is told a `Setup` once; then it takes requests on a SOCK_SEQPACKET socket whose
closing ends the sandbox. A request is a small JSON object with file descriptors beside it:

``{"do": "run", "id": n}``   a `Program` in a memory file, stdin, stdout, stderr, done
``{"do": "kill", "id": n}``  all processes that run `n` started (0: that any run started)
``{"do": "halt"}``           done; ends the engine cleanly, its data can be packed then

`done` gets one JSON object, ``{"code": int}``, and is closed. The first message the other way
is a `Started` or ``{"error": text}``.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

MESSAGE_BYTES = 65536


@dataclass(frozen=True, slots=True)
class Account:
    """A user inside; ids are the inside's own."""

    uid: int
    gid: int
    groups: tuple[int, ...]
    home: str
    shell: str = "/bin/bash"


@dataclass(frozen=True, slots=True)
class Programs:
    """Where the root has what makes an engine."""

    containerd: str = "/usr/bin/containerd"
    dockerd: str = "/usr/sbin/dockerd"


@dataclass(frozen=True, slots=True)
class Setup:
    """Everything a supervisor needs to make its sandbox; paths are the host's, numbers descriptors."""

    id: str
    folder: str
    scratch: str
    tree: str
    masks: tuple[str, ...]
    read_only: tuple[tuple[str, str], ...]
    size: int | None
    hostname: str
    limits: Mapping[str, int | None]
    owner: int
    ids: int
    docker_gid: int
    tar: str
    programs: Programs
    cgroups: tuple[tuple[str, int, tuple[str, ...]], ...]
    """Path, version and controllers of each hierarchy to use."""
    control: int = -1
    listener: int = -1
    archive: int | None = None
    engine_env: Mapping[str, str] = field(default_factory=dict)

    def dump(self) -> str:
        """As JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def load(cls, text: str) -> Setup:
        """Back from JSON."""
        raw = json.loads(text)
        raw["masks"] = tuple(raw["masks"])
        raw["read_only"] = tuple((source, inside) for source, inside in raw["read_only"])
        raw["cgroups"] = tuple((path, version, tuple(controllers)) for path, version, controllers in raw["cgroups"])
        raw["programs"] = Programs(**raw["programs"])
        return cls(**raw)


@dataclass(frozen=True, slots=True)
class Started:
    """A sandbox that is up: its first process (the host's number for it) and what limits hold."""

    init: int
    limits: Mapping[str, int]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """One program to start inside."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str
    account: Account

    def dump(self) -> int:
        """Into a memory file (an argument list can be far longer than a message)."""
        descriptor = os.memfd_create("program")
        with open(descriptor, "wb", closefd=False) as file:
            file.write(json.dumps(asdict(self)).encode("utf-8", "surrogatepass"))
        return descriptor

    @classmethod
    def load(cls, descriptor: int) -> Program:
        """Back from the memory file."""
        with open(descriptor, "rb", closefd=False) as file:
            file.seek(0)
            raw = json.loads(file.read().decode("utf-8", "surrogatepass"))
        return cls(tuple(raw["argv"]), raw["env"], raw["cwd"], Account(**raw["account"]))


def send(control: socket.socket, message: Mapping[str, Any], descriptors: tuple[int, ...] = ()) -> None:
    """Send one message; raises OSError when the other end is gone."""
    socket.send_fds(control, [json.dumps(message).encode()], list(descriptors))


def receive(control: socket.socket) -> tuple[dict[str, Any] | None, list[int]]:
    """The next message and its descriptors; None when the other end has closed."""
    try:
        data, descriptors, _, _ = socket.recv_fds(control, MESSAGE_BYTES, 8)
    except ConnectionError:
        return None, []
    return (json.loads(data) if data else None), descriptors
