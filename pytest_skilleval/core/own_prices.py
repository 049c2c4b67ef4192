"""A user's own price table, read strictly: every fault of the file at once, each with its line and what to do."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import msgspec

from pytest_skilleval.core.errors import Fault, SpecError, UsageProblem
from pytest_skilleval.core.nearest import did_you_mean
from pytest_skilleval.core.positions import Document, Where, shown
from pytest_skilleval.core.prices import Price, Prices, PriceTable, with_own
from pytest_skilleval.core.reading import decode, parse_document, read_bytes

AMOUNTS = tuple(name for name in Price.__struct_fields__ if name != "model")


def read_own(path: Path, origin: str) -> Prices:
    """The table in the JSON file `path`, of the same shape as the shipped one, before that; `origin` is the option that names the file.

    Raises
    ------
    UsageProblem
        It can't be read, or a price in it can't be meant: a wrong price would be a wrong figure in every report.
    """
    try:
        value, document = _parsed(read_bytes(path), shown(path))
    except SpecError as error:
        raise UsageProblem(f"{origin}: {error}") from None
    faults = (*document.faults, *(document.fault(where, message) for where, message in _faults(value, document)))
    if faults:
        raise UsageProblem("\n  ".join((f"{origin}: this is no table of prices", *map(str, sorted(faults)))))
    return with_own(msgspec.convert(value, PriceTable))


def _parsed(content: bytes, file: str) -> tuple[Any, Document]:
    """The JSON value, and where its parts stand: JSON is YAML, but for a few escapes; with one of these every part is on line 1."""
    text = decode(content, file)
    try:
        value = json.loads(text, parse_int=float)  # amounts are floats, however many digits they have
    except json.JSONDecodeError as error:
        raise SpecError((Fault(file, error.lineno, "", f"is not JSON: {error.msg} (column {error.colno})"),)) from None
    try:
        return value, parse_document(content, file)
    except SpecError:
        return value, Document(file, value)


def _faults(value: Any, document: Document) -> Iterator[tuple[Where, str]]:
    if not isinstance(value, dict):
        yield (), 'is no object; write {"dated": "2026-11-30", "source": "our contract", "prices": [...]}'
        return
    yield from _keys(value, PriceTable.__struct_fields__, ())
    if "dated" in value and not _is_date(value["dated"]):
        yield ("dated",), "is no date; write the day the prices are from, such as 2026-11-30"
    if "source" in value and not _is_text(value["source"]):
        yield ("source",), "is no text; say where the prices are from: it stands in every report"
    if "prices" not in value:
        return
    prices = value["prices"]
    if not isinstance(prices, list) or not prices:
        yield ("prices",), "is no list with at least one price"
        return
    first: dict[str, int] = {}
    for index, price in enumerate(prices):
        where: Where = ("prices", index)
        yield from _price(price, where)
        model = price.get("model") if isinstance(price, dict) else None
        if isinstance(model, str) and first.setdefault(model.lower(), index) != index:
            line = document.line(("prices", first[model.lower()], "model"))
            yield (*where, "model"), f"{model} has a price already (line {line}); the first one counts, remove one"


def _price(price: Any, where: Where) -> Iterator[tuple[Where, str]]:
    if not isinstance(price, dict):
        yield where, f"is no price; write an object with {', '.join(Price.__struct_fields__)}"
        return
    yield from _keys(price, Price.__struct_fields__, where)
    if "model" in price and not _is_text(price["model"]):
        yield (*where, "model"), "is no name of a model; write one, or a glob such as gpt-6*"
    for name in AMOUNTS:
        if name in price and not _is_amount(price[name]):
            yield (*where, name), "is no price; write USD for a million tokens as a number of at least 0"


def _keys(found: Mapping[str, Any], wanted: tuple[str, ...], where: Where) -> Iterator[tuple[Where, str]]:
    for name in found:
        if name not in wanted:
            yield (*where, name), f"`{name}` is unknown{did_you_mean(name, wanted)}"
    if missing := [name for name in wanted if name not in found]:
        yield where, f"has no {', no '.join(missing)}; add what is missing"


def _is_date(value: object) -> bool:
    try:
        return isinstance(value, str) and bool(date.fromisoformat(value))
    except ValueError:
        return False


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_amount(value: object) -> bool:
    return isinstance(value, float) and math.isfinite(value) and value >= 0
