"""What to say about a value of the wrong shape: what is wrong, and what to write."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel

from pytest_skilleval.core.nearest import did_you_mean
from pytest_skilleval.core.positions import Where
from pytest_skilleval.core.spec import ID_PATTERN, Spec

_PAIR = "must be a pair of arms: [from, to]"
_WHOLE = "must be a whole number, without quotes"
_NUMBER = "must be a number, without quotes"
_FIXED: Mapping[str, str] = {
    "bool_type": "must be true or false",
    "int_type": _WHOLE,
    "int_from_float": _WHOLE,
    "float_type": _NUMBER,
    "finite_number": "must be a finite number",
    "string_too_short": "is empty; write a text or remove the key",
    "too_short": "is empty; it needs at least one entry",
    "too_long": _PAIR,
}
_BOUNDS: Mapping[str, tuple[str, str]] = {
    "greater_than": ("gt", "more than"),
    "greater_than_equal": ("ge", "at least"),
    "less_than": ("lt", "less than"),
    "less_than_equal": ("le", "at most"),
}


def message(where: Where, details: Any, source: str | None) -> str:
    """The message for one pydantic error (`details`) about the value at `where`, written as `source` in the file."""
    kind, given = details["type"], details["input"]
    if kind in _FIXED:
        return _FIXED[kind]
    if kind in _BOUNDS:
        name, words = _BOUNDS[kind]
        return f"must be {words} {details['ctx'][name]:g}, not {source}"
    if kind in _SPOKEN:
        wrong_key = details["loc"][-1] == "[key]"
        return _SPOKEN[kind](where, details, _short(str(where[-1]) if wrong_key else source))
    if kind in {"tuple_type", "dict_type", "model_type"}:
        if given is None and not where:
            return "is empty; a spec has at least the keys `skill`, `arms` and `cases`"
        wanted = "a list" if kind == "tuple_type" else "a mapping of keys to values"
        return f"is empty; write {wanted} or remove the key" if given is None else f"must be {wanted}, not {_what(given)}"
    return str(details["msg"])


def _unknown_key(where: Where, _details: Any, _source: str) -> str:
    return f"unknown key `{where[-1]}`{did_you_mean(str(where[-1]), _known_keys(where[:-1]))}"


def _missing(_where: Where, details: Any, _source: str) -> str:
    key = details["loc"][-1]
    return _PAIR if isinstance(key, int) else f"`{key}` is missing; add it"


def _literal(_where: Where, details: Any, source: str) -> str:
    allowed = re.findall(r"'([^']*)'", details["ctx"]["expected"])
    if details["loc"][-1] == "all":
        return f"must be a list of skill ids or the word `all`, not `{source}`"
    return f"`{source}` is none of {', '.join(allowed)}" + (did_you_mean(source, allowed) if _near(source, allowed) else "")


def _near(source: str, allowed: list[str]) -> bool:
    return "known here" not in did_you_mean(source, allowed)


def _no_text(_where: Where, details: Any, source: str) -> str:
    given = details["input"]
    if given is None:
        return "is empty; write a text or remove the key"
    if isinstance(given, bool):
        return f"`{source}` is read as {str(given).lower()} by YAML; quote it: '{source}'"
    if isinstance(given, int | float):
        return f"`{source}` is read as a number by YAML; quote it: '{source}'"
    return f"must be a text, not {_what(given)}; a text that holds `: ` or starts with `[` or `{{` needs quotes"


def _no_match(_where: Where, details: Any, source: str) -> str:
    if details["ctx"]["pattern"] == ID_PATTERN:
        return f"`{source}` is no id: use lower-case letters, digits and single hyphens between them"
    return f"`{source}` is no size; write it like 512m or 2g"


def _too_long(_where: Where, details: Any, _source: str) -> str:
    return f"has more than {details['ctx']['max_length']} characters; shorten it"


_SPOKEN: Mapping[str, Callable[[Where, Any, str], str]] = {
    "extra_forbidden": _unknown_key,
    "missing": _missing,
    "literal_error": _literal,
    "string_type": _no_text,
    "string_pattern_mismatch": _no_match,
    "string_too_long": _too_long,
}


def _short(source: str | None) -> str:
    text = " ".join((source or "").split())
    return text if len(text) <= 60 else text[:57] + "..."


def _what(given: Any) -> str:
    if isinstance(given, dict):
        return "a mapping"
    if isinstance(given, tuple):
        return "a list"
    return "a text" if isinstance(given, str) else "a number or truth value"


def _known_keys(where: Where) -> list[str]:
    """Keys that the mapping at `where` may have."""
    kinds: list[Any] = [Spec]
    for step in where:
        kinds = [inner for kind in kinds for inner in _inside(kind, step)]
    return [info.alias or name for kind in kinds if _is_model(kind) for name, info in kind.model_fields.items()]


def _inside(kind: Any, step: str | int) -> Iterator[Any]:
    if _is_model(kind):
        for name, info in kind.model_fields.items():
            if step == (info.alias or name):
                yield from _options(info.annotation)
    elif get_args(kind):
        yield from _options(get_args(kind)[0 if isinstance(step, int) else -1])


def _options(kind: Any) -> Iterator[Any]:
    origin = get_origin(kind)
    if origin is Annotated:
        yield from _options(get_args(kind)[0])
    elif origin is Union or isinstance(kind, type(int | str)):
        for option in get_args(kind):
            yield from _options(option)
    else:
        yield kind


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)
