"""Names of a skin put into a case: ``${db}`` becomes ``shop-db``; ``$${HOME}`` stays ``${HOME}`` for a shell."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from pytest_skilleval.core.spec import Case, Check, Makes, Validator

if TYPE_CHECKING:
    from pytest_skilleval.core.loaded import LoadedSpec, Skin
    from pytest_skilleval.core.positions import Where

_REFERENCE = re.compile(r"(\$?)\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_PATTERNS: Mapping[type[BaseModel], frozenset[str]] = {Check: frozenset({"commands", "reply"}), Validator: frozenset({"output"})}
"""Fields that hold regular expressions: names are escaped there."""
_NOT_DRESSED = frozenset({"id", "departs", "skins"})


def substitute(text: str, names: Mapping[str, str], *, quote: Callable[[str], str] = str) -> str:
    """`text` with every ``${key}`` replaced by ``quote(names[key])``; a key without a name stays as it is."""

    def name(match: re.Match[str]) -> str:
        escaped, key = match.groups()
        if escaped:
            return match.group()[1:]
        return quote(names[key]) if key in names else match.group()

    return _REFERENCE.sub(name, text) if "${" in text else text


def references(text: str) -> tuple[str, ...]:
    """The keys that `text` refers to."""
    return tuple(match[2] for match in _REFERENCE.finditer(text) if not match[1])


def dress(loaded: LoadedSpec, case: Case, skin: Skin) -> Case:
    """The case as it is in a block that drew `skin`: names in prompts, checks, ``only_if``, rehearsals and ``makes``.

    Its own `seed` is then the seed it runs with, also where it was the spec's.
    """
    own: Case = _dressed(case, skin.names)
    seed = loaded.spec.seed_of(case)
    return own if seed is None else own.model_copy(update={"seed": _dressed(seed, skin.names)})


def dress_makes(makes: Makes, skin: Skin) -> Makes:
    """What a seed makes in a block that drew `skin`."""
    dressed: Makes = _dressed(makes, skin.names)
    return dressed


def _dressed(value: Any, names: Mapping[str, str], quote: Callable[[str], str] = str) -> Any:
    if isinstance(value, str):
        return substitute(value, names, quote=quote)
    if isinstance(value, tuple):
        return tuple(_dressed(entry, names, quote) for entry in value)
    if isinstance(value, dict):
        return {substitute(key, names): _dressed(entry, names, quote) for key, entry in value.items()}
    return _dressed_model(value, names) if isinstance(value, BaseModel) else value


def _dressed_model(model: BaseModel, names: Mapping[str, str]) -> BaseModel:
    patterns = _PATTERNS.get(type(model), frozenset())
    changed = {}
    for name, value in model:
        if name not in _NOT_DRESSED and value is not None:
            new = _dressed(value, names, re.escape if name in patterns else str)
            if new != value:
                changed[name] = new
    return model.model_copy(update=changed) if changed else model


def texts(value: Any, where: Where) -> Iterator[tuple[Where, str]]:
    """Every text below `value` that `dress` would look at, with its place."""
    if isinstance(value, str):
        yield where, value
    elif isinstance(value, tuple):
        for index, entry in enumerate(value):
            yield from texts(entry, (*where, index))
    elif isinstance(value, dict):
        for key, entry in value.items():
            yield (*where, key), key
            yield from texts(entry, (*where, key))
    elif isinstance(value, BaseModel):
        for name, entry in value:
            if name not in _NOT_DRESSED:
                yield from texts(entry, (*where, type(value).model_fields[name].alias or name))
