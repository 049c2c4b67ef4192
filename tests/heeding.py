"""Children that heed Ctrl-C whatever started the tests: what a shell starts in the background ignores it, and passes that on."""

from __future__ import annotations

import signal


def heed_signals() -> None:
    """Let a child begin as one in a terminal does; for ``preexec_fn`` of the children that are to be interrupted."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
