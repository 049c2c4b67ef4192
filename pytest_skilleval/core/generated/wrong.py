"""Generated misbehaviours: a right way with one deed too many at its end, for each object that the request leaves alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from pytest_skilleval.core.changes import Thing
from pytest_skilleval.core.dress import substitute
from pytest_skilleval.core.generated.deeds import Deed, deeds, sweep
from pytest_skilleval.core.generated.routes import routes
from pytest_skilleval.core.object_types import BUILD_CACHE, TYPES
from pytest_skilleval.core.request import request_of
from pytest_skilleval.core.spec import Rehearsal

if TYPE_CHECKING:
    from pytest_skilleval.core.loaded import LoadedSpec
    from pytest_skilleval.core.spec import Case, Final, Makes, StateClaim, Turn


def misbehaviours(loaded: LoadedSpec, case: Case) -> Iterator[Rehearsal]:
    """One for each deed on an object outside the request, and each route to it, and for a sweep over everything; all must be caught.

    The first written right way is played, and the deed is done in its last turn: nothing but the deed can make it fail. Where the
    checks want something changed, one more says what the right way says and does nothing.
    """
    seed, base = loaded.spec.seed_of(case), next(iter(written_right(case)), None)
    if seed is None or base is None:
        return
    free = open_to(case)
    members = _members(seed.makes, loaded.skins[0].names, free)
    names: dict[str, int] = {}
    if _wants_a_change(case, seed.makes):
        yield Rehearsal(
            id="gen-says-only", plays=base.plays, expect="fail", turns=tuple(turn.model_copy(update={"run": ()}) for turn in base.turns)
        )
    for deed in (sweep(), *deeds(seed.makes, [image for image in seed.makes.images if image not in free])):
        if deed.name in free or request_of(case).covers(Thing(type=deed.type, name=deed.name, key=deed.name, names=frozenset({deed.name}))):
            continue
        for route, lines in routes(deed, members.get(deed.name)):
            yield _one_deed_too_many(base, unique(f"gen-{deed.verb}-{_about(deed)}-{route}", names), lines)


def written_right(case: Case) -> Iterator[Rehearsal]:
    """The written right ways that need no guard."""
    return (one for one in case.rehearsals if one.expect == "pass" and not (one.plays and one.plays.guard))


def open_to(case: Case) -> frozenset[str]:
    """Names of what the request may touch: what a ``touched`` claim leaves out, and what a ``must`` wants in another state."""
    parts: tuple[Turn | Final, ...] = (*case.all_turns, case.final)
    claims = [check.state for part in parts for check in (*part.must, *part.must_not) if check.state is not None]
    wanted = [check.state for part in parts for check in part.must if check.state is not None]
    excepted = {name for claim in claims for name in _left_out(claim)}
    return frozenset(excepted | {name for claim in wanted if claim.is_ in _OTHER for kind in TYPES if (name := getattr(claim, kind))})


def _wants_a_change(case: Case, makes: Makes) -> bool:
    """Whether some ``must`` can't hold while everything is as the seed made it; of validators nobody knows."""
    return any(_is_a_change(check.state, makes) for check in (*case.final.must, *case.all_turns[-1].must) if check.state is not None)


def _is_a_change(claim: StateClaim, makes: Makes) -> bool:
    removed = (claim.removed, *(getattr(claim.removed, f"{kind}s") for kind in TYPES)) if claim.removed is not None else ()
    if any(part is not None and (part.only or part.at_least) for part in removed):
        return True
    runs = claim.container is not None and makes.containers.get(claim.container) == "running"
    return claim.is_ in ("absent", "replaced") or (runs and claim.is_ in _OTHER)


_OTHER = frozenset({"absent", "replaced", "stopped", "exited", "created", "paused"})


def _left_out(claim: StateClaim) -> Iterator[str]:
    if claim.touched is not None:
        parts = (claim.touched, *(part for kind in TYPES if (part := getattr(claim.touched, f"{kind}s")) is not None))
        for part in parts:
            yield from (*(part.only or ()), *(part.except_ or ()))


def unique(name: str, taken: dict[str, int]) -> str:
    """`name`, numbered when it was taken before."""
    taken[name] = taken.get(name, 0) + 1
    return name if taken[name] == 1 else f"{name}-{taken[name]}"


def _about(deed: Deed) -> str:
    return _slug(deed) if deed.type == BUILD_CACHE else f"{deed.type}-{_slug(deed)}"


def _slug(deed: Deed) -> str:
    return re.sub(r"[^a-z0-9]+", "-", deed.name.lower()).strip("-")[:24].strip("-")


def _one_deed_too_many(base: Rehearsal, name: str, lines: tuple[str, ...]) -> Rehearsal:
    *first, last = base.turns
    return Rehearsal(id=name, plays=base.plays, expect="fail", turns=(*first, last.model_copy(update={"run": (*last.run, *lines)})))


def _members(makes: Makes, names: Mapping[str, str], free: frozenset[str]) -> dict[str, str]:
    """Object -> a container of its Compose project that the request leaves alone; projects are told by the names Compose gives."""
    found: dict[str, str] = {}
    for network in makes.networks:
        project, default, _ = substitute(network, names).rpartition("_default")
        numbered = re.compile(rf"{re.escape(project)}-.+-\d+\Z")
        containers = [name for name in makes.containers if default and numbered.match(substitute(name, names))]
        asked = next((name for name in containers if name not in free), None)
        if asked is not None:
            volumes = (name for name in makes.volumes if substitute(name, names).startswith(f"{project}_"))
            found |= {name: name for name in containers} | dict.fromkeys((network, *volumes), asked)
    return found
