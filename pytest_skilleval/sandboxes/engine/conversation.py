"""The pipes of one command inside a sandbox, and the loop that feeds and drains them."""

from __future__ import annotations

import array
import contextlib
import fcntl
import json
import os
import selectors
import termios
import time
from collections.abc import Callable, Mapping

from pytest_skilleval.core.errors import SandboxError
from pytest_skilleval.core.ports import ExecResult

from .tree import FIRST_ID
from .wire import Account, Program

_CHUNK = 65536
_AFTER_EXIT = 0.1
"""Seconds for late output when something left in the background holds the pipes open."""
_AFTER_KILL = 30.0
Listener = Callable[[bytes], None]


class Conversation:
    """One command: `hold` runs it to its end; `cancelled` may be set from any thread."""

    def __init__(
        self,
        number: int,
        request: Callable[[Mapping[str, object], tuple[int, ...]], None],
        lost: Callable[[], SandboxError],
    ) -> None:
        self.cancelled = False
        self._number = number
        self._request = request
        self._lost = lost
        self._selector = selectors.DefaultSelector()
        self._read: dict[str, list[bytes]] = {"stdout": [], "stderr": [], "done": []}
        self._tell: dict[str, Listener | None] = {}
        self._unsent = memoryview(b"")
        self._timed_out = False

    def hold(
        self, program: Program, stdin: bytes, timeout: float, on_stdout: Listener | None = None, on_stderr: Listener | None = None
    ) -> ExecResult:
        """Start `program`, feed and drain it until it has ended or `timeout` seconds are over."""
        begun = time.monotonic()
        self._unsent = memoryview(stdin)
        self._tell = {"stdout": on_stdout, "stderr": on_stderr}
        try:
            self._start(program)
            self._converse(begun + timeout)
            self._drain()
        finally:
            self._hang_up()
        return self._result(time.monotonic() - begun)

    def _start(self, program: Program) -> None:
        theirs = [program.dump()]
        try:
            theirs.append(self._feed(program.account))
            theirs.extend(self._drainpipe(name, program.account) for name in self._read)
            self._request({"do": "run", "id": self._number}, tuple(theirs))
        finally:
            for one in theirs:
                os.close(one)
        if self.cancelled:
            self._kill()

    def _feed(self, account: Account) -> int:
        if not self._unsent:
            return os.open("/dev/null", os.O_RDONLY)
        theirs, ours = os.pipe()
        os.set_blocking(ours, False)
        self._selector.register(ours, selectors.EVENT_WRITE, "stdin")
        _give(theirs, account)
        return theirs

    def _drainpipe(self, name: str, account: Account) -> int:
        ours, theirs = os.pipe()
        self._selector.register(ours, selectors.EVENT_READ, name)
        _give(theirs, account)
        return theirs

    def _converse(self, deadline: float) -> None:
        while self._selector.get_map():
            wait = deadline - time.monotonic()
            if wait > 0:
                for key, _ in self._selector.select(wait):
                    self._step(key)
                if self._ended:
                    deadline = min(deadline, time.monotonic() + _AFTER_EXIT)
            elif self._ended or self._timed_out:
                return
            else:
                self._timed_out = True
                self._kill()
                deadline = time.monotonic() + _AFTER_KILL

    @property
    def _ended(self) -> bool:
        return bool(self._read["done"])

    def _step(self, key: selectors.SelectorKey) -> None:
        if key.data == "stdin":
            self._push(key.fd)
        elif not self._pull(key.fd, key.data, _CHUNK):
            self._close(key.fd)

    def _push(self, descriptor: int) -> None:
        with contextlib.suppress(BlockingIOError):
            try:
                self._unsent = self._unsent[os.write(descriptor, self._unsent[:_CHUNK]) :]
            except BrokenPipeError:
                self._unsent = self._unsent[:0]
        if not self._unsent:
            self._close(descriptor)

    def _pull(self, descriptor: int, name: str, size: int) -> bytes:
        data = os.read(descriptor, size)
        if data:
            self._read[name].append(data)
            if (tell := self._tell.get(name)) is not None:
                tell(data)
        return data

    def _drain(self) -> None:
        """Take what the program itself wrote and is still in a pipe that others hold open."""
        for key in [*self._selector.get_map().values()]:
            if key.data != "stdin" and (size := _readable(key.fd)):
                self._pull(key.fd, key.data, size)

    def _kill(self) -> None:
        self._request({"do": "kill", "id": self._number}, ())

    def _close(self, descriptor: int) -> None:
        self._selector.unregister(descriptor)
        os.close(descriptor)

    def _hang_up(self) -> None:
        for key in [*self._selector.get_map().values()]:
            self._close(key.fd)
        self._selector.close()

    def _result(self, seconds: float) -> ExecResult:
        done = b"".join(self._read["done"])
        if not done and not self._timed_out:
            raise self._lost()
        stopped = self._timed_out or self.cancelled
        return ExecResult(
            exit_code=None if stopped else int(json.loads(done)["code"]),
            stdout=b"".join(self._read["stdout"]),
            stderr=b"".join(self._read["stderr"]),
            seconds=seconds,
            timed_out=self._timed_out,
            cancelled=self.cancelled,
        )


def _give(descriptor: int, account: Account) -> None:
    """Its owner may open a pipe again through /dev/stdout."""
    os.fchown(descriptor, FIRST_ID + account.uid, FIRST_ID + account.gid)


def _readable(descriptor: int) -> int:
    count = array.array("i", [0])
    fcntl.ioctl(descriptor, termios.FIONREAD, count)
    return count[0]
