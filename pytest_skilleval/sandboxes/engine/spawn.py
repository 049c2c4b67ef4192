"""Starting programs inside a sandbox."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from . import linux
from .cgroups import Group
from .wire import Account, Program

_INSIDE = linux.CLONE_NEWUSER | linux.CLONE_NEWNS | linux.CLONE_NEWNET | linux.CLONE_NEWIPC | linux.CLONE_NEWUTS | linux.CLONE_NEWCGROUP
LEAVES = "user.slice"
_GARBAGE = "400"
"""Daemons that live for minutes may collect garbage later: a fifth less CPU for a seeded start."""
ENGINE_SOCKET = Path("/run/docker.sock")


def leaf(number: int) -> str:
    """The control group of run `number`, named as a login session's would be."""
    return f"{LEAVES}/session-{number}.scope"


def start(inside: int, group: Group, program: Program, stdio: tuple[int, int, int], session: int) -> int:
    """Start `program` in the sandbox behind the pidfd `inside`; its host pid.

    The caller has chosen the sandbox's process namespace for its children. A program that can't be
    started ends as a shell would end it: 127 when it is missing, else 126.
    """
    pid = os.fork()
    if pid == 0:
        _become(inside, group, program.account, leaf(session), lambda: _exec(program, stdio))
    return pid


@dataclass(frozen=True, slots=True)
class Daemon:
    """A daemon of the sandbox's root; `env` is added to its minimal environment."""

    argv: list[str]
    env: Mapping[str, str]
    log: str
    listener: int | None
    socket_gid: int


def start_daemon(inside: int, group: Group, daemon: Daemon) -> int:
    """Start a daemon; with a listener it takes over two listening sockets."""

    def run() -> None:
        output = os.open(daemon.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o640)
        env = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", "GOGC": _GARBAGE}
        env |= daemon.env
        if daemon.listener is not None:
            env |= {"LISTEN_FDS": "2", "LISTEN_PID": str(os.getpid())}
            _place((os.open("/dev/null", os.O_RDONLY), output, output, daemon.listener, _inner_listener(daemon.socket_gid)))
        else:
            _place((os.open("/dev/null", os.O_RDONLY), output, output))
        os.execve(daemon.argv[0], daemon.argv, env)  # noqa: S606 - no shell may come between

    pid = os.fork()
    if pid == 0:
        _become(inside, group, Account(0, 0, (), "/root"), None, run)
    return pid


def _become(inside: int, group: Group, account: Account, where: str | None, run: Callable[[], None]) -> None:
    """In the forked child: go inside, become `account`, run; never returns."""
    try:
        group.enter(where)
        linux.setns(inside, _INSIDE)
        os.setsid()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        os.umask(0o022)
        os.setgroups(account.groups)
        os.setresgid(account.gid, account.gid, account.gid)
        os.setresuid(account.uid, account.uid, account.uid)
        run()
    except BaseException as error:
        os.write(2, f"{error}\n".encode("utf-8", "replace"))
    os._exit(126)


def _exec(program: Program, stdio: tuple[int, int, int]) -> None:
    _place(stdio)
    name = program.argv[0]
    try:
        os.chdir(program.cwd)
        os.execvpe(name, program.argv, program.env)  # noqa: S606 - no shell may come between
    except OSError as error:
        entered = Path(program.cwd).is_dir()
        missing = isinstance(error, FileNotFoundError | NotADirectoryError) and entered
        what = "command not found" if missing else error.strerror
        os.write(2, f"{name if entered else program.cwd}: {what}\n".encode("utf-8", "surrogateescape"))
        os._exit(127 if missing else 126)


def _place(descriptors: tuple[int, ...]) -> None:
    """Make `descriptors` 0, 1, 2, ... and close all others."""
    high = [_duplicate(one) for one in descriptors]
    for number, one in enumerate(high):
        os.dup2(one, number)
    os.closerange(len(high), max(high) + 1)
    os.closerange(max(high) + 1, 4096)


def _duplicate(descriptor: int) -> int:
    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 64)


def _inner_listener(gid: int) -> int:
    """The engine's usual socket, as a service manager would hand it over."""
    with contextlib.suppress(FileNotFoundError):
        ENGINE_SOCKET.unlink()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(ENGINE_SOCKET))
    os.chown(ENGINE_SOCKET, 0, gid)
    ENGINE_SOCKET.chmod(0o660)
    listener.listen(128)
    return listener.detach()
