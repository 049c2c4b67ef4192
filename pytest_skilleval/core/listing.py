"""How many characters of skill names and descriptions an agent shows its model: a dated table shipped as data.

What does not fit is cut or left out, so one skill more or less can change how the others are shown.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files

import msgspec

FULL = "the agent's listing budget is full: it showed the model no whole description of "
"""How the warning of a run begins whose listing was cut; names of skills follow, separated by commas."""


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """Characters for the whole listing, for an agent whose model's name matches the glob `model`."""

    agent: str
    model: str
    characters: int
    rule: str


class BudgetTable(msgspec.Struct, frozen=True, kw_only=True):
    """Budgets as of a date; the first entry that matches counts."""

    dated: str
    source: str
    budgets: tuple[Budget, ...]

    def of(self, agent: str, model: str) -> Budget | None:
        """The budget; None: not known."""
        return next((one for one in self.budgets if one.agent == agent and fnmatchcase(model.lower(), one.model)), None)


@cache
def shipped() -> BudgetTable:
    """The table that comes with this package."""
    return msgspec.json.decode(files(__package__).joinpath("listing_budgets.json").read_bytes(), type=BudgetTable)


def shortened(warning: str) -> tuple[str, ...]:
    """The skills that a run's warning says were cut; empty for any other warning."""
    return tuple(warning.removeprefix(FULL).split(", ")) if warning.startswith(FULL) else ()
