"""Report <-> report.json: the same results always give the same bytes but for `generated_at`."""

from __future__ import annotations

import json
import math
from typing import Any

import msgspec

from pytest_skilleval.core.errors import ArchiveError
from pytest_skilleval.report.values import FORMAT, Document, Report

DIGITS = 6


def to_json(report: Report, generated_at: str) -> bytes:
    """report.json, UTF-8, keys in a fixed order, floats rounded to six digits after the point.

    Parameters
    ----------
    generated_at
        UTC, ISO 8601.

    Raises
    ------
    ValueError
        A number is not finite: that would be a fault of ours, and must never reach a file.
    """
    document = msgspec.structs.replace(report.document, generated_at=generated_at)
    return msgspec.json.format(msgspec.json.encode(_rounded(msgspec.to_builtins(document))), indent=1) + b"\n"


def from_json(data: bytes, name: str = "report.json") -> Document:
    """Read a report.json again.

    Raises
    ------
    ArchiveError
        It is none, or of a newer format.
    """
    try:
        head = msgspec.json.decode(data, type=_Head)
        if head.format > FORMAT:
            raise ArchiveError(f"{name} has format {head.format}, newer than {FORMAT}: update pytest-skilleval to read it")
        return msgspec.json.decode(data, type=Document)
    except msgspec.MsgspecError as problem:
        raise ArchiveError(f"{name} is no report that can be read ({problem}); write it anew with: skilleval report FOLDER") from problem


def schema() -> bytes:
    """The JSON Schema of report.json, as shipped beside this module."""
    found = msgspec.json.schema(Document)
    titled = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "pytest-skilleval report.json"} | found
    return json.dumps(titled, indent=1, sort_keys=True).encode() + b"\n"


class _Head(msgspec.Struct, frozen=True):
    format: int


def _rounded(value: Any) -> Any:
    match value:
        case float():
            return _number(value)
        case dict():
            return {key: _rounded(item) for key, item in value.items()}
        case list() | tuple():
            return [_rounded(item) for item in value]
        case _:
            return value


def _number(value: float) -> float | int:
    if not math.isfinite(value):
        raise ValueError(f"{value} can't stand in a report")
    rounded = round(value, DIGITS)
    return int(rounded) if rounded.is_integer() else rounded
