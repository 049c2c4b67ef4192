"""Numbers with their limits."""

from __future__ import annotations

import msgspec


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of an interval, or null and the reason. A reason beside limits is a caveat to read with them."""

    low: float | None
    high: float | None
    level: float
    method: str
    n: float
    """Number of units behind the limits."""
    unit: str
    """What `n` counts: runs, cases, families."""
    reason: str | None = None


class Figure(Limits, frozen=True, kw_only=True):
    """A number with its limits; null when it can't be estimated."""

    value: float | None


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """How far a number could move by what is not known: no interval of chance, so without a level."""

    low: float | None
    high: float | None
    method: str
    n: float
    unit: str
    reason: str | None = None
