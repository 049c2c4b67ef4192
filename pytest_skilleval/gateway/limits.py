"""What all runs share: one ledger of money, one back-off per host."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Mapping

from pytest_skilleval.gateway.values import Spend

FIRST_WAIT = 1.0
LONGEST_WAIT = 60.0
BUSY = frozenset({429, 503, 529})


class Ledger:
    """USD spent by every run, against one budget for the session and one for each run."""

    def __init__(self, budget_usd: float | None = None) -> None:
        self.budget_usd = budget_usd
        self._spent: defaultdict[str, float] = defaultdict(float)
        self._unpriced = 0

    def add(self, run: str, usd: float, *, priced: bool) -> None:
        """Book one model call; `priced` False: the sum is a guess upwards, since nobody knows the price."""
        self._spent[run] += usd
        self._unpriced += not priced

    def over(self, run: str, run_budget: float | None) -> str | None:
        """Why `run` may spend no more, or None."""
        total = sum(self._spent.values())
        if self.budget_usd is not None and total >= self.budget_usd:
            return f"the session has spent {total:.2f} USD of {self.budget_usd:.2f}"
        if run_budget is not None and self._spent[run] >= run_budget:
            return f"the run has spent {self._spent[run]:.2f} USD of {run_budget:.2f}"
        return None

    def spend(self, run: str) -> Spend:
        """The state of the ledger."""
        return Spend(
            session_usd=sum(self._spent.values()),
            run_usd=self._spent.get(run, 0.0),
            unpriced_calls=self._unpriced,
            budget_usd=self.budget_usd,
        )


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
