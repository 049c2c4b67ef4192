"""What was fixed before the first run, and what that makes of each figure."""

from __future__ import annotations

import msgspec


class PlannedLook(msgspec.Struct, frozen=True, kw_only=True):
    """A planned look: after so many repeats of every case, at this significance level; it gives up where p is above `futile`."""

    repeats: int
    alpha: float
    futile: float = 1.0


class Design(msgspec.Struct, frozen=True, kw_only=True):
    """The plan's lock, and how the session kept to it."""

    lock: str
    """SHA-256 of the spec and its files, from the plan."""
    changed: tuple[str, ...]
    """How the spec that scored departs from the locked one; not empty: every figure is exploratory."""
    primary: tuple[tuple[str, str], ...]
    """The contrasts (from, to) that were to be tested."""
    looks: tuple[PlannedLook, ...]
    stopped_at: int | None
    """Number, from 1, of the look that ended the session early; null: it went to the end."""
    stopped_why: str | None = None
    """``changed | futile``; null: it went to the end."""
    alpha: float
    """The level at which claims are made."""
    stamps: dict[str, str]
    """Key of report.json -> ``primary``, ``exploratory``, or ``by row`` where every row says."""
