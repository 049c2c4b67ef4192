"""Bearer tokens that a command prints, asked for again as they age."""

from __future__ import annotations

import asyncio
import shlex
import subprocess
import time
from collections import defaultdict
from collections.abc import Mapping

from pytest_skilleval.core.credentials import Masking
from pytest_skilleval.core.errors import UsageProblem
from pytest_skilleval.gateway.clouds import TOKEN_COMMAND
from pytest_skilleval.gateway.upstream import Upstream

FRESH_SECONDS = 240.0
"""Commands keep tokens themselves and may hand out one that has only minutes to live."""
TIMEOUT = 30.0


def fetch(command: str) -> str:
    """The token that `command` prints; UsageProblem when it prints none. Its output is never part of the message."""
    try:
        done = subprocess.run(shlex.split(command), capture_output=True, timeout=TIMEOUT, check=False, stdin=subprocess.DEVNULL)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise UsageProblem(f"{TOKEN_COMMAND}: the command can't be run ({type(error).__name__}); try it in a shell") from None
    token = done.stdout.decode("utf-8", "replace").strip()
    if done.returncode != 0 or not token or not token.isprintable():
        raise UsageProblem(f"{TOKEN_COMMAND}: the command printed no token (exit code {done.returncode}); try it in a shell")
    return token


class Tokens:
    """The credential headers of upstreams, for all runs: one command at a time, its token kept for a while.

    `mask` learns each token before it is sent anywhere.
    """

    def __init__(self, mask: Masking) -> None:
        self._mask = mask
        self._kept: dict[str, tuple[float, str]] = {}
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def headers(self, upstream: Upstream) -> Mapping[str, str]:
        """What to send now besides the agent's own headers; UsageProblem when the command fails."""
        command = upstream.token_command
        if command is None:
            return {**upstream.headers, **upstream.more}
        async with self._locks[command]:
            since, token = self._kept.get(command, (0.0, ""))
            if not token or time.monotonic() - since > FRESH_SECONDS:
                token = await asyncio.to_thread(fetch, command)
                self._mask.learn([token])
                self._kept[command] = (time.monotonic(), token)
        return {"authorization": f"Bearer {token}", **upstream.more}
