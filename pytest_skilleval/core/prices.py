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

    @property
    def told(self) -> str:
        """Date and source."""
        return f"{self.dated}, {self.source}"

    def of(self, model: str) -> Price | None:
        """The price of `model`, region and vendor prefixes and a window suffix aside; None: not in the table."""
        name = model.rsplit("/", 1)[-1].removesuffix("[1m]").lower()
        candidates = (name, name.split("anthropic.", 1)[-1])
        return next((price for price in self.prices if any(fnmatchcase(one, price.model.lower()) for one in candidates)), None)


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """USD as billed, and at the price without a cache (who ran first does not matter then); None: no price known."""

    billed: float | None
    uncached: float | None


class Prices(msgspec.Struct, frozen=True, kw_only=True):
    """What a session counts by (``prices.json``): model by model, a user's own table comes before the shipped one."""

    format: int = 1
    own: PriceTable | None = None
    shipped: PriceTable

    def of(self, model: str) -> Price | None:
        """The price of `model`; None: in neither table."""
        return self.of_own(model) or self.shipped.of(model)

    def of_own(self, model: str) -> Price | None:
        """The price of `model` in the user's own table, if it is there."""
        return self.own.of(model) if self.own else None

    def cost(self, usage: Usage, model: str) -> Cost:
        """What these tokens cost on `model`. `usage.input` counts uncached input only, as Anthropic reports it."""
        price = self.of(model)
        return Cost(billed=None, uncached=None) if price is None else _cost(usage, price)

    def dearest(self, usage: Usage) -> float:
        """What these tokens cost at most on any known model, in USD: what a budget must reckon with where no price is known."""
        known = (*(self.own.prices if self.own else ()), *self.shipped.prices)
        return max((_cost(usage, price).billed or 0.0 for price in known), default=0.0)

    def facts(self) -> dict[str, str]:
        """Date and source of the tables, for provenance."""
        own = {"prices.own": self.own.told} if self.own else {}
        return own | {"prices": self.shipped.told}


@cache
def shipped() -> Prices:
    """The table that comes with this package, and no other."""
    return Prices(shipped=msgspec.json.decode(files(__package__).joinpath("prices.json").read_bytes(), type=PriceTable))


def with_own(table: PriceTable) -> Prices:
    """The table of a user before the one that comes with this package."""
    return msgspec.structs.replace(shipped(), own=table)


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
