"""A port inside a sandbox that leads to a socket outside: no route, no virtual wire, no process.

A thread enters the network namespace for the moment it takes to open a listening socket there;
the socket stays in that namespace, and connections are accepted and passed on out here.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable
from pathlib import Path

from . import linux

_CHUNK = 262144
Target = tuple[str, int] | str


def listen_inside(pid: int, port: int) -> socket.socket:
    """A listening socket on 127.0.0.1:`port` in the network namespace of process `pid`.

    Raises
    ------
    OSError
        The process is gone, or the port is taken inside.
    """
    made: list[socket.socket | OSError] = []

    def enter() -> None:
        try:
            with Path(f"/proc/{pid}/ns/net").open("rb") as namespace:
                linux.setns(namespace.fileno(), linux.CLONE_NEWNET)
            made.append(socket.create_server(("127.0.0.1", port), backlog=64))
        except OSError as error:
            made.append(error)

    thread = threading.Thread(target=enter)  # namespaces belong to threads; this one ends with its errand
    thread.start()
    thread.join()
    if isinstance(made[0], OSError):
        raise made[0]
    return made[0]


class Forward:
    """Passes what connects to `listener` on to `target` until closed."""

    def __init__(self, listener: socket.socket, target: Target) -> None:
        self._listener = listener
        self._target = target
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._closed = False
        _thread(self._accept)

    def close(self) -> None:
        """Stop listening and cut what is connected."""
        with self._lock:
            self._closed = True
            sockets = [self._listener, *self._open]
        for one in sockets:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            _thread(lambda near=near: self._serve(near))  # type: ignore[misc]

    def _serve(self, near: socket.socket) -> None:
        with near, contextlib.suppress(OSError), _connect(self._target) as far:
            for one in (near, far):
                if one.family != socket.AF_UNIX:
                    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._keep(near, far):
                back = _thread(lambda: _pump(far, near))
                _pump(near, far)
                back.join()
            with self._lock:
                self._open -= {near, far}

    def _keep(self, *sockets: socket.socket) -> bool:
        with self._lock:
            self._open.update(sockets)
            return not self._closed


def _connect(target: Target) -> socket.socket:
    if not isinstance(target, str):
        return socket.create_connection(target)
    far = socket.socket(socket.AF_UNIX)
    try:
        far.connect(target)
    except OSError:
        far.close()
        raise
    return far


def _pump(source: socket.socket, sink: socket.socket) -> None:
    """Copy to the end; a broken connection is passed on as a cut, a finished one as a half-close."""
    how = socket.SHUT_WR
    try:
        while data := source.recv(_CHUNK):
            sink.sendall(data)
    except OSError:
        how = socket.SHUT_RDWR
    with contextlib.suppress(OSError):
        sink.shutdown(how)


def _thread(run: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread
