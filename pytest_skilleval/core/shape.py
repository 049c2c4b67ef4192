"""From a document to the spec model: every fault of shape at once, and what is sound is kept.

pydantic finds the faults. Parts that are wrong are cut out, so that the rules that relate values to each other can
still look at the rest; a rule must then not complain about what was cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from pytest_skilleval.core.errors import Fault
from pytest_skilleval.core.positions import Document, Where
from pytest_skilleval.core.shape_messages import message
from pytest_skilleval.core.spec import Spec


@dataclass(kw_only=True)
class Cuts:
    """What was cut out of a document, in the document's own places.

    Attributes
    ----------
    places
        Where something was cut.
    words
        Every text inside the cut parts: a reference to one of them is no fault.
    """

    places: set[Where] = field(default_factory=set)
    words: set[str] = field(default_factory=set)

    def original(self, where: Where) -> Where:
        """The place in the document of what is now at `where` of the cut tree."""
        if not self.places:
            return where
        result: Where = ()
        for step in where:
            moved = step
            if isinstance(moved, int):
                for index in sorted(place[-1] for place in self.places if place[:-1] == result and isinstance(place[-1], int)):
                    moved += index <= moved
            result = (*result, moved)
        return result

    def directly(self, where: Where) -> bool:
        """Whether the mapping at `where` itself lost a key."""
        return any(place[:-1] == where for place in self.places)

    def below(self, where: Where) -> bool:
        """Whether anything at or below `where` was cut."""
        return any(place[: len(where)] == where for place in self.places)


@dataclass(frozen=True, kw_only=True)
class Shaped:
    """A document's spec without its misshapen parts (None when too little is left), and the faults found."""

    spec: Spec | None
    faults: tuple[Fault, ...] = ()
    cuts: Cuts = field(default_factory=Cuts)


def shape(document: Document) -> Shaped:
    """Fit a document into the model."""
    try:
        return Shaped(spec=_model(document.value))
    except ValidationError as error:
        found = _located(error, document.value)
    faults = tuple(document.fault(where, message(where, details, document.source(where))) for where, details in found)
    cuts = Cuts()
    spec = _salvage(document.value, {where for where, _ in found}, cuts)
    return Shaped(spec=spec, faults=tuple(dict.fromkeys(faults)), cuts=cuts)


def _model(value: Any) -> Spec:
    return Spec.model_validate(value, by_alias=True, by_name=False)


def _located(error: ValidationError, value: Any) -> list[tuple[Where, Any]]:
    found = [(_resolved(details["loc"], value), details) for details in error.errors(include_url=False)]
    places = {where for where, _ in found}
    return [(where, details) for where, details in found if details["type"] != "too_short" or not _any_below(places, where)]


def _any_below(places: Iterable[Where], where: Where) -> bool:
    return any(len(place) > len(where) and place[: len(where)] == where for place in places)


def _resolved(loc: tuple[int | str, ...], value: Any) -> Where:
    """`loc` without the steps that no document has: tags of unions, ``[key]``, the name of a missing key."""
    where: Where = ()
    step: Any
    for step in loc:
        if (isinstance(value, dict) and step in value) or (isinstance(value, tuple) and step in range(len(value))):
            value, where = value[step], (*where, step)
    return where


def _salvage(value: Any, wrong: set[Where], cuts: Cuts) -> Spec | None:
    """Cut what is wrong until the rest fits, or until nothing is left."""
    while () not in wrong:
        outermost = {place for place in wrong if not any(place[:depth] in wrong for depth in range(1, len(place)))}
        originals = {cuts.original(place) for place in outermost}
        for place in sorted(outermost, reverse=True):
            value = _without(value, place, cuts.words)
        cuts.places |= originals
        try:
            return _model(value)
        except ValidationError as error:
            wrong = {where for where, _ in _located(error, value)}
    return None


def _without(value: Any, place: Where, words: set[str]) -> Any:
    step: Any = place[0]
    rest = place[1:]
    if not rest:
        words.update(_words(step, value[step]))
    if isinstance(value, tuple):
        return value[:step] + ((_without(value[step], rest, words),) if rest else ()) + value[step + 1 :]
    return {key: _without(entry, rest, words) if key == step else entry for key, entry in value.items() if key != step or rest}


def _words(step: str | int, value: Any) -> Iterator[str]:
    if isinstance(step, str):
        yield step
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, entry in value.items():
            yield from _words(key, entry)
    elif isinstance(value, tuple):
        for entry in value:
            yield from _words(0, entry)
