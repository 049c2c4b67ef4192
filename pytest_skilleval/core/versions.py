"""Which Docker Engine versions a spec wants: ``>=26`` or ``>=26.1,<29``."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping

_CLAUSE = re.compile(r"\s*(>=|<=|==|!=|>|<)\s*(\d+(?:\.\d+)*)\s*\Z")
_COMPARE: Mapping[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}


def engine_meets(wanted: str, version: str) -> bool:
    """Whether an engine `version` (``26.1.5+dfsg1``) meets `wanted`, compared as far as `wanted` is precise.

    ValueError when `wanted` is no such expression, or `version` begins with no number.
    """
    found = re.match(r"\d+(?:\.\d+)*", version)
    if found is None:
        raise ValueError(f"`{version}` is no engine version")
    numbers = _numbers(found.group())
    return all(_COMPARE[sign](_padded(numbers, len(bound)), bound) for sign, bound in clauses(wanted))


def clauses(wanted: str) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """The parts of an expression as (comparison, version); ValueError with the mend when it is none."""
    matches = [_CLAUSE.match(part) for part in wanted.split(",")]
    if not all(matches):
        raise ValueError(f"`{wanted}` is no version expression; write it like '>=26' or '>=26.1,<29'")
    return tuple((match[1], _numbers(match[2])) for match in matches if match)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")))


def _padded(numbers: tuple[int, ...], length: int) -> tuple[int, ...]:
    return (numbers + (0,) * length)[:length]
