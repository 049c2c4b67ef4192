"""The prices that a session counts by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_skilleval.core.prices import Prices, shipped
from pytest_skilleval.options import PRICES

if TYPE_CHECKING:
    import pytest

    from pytest_skilleval.session.settings import Settings


def prices_of(config: pytest.Config, settings: Settings) -> Prices:
    """The user's own table before the shipped one; UsageProblem when its file can't be read as one."""
    if settings.prices is None:
        return shipped()
    from pytest_skilleval.core.own_prices import read_own

    return read_own(settings.prices, PRICES.origin(config))
