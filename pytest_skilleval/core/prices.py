"""Money from tokens: a dated price table shipped as data, and the sum done two ways."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files

import msgspec

from pytest_skilleval.core.transcript import Usage

MILLION = 1_000_000


class Price(msgspec.Struct, frozen=True, kw_only=True):
    """USD for a million tokens of each kind, for the models whose name matches the glob `model`."""

    model: str
    input: float
    output: float
    cache_read: float
    cache_write_5m: float
    cache_write_1h: float


class PriceTable(msgspec.Struct, frozen=True, kw_only=True):
    """Prices as of a date; the first entry that matches counts."""

    dated: str
    source: str
    prices: tuple[Price, ...]

    def of(self, model: str) -> Price | None:
        """The price of `model`, region and vendor prefixes and a window suffix aside; None: not in the table."""
        name = model.rsplit("/", 1)[-1].removesuffix("[1m]").lower()
        candidates = (name, name.split("anthropic.", 1)[-1])
        return next((price for price in self.prices if any(fnmatchcase(one, price.model) for one in candidates)), None)


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """USD as billed, and at the price without a cache (who ran first does not matter then); None: no price known."""

    billed: float | None
    uncached: float | None


@cache
def shipped() -> PriceTable:
    """The table that comes with this package."""
    return read(files(__package__).joinpath("prices.json").read_bytes())


def read(data: bytes) -> PriceTable:
    """A table from JSON; msgspec.DecodeError says what is wrong."""
    return msgspec.json.decode(data, type=PriceTable)


def cost(usage: Usage, model: str, table: PriceTable | None = None) -> Cost:
    """What these tokens cost on `model`. `usage.input` counts uncached input only, as Anthropic reports it."""
    price = (table or shipped()).of(model)
    if price is None:
        return Cost(billed=None, uncached=None)
    return _cost(usage, price)


def dearest(usage: Usage, table: PriceTable | None = None) -> float:
    """What these tokens cost at most on any model of the table, in USD: what a budget must reckon with where no price is known."""
    return max((_cost(usage, price).billed or 0.0 for price in (table or shipped()).prices), default=0.0)


def _cost(usage: Usage, price: Price) -> Cost:
    billed = (
        usage.input * price.input
        + usage.output * price.output
        + usage.cache_read * price.cache_read
        + usage.cache_write_5m * price.cache_write_5m
        + usage.cache_write_1h * price.cache_write_1h
    )
    plain = (usage.input + usage.cache_read + usage.cache_write) * price.input + usage.output * price.output
    return Cost(billed=billed / MILLION, uncached=plain / MILLION)
