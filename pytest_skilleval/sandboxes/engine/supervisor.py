"""The process that owns one sandbox: makes it, runs commands in it, removes it.

It has one thread, the real root's rights and a mount namespace of its own. It ends, and takes the
sandbox with it, when its control socket closes: when the plugin asks for that, and when it dies.
When the supervisor itself is killed, the kernel kills the sandbox's first process with it.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import socket
import time
from pathlib import Path
from typing import Any

from . import linux, rootfs, spawn
from .cgroups import Group, Hierarchy
from .wire import Program, Programs, Setup, receive, send

FIRST = ["/usr/bin/sleep", "infinity"]
"""The sandbox's pid 1. Nothing inside can kill it, so killing things inside does not end the sandbox."""
DOCKERD_OPTIONS = ("-H", "fd://", "--containerd=/run/containerd/containerd.sock")
LOGS = {"containerd": "/var/log/containerd.log", "dockerd": "/var/log/docker.log"}
RESTARTS = 20
_NAMESPACES = linux.CLONE_NEWUSER | linux.CLONE_NEWNS | linux.CLONE_NEWPID | linux.CLONE_NEWNET | linux.CLONE_NEWIPC | linux.CLONE_NEWUTS


def main(text: str) -> None:
    """Own the sandbox that the JSON of a `Setup` describes, from the making to the removal."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # the plugin decides when to stop
    os.umask(0o022)  # the session's own may be stricter, and would show in the sandbox's root
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            os.set_inheritable(int(link.name), False)  # nothing of ours may be open in a program inside
    setup = Setup.load(text)
    supervisor = Supervisor(setup)
    try:
        supervisor.make()
        supervisor.serve()
    except Exception as error:
        with contextlib.suppress(OSError):
            send(supervisor.control, {"error": f"{error}{supervisor.engine_log()}"})
    finally:
        supervisor.remove()


class Supervisor:
    """One sandbox from the outside."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.control = socket.socket(fileno=setup.control)
        self.outside = rootfs.Outside(Path(setup.scratch), setup.tree, setup.masks, setup.read_only, setup.size)
        found = tuple(Hierarchy(Path(path), version, controllers) for path, version, controllers in setup.cgroups)
        self.group = Group(setup.id, setup.owner, found, setup.limits)
        self.init = 0
        self.inside = -1
        self.daemons: dict[str, tuple[int, int]] = {}
        """Name -> (pidfd, pid)."""
        self.runs: dict[int, tuple[int, int, int]] = {}
        """pidfd of a running command -> (its number, its pid, its `done`)."""
        self.restarts = 0
        self.halting: int | None = None

    def make(self) -> None:
        """Namespaces, root, daemons; reports `Started` on the control socket."""
        linux.refuse_tracing()
        linux.unshare(linux.CLONE_NEWNS)
        linux.mount("", "/", flags=linux.MS_REC | linux.MS_PRIVATE)
        rootfs.lay_out(self.outside, self.setup.owner)
        self.group.create()
        if not self.group.found:
            raise OSError("no control group can be made: " + "; ".join(self.group.notes))
        self._first_process()
        linux.setns(self.inside, linux.CLONE_NEWPID)
        self._start_daemon("containerd")
        self._await_containerd()
        self._start_daemon("dockerd")
        disk = {"disk": self.setup.size} if self.setup.size is not None else {}
        send(self.control, {"init": self.init, "limits": {**self.group.in_force, **disk}, "notes": self.group.notes})

    def _first_process(self) -> None:
        gate, open_gate = os.pipe()
        report, tell = os.pipe()
        self.init = linux.clone(_NAMESPACES)
        if self.init == 0:
            os.close(open_gate)
            self._be_first(gate, tell)
        os.close(gate)
        os.close(tell)
        self.inside = os.pidfd_open(self.init)
        for name in ("uid_map", "gid_map"):
            Path(f"/proc/{self.init}/{name}").write_text(f"0 {self.setup.owner} {self.setup.ids}\n")
        self.group.add(self.init)
        os.write(open_gate, b"go")
        with os.fdopen(report) as file:
            if file.readline() == "unshared\n":
                self.group.settle(self.init)
            trouble = file.read()
        os.close(open_gate)
        if trouble:
            raise OSError(trouble)

    def _be_first(self, gate: int, tell: int) -> None:
        """The sandbox's pid 1 until it becomes the init program; never returns."""
        try:
            if os.read(gate, 2) != b"go":
                os._exit(1)
            os.setresgid(0, 0, 0)
            os.setgroups([])
            os.setresuid(0, 0, 0)
            linux.die_with_parent()
            if select.select([gate], [], [], 0)[0]:
                os._exit(1)  # the supervisor died before it could take this process along
            linux.unshare(linux.CLONE_NEWCGROUP)
            os.write(tell, b"unshared\n")
            os.umask(0o022)
            rootfs.build(self.outside, self.group.found, self.setup.hostname, self.setup.archive, self.setup.tar)
            os.setsid()
            null = os.open("/dev/null", os.O_RDWR)
            for number in range(3):
                os.dup2(null, number)
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
                signal.signal(number, signal.SIG_DFL)
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # kept over exec: the kernel then buries orphans
            os.execve(FIRST[0], FIRST, {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})  # noqa: S606 - no shell may come between
        except BaseException as error:
            os.write(tell, f"cannot build the root: {error}".encode())
        os._exit(1)

    def _start_daemon(self, name: str) -> None:
        argv = daemon_argv(name, self.setup.programs)
        listener = self.setup.listener if name == "dockerd" else None
        daemon = spawn.Daemon(argv, self.setup.engine_env, LOGS[name], listener, self.setup.docker_gid)
        pid = spawn.start_daemon(self.inside, self.group, daemon)
        self.daemons[name] = os.pidfd_open(pid), pid

    def _await_containerd(self) -> None:
        """An engine that finds no containerd backs off for a whole second."""
        end = time.monotonic() + 15
        door = Path(f"/proc/{self.init}/root/run/containerd/containerd.sock")
        while not door.exists():
            if select.select([self.daemons["containerd"][0]], [], [], 0.002)[0] or time.monotonic() > end:
                raise OSError("containerd did not start")

    def engine_log(self) -> str:
        """The end of the daemons' logs, for an error message."""
        parts = []
        for name, path in LOGS.items():
            with contextlib.suppress(OSError):
                text = Path(f"{self.outside.scratch}/upper{path}").read_text(errors="replace")
                parts.append(f"\n{name}: {text[-1500:].strip()}")
        return "".join(parts)

    def serve(self) -> None:
        """Take requests and reap until the plugin or the sandbox is gone."""
        while True:
            daemons = {descriptor: name for name, (descriptor, _) in self.daemons.items()}
            lifeline = self.control.fileno()
            ready, _, _ = select.select([lifeline, self.inside, *daemons, *self.runs], [], [])
            for one in ready:
                if one == self.inside or (one == lifeline and not self._request()):
                    return
                if one in daemons:
                    self._daemon_ended(daemons[one])
                elif one in self.runs:
                    self._run_ended(one)

    def _request(self) -> bool:
        message, descriptors = receive(self.control)
        if message is None:
            return False
        if message["do"] == "run":
            self._run(message["id"], descriptors)
        elif message["do"] == "kill":
            self._kill(message["id"])
        elif message["do"] == "halt":
            (self.halting,) = descriptors
            self._halt()
        return True

    def _run(self, number: int, descriptors: list[int]) -> None:
        payload, stdin, stdout, stderr, done = descriptors
        program = Program.load(payload)
        pid = spawn.start(self.inside, self.group, program, (stdin, stdout, stderr), number)
        self.runs[os.pidfd_open(pid)] = (number, pid, done)
        for one in (payload, stdin, stdout, stderr):
            os.close(one)

    def _run_ended(self, descriptor: int) -> None:
        _, pid, done = self.runs.pop(descriptor)
        os.close(descriptor)
        _, status = os.waitpid(pid, 0)
        code = os.waitstatus_to_exitcode(status)
        _answer(done, {"code": code if code >= 0 else 128 - code})

    def _kill(self, number: int) -> None:
        """Kill all that run `number` has started, detached ones too; 0: all that any run has."""
        self.group.kill(spawn.leaf(number) if number else spawn.LEAVES)

    def _daemon_ended(self, name: str) -> None:
        """Start it again, as a service manager would; or go on halting."""
        descriptor, pid = self.daemons.pop(name)
        os.close(descriptor)
        os.waitpid(pid, 0)
        if self.halting is not None:
            self._halt()
        elif self.restarts < RESTARTS:
            self.restarts += 1
            self._start_daemon(name)

    def _halt(self) -> None:
        """End dockerd, then containerd; answer when both are gone."""
        for name in ("dockerd", "containerd"):
            if name in self.daemons:
                signal.pidfd_send_signal(self.daemons[name][0], signal.SIGTERM)
                return
        if self.halting is not None:
            _answer(self.halting, {"code": 0})

    def remove(self) -> None:
        """Kill the sandbox, wait until it is dead, remove its groups and folder."""
        if self.init:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.inside, signal.SIGKILL)
            self.group.thaw()
            _reap_all()
        self.group.remove()
        os.chdir("/")
        with contextlib.suppress(OSError):
            linux.unmount(str(self.outside.scratch))
        shutil.rmtree(self.outside.scratch, ignore_errors=True)
        shutil.rmtree(self.setup.folder, ignore_errors=True)


def daemon_argv(name: str, programs: Programs) -> list[str]:
    """How a daemon of the sandbox is started."""
    return [programs.dockerd, *DOCKERD_OPTIONS] if name == "dockerd" else [programs.containerd]


def _reap_all() -> None:
    """Wait for all children: a dying namespace waits until each of its dead has been waited for."""
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)


def _answer(done: int, message: dict[str, Any]) -> None:
    with contextlib.suppress(OSError):
        os.write(done, json.dumps(message).encode())
    os.close(done)
