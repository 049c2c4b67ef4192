"""What all runs share: one ledger of money, one back-off per host."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Mapping

from pytest_skilleval.core.prices import Prices, shipped
from pytest_skilleval.core.transcript import Usage

FIRST_WAIT = 1.0
LONGEST_WAIT = 60.0
BUSY = frozenset({429, 503, 529})


class Ledger:
    """USD spent by the live runs of a session, against its budget: the only such sum. Booked and asked from several threads.

    Parameters
    ----------
    budget_usd
        None: no limit.
    when_spent
        Called once, with the reason, as soon as nothing is left.
    """

    def __init__(
        self, budget_usd: float | None = None, *, prices: Prices | None = None, when_spent: Callable[[str], None] | None = None
    ) -> None:
        self.prices = prices or shipped()
        self._budget, self._when_spent = budget_usd, when_spent
        self._lock = threading.Lock()
        self._runs: set[str] = set()
        self._guessed = 0
        self.spent_usd = 0.0

    def follow(self, run: str) -> None:
        """The model calls of `run` will be booked one by one; its last part, after a slash, is the number of the try."""
        with self._lock:
            self._runs.add(run.rpartition("/")[0])

    def add(self, usage: Usage, usd: float | None) -> None:
        """Book one model call; without a known price (None) at the dearest there is, so that the budget holds."""
        self._book(self.prices.dearest(usage) if usd is None else usd, guessed=usd is None)

    def told(self, run: str, usd: float) -> None:
        """Book what a run says that it has cost, unless its calls were booked one by one."""
        with self._lock:
            if run in self._runs:
                return
        self._book(usd)

    def over(self) -> str | None:
        """Why nothing more may be spent, or None."""
        if self._budget is None or self.spent_usd < self._budget:
            return None
        guess = f", the calls of a model without a known price ({self._guessed}) reckoned at the dearest one" if self._guessed else ""
        why = f"the cost limit of ${self._budget:.2f} is reached (${self.spent_usd:.2f} spent{guess})"
        with self._lock:
            tell, self._when_spent = self._when_spent, None
        if tell is not None:
            tell(why)
        return why

    def _book(self, usd: float, *, guessed: bool = False) -> None:
        with self._lock:
            self.spent_usd += usd
            self._guessed += guessed
        self.over()


class BackOff:
    """When one run is told to slow down, all hold back: the next request to that host waits."""

    def __init__(self) -> None:
        self._until: dict[str, float] = {}
        self._wait: dict[str, float] = {}

    async def hold(self, host: str) -> float:
        """Wait until `host` may be asked again; returns the seconds waited."""
        waited = 0.0
        while (rest := self._until.get(host, 0.0) - time.monotonic()) > 0:
            await asyncio.sleep(rest)
            waited += rest
        return waited

    def told(self, host: str, status: int, headers: Mapping[str, str]) -> None:
        """Learn from a reply: a busy host is left alone as long as it asks (else 1, 2, 4 ... 60 s); any other ends that."""
        if status not in BUSY:
            self._wait.pop(host, None)
            return
        wait = _asked(headers)
        if wait is None:
            wait = min(self._wait.get(host, FIRST_WAIT / 2) * 2, LONGEST_WAIT)
            self._wait[host] = wait
        self._until[host] = max(self._until.get(host, 0.0), time.monotonic() + min(wait, LONGEST_WAIT))


def _asked(headers: Mapping[str, str]) -> float | None:
    """Seconds of a ``retry-after`` header; None when there is none, or a date."""
    try:
        return max(0.0, float(headers.get("retry-after", "")))
    except ValueError:
        return None
