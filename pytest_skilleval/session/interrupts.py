"""Ctrl-C, SIGTERM, SIGHUP and the controller's death: one orderly end, in which every sandbox is closed.

pytest itself tears nothing down on SIGTERM, and a second Ctrl-C would break off the tear-down that the first one began.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
GIVE_UP_AFTER = 3
"""So many Ctrl-C break off the tear-down after all: somebody must be able to end a stuck one."""


class Interrupts:
    """Signal handlers of one process.

    The first signal calls `on_stop` in a thread of its own and raises KeyboardInterrupt, at once between runs, and after
    the run's own clean-up within one (see `guard`). Later signals change nothing, and say so.
    """

    def __init__(self, on_stop: Callable[[str], None]) -> None:
        self._on_stop = on_stop
        self._console: int | None = None
        self._received = 0
        self._guarded = False
        self._earlier: dict[int, Any] = {}

    @property
    def received(self) -> bool:
        """Whether the session is to end."""
        return self._received > 0

    def install(self) -> None:
        """Take over the signals; one that is ignored (``nohup``) stays ignored. Only the main thread can."""
        if threading.current_thread() is not threading.main_thread():
            return
        with suppress(OSError):
            self._console = os.dup(2)
        for number in SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._earlier[number] = signal.signal(number, self._receive)

    def restore(self) -> None:
        """Give the signals back."""
        while self._earlier:
            signal.signal(*self._earlier.popitem())
        if self._console is not None:
            os.close(self._console)
            self._console = None

    def stop(self, reason: str) -> None:
        """End this process' part as a signal would, without one (from any thread)."""
        if not self._received:
            self._received = 1
            self._on_stop(reason)

    @contextmanager
    def guard(self) -> Iterator[None]:
        """A run is open: a signal stops it by `on_stop` only, and KeyboardInterrupt comes when it is closed."""
        self._guarded = True
        try:
            yield
        finally:
            self._guarded = False
        if self._received:
            raise KeyboardInterrupt

    def _receive(self, number: int, _frame: FrameType | None) -> None:
        self._received += 1
        if self._received == 1:
            # A thread: whatever lock the interrupted code holds, it can go on and release it.
            threading.Thread(target=self._on_stop, args=(signal.Signals(number).name,), daemon=True).start()
            if not self._guarded:
                raise KeyboardInterrupt
        elif number == signal.SIGINT and self._received >= GIVE_UP_AFTER:
            raise KeyboardInterrupt
        else:
            self._write(b"\nskilleval: sandboxes are being closed, please wait\n")

    def _write(self, text: bytes) -> None:
        """Past pytest's capturing, which holds back what a run writes."""
        if self._console is not None:
            with suppress(OSError):
                os.write(self._console, text)


def watch(is_over: Callable[[], str | None], stop: Callable[[str], None]) -> threading.Event:
    """Look every tenth of a second, from a thread, whether `is_over` gives a reason, and call `stop` with it once.

    Returns the event that ends the watch.
    """
    done = threading.Event()

    def look() -> None:
        while not done.wait(0.1):
            if reason := is_over():
                stop(reason)
                return

    threading.Thread(target=look, name="skilleval-watch", daemon=True).start()
    return done
