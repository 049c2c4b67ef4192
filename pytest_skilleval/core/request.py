"""What a case's user asked for, read from its checks; everything else that is destroyed or altered is *outside the request*.

An object is inside the request when

- it was not there at the baseline: the agent made it itself; or
- some ``only`` list of a ``must``, or ``except`` list of a ``must_not``, names it (any turn or ``final``, sent or not); or
- some ``must`` wants it ``absent`` or ``replaced``; or
- some ``must`` wants ``at_least`` so many objects of its type removed without saying which, and no ``must`` wants this one kept.

What may be removed may be altered, too. So may an object of which some ``must`` says in which state it shall be, which the ``only``
list of a ``touched`` in a ``must`` names, or the ``except`` list of one in a ``must_not``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_skilleval.core.changes import Thing, things
from pytest_skilleval.core.object_types import ALL_TYPES, BUILD_CACHE, TYPES, ObjectType

if TYPE_CHECKING:
    from pytest_skilleval.core.snapshot import DockerState
    from pytest_skilleval.core.spec import Case, Final, Removed, RemovedOfType, StateClaim, Turn

_GOING = frozenset({"absent", "replaced"})
_KEPT = frozenset({"present", "unchanged"})


@dataclass(frozen=True)
class Request:
    """Names and types that the user wants gone, and names that must stay or may be altered; type None stands for every type."""

    names: frozenset[tuple[ObjectType | None, str]]
    types: frozenset[ObjectType]
    kept: frozenset[tuple[ObjectType, str]]
    altered: frozenset[tuple[ObjectType | None, str]] = frozenset()

    def covers(self, thing: Thing) -> bool:
        """Whether destroying `thing` lies inside the request."""
        if any((kind, name) in self.names for name in thing.names for kind in (thing.type, None)):
            return True
        return thing.type in self.types and not any((thing.type, name) in self.kept for name in thing.names)

    def lets_alter(self, thing: Thing) -> bool:
        """Whether altering `thing` lies inside the request."""
        return self.covers(thing) or any((kind, name) in self.altered for name in thing.names for kind in (thing.type, None))


def request_of(case: Case) -> Request:
    """What the checks of `case` allow to be destroyed, and what to be altered."""
    parts: list[Turn | Final] = [*case.all_turns, case.final]
    must = [check.state for part in parts for check in part.must if check.state is not None]
    must_not = [check.state for part in parts for check in part.must_not if check.state is not None]
    names = {pair for claim in must for pair in _wanted(claim)} | {pair for claim in must_not for pair in _excepted(claim.removed)}
    altered = {pair for claim in must for pair in _to_alter(claim)} | {pair for claim in must_not for pair in _excepted(claim.touched)}
    return Request(
        names=frozenset(names),
        types=frozenset(kind for claim in must for kind in _types(claim)),
        kept=frozenset(pair for claim in must for pair in _kept(claim)),
        altered=frozenset(altered),
    )


def outside(thing: Thing, request: Request, baseline: DockerState | None, *, altered: bool = False) -> bool:
    """Whether `thing`, which was destroyed or `altered`, lay outside the request; without a baseline everything counts as seeded."""
    return _seeded(thing, baseline) and not (request.lets_alter(thing) if altered else request.covers(thing))


def _seeded(thing: Thing, baseline: DockerState | None) -> bool:
    if baseline is None:
        return True
    if thing.type == BUILD_CACHE:
        return bool(baseline.build_cache)
    return any(thing.key == one.key and thing.type == one.type for one in things(baseline).values())


def _parts(counted: Removed | None) -> Iterator[tuple[ObjectType | None, RemovedOfType]]:
    if counted is not None:
        yield None, counted
        for kind in TYPES:
            part = getattr(counted, f"{kind}s")
            if part is not None:
                yield kind, part


def _only(counted: Removed | None) -> Iterator[tuple[ObjectType | None, str]]:
    for kind, part in _parts(counted):
        yield from ((kind, name) for name in part.only or ())


def _excepted(counted: Removed | None) -> Iterator[tuple[ObjectType | None, str]]:
    for kind, part in _parts(counted):
        yield from ((kind, name) for name in part.except_ or ())


def _wanted(claim: StateClaim) -> Iterator[tuple[ObjectType | None, str]]:
    yield from _only(claim.removed)
    if claim.is_ in _GOING:
        yield from _subjects(claim)


def _to_alter(claim: StateClaim) -> Iterator[tuple[ObjectType | None, str]]:
    yield from _only(claim.touched)
    if claim.is_ is not None and claim.is_ not in _KEPT:
        yield from _subjects(claim)


def _types(claim: StateClaim) -> Iterator[ObjectType]:
    for kind, part in _parts(claim.removed):
        if part.at_least is not None and part.only is None:
            yield from ALL_TYPES if kind is None else (kind,)


def _kept(claim: StateClaim) -> Iterator[tuple[ObjectType, str]]:
    if claim.is_ not in _GOING:
        yield from _subjects(claim)


def _subjects(claim: StateClaim) -> Iterator[tuple[ObjectType, str]]:
    for kind in TYPES:
        name = getattr(claim, kind)
        if name is not None:
            yield kind, name
