"""State claims of a spec, judged on snapshots and events: true, false, or not to be told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from pytest_skilleval.core.changes import Changes, Thing, changes, container_condition, image_thing, of_type, things
from pytest_skilleval.core.object_types import BUILD_CACHE, DANGLING, TYPES, ObjectType
from pytest_skilleval.core.snapshot import Container, DockerState, EngineEvent, Volume

if TYPE_CHECKING:
    from pytest_skilleval.core.spec import Removed, RemovedOfType, StateClaim, Turn


class Finding(NamedTuple):
    """Whether a claim is true; None: it can't be told, for the reason in `detail`."""

    true: bool | None
    detail: str


@dataclass(frozen=True)
class Scene:
    """The two states that a claim is judged on, and all events between them; None: a lost snapshot, events not known."""

    before: DockerState | None
    after: DockerState | None
    events: tuple[EngineEvent, ...] | None = None

    @property
    def states(self) -> tuple[DockerState, DockerState]:
        """Both states; ValueError where one is lost."""
        if self.before is None or self.after is None:
            raise ValueError("a snapshot is lost")
        return self.before, self.after

    @cached_property
    def changes(self) -> Changes:
        """What changed; ValueError where a state is lost."""
        return changes(*self.states, self.events)


LOST = Finding(None, "no evidence: snapshot lost")


def judge_claim(claim: StateClaim, scene: Scene) -> Finding:
    """Whether `claim` is true of `scene`.

    ``replaced``, ``unchanged``, ``removed`` and ``touched`` compare the two states; everything else looks at the later one only.
    """
    if scene.after is None:
        return LOST
    if claim.removed is not None:
        return LOST if scene.before is None else _counted(claim.removed, scene.changes.destroyed, scene, "removed")
    if claim.touched is not None:
        return LOST if scene.before is None else _counted(claim.touched, scene.changes.touched, scene, "touched")
    kind, name = _subject(claim)
    if claim.is_ in ("replaced", "unchanged"):
        return LOST if scene.before is None else _compared(kind, name, claim.is_, scene)
    return _present(kind, name, str(claim.is_), scene.after)


def holds(claim: StateClaim, state: DockerState, baseline: DockerState) -> bool:
    """Whether `claim` is known to be true of `state` (changes counted from `baseline`); what can't be told does not hold."""
    return judge_claim(claim, Scene(baseline, state)).true is True


def turn_is_sent(turn: Turn, before: DockerState, baseline: DockerState) -> bool:
    """Whether all ``only_if`` claims of `turn` hold in `before`, the state that the turn before it left."""
    return all(holds(claim, before, baseline) for claim in turn.only_if)


def _subject(claim: StateClaim) -> tuple[ObjectType, str]:
    for kind in TYPES:
        name = getattr(claim, kind)
        if name is not None:
            return kind, name
    raise ValueError("a state claim names an object, `removed` or `touched`; the loader refuses one that does not")


def _present(kind: ObjectType, name: str, wanted: str, state: DockerState) -> Finding:
    if kind == "container":
        return _container(name, wanted, state)
    found = named(kind, name, state)
    return Finding((wanted == "present") == bool(found), f"{kind} {name} is {'present' if found else 'absent'}")


def _container(name: str, wanted: str, state: DockerState) -> Finding:
    container = next((one for one in state.containers if one.name == name), None)
    if container is None:
        return Finding(wanted == "absent", f"container {name} is absent")
    return Finding(_CONTAINER_IS[wanted](container), f"container {name} is {_described(container)}")


def _in_state(*states: str) -> Callable[[Container], bool]:
    return lambda container: container.state in states


_CONTAINER_IS: dict[str, Callable[[Container], bool]] = {
    "present": lambda _: True,
    "absent": lambda _: False,
    "running": _in_state("running"),
    "stopped": _in_state("created", "exited", "dead"),
    "exited": _in_state("exited"),
    "created": _in_state("created"),
    "paused": _in_state("paused"),
    "healthy": lambda container: container.state == "running" and container.health == "healthy",
    "unhealthy": lambda container: container.health == "unhealthy",
}


def _described(container: Container) -> str:
    return f"{container.state}, {container.health}" if container.health else container.state


def named(kind: ObjectType, name: str, state: DockerState) -> tuple[Thing, ...]:
    """The objects of one type that answer to `name`; several only for ``<none>``."""
    if kind == "image":
        return tuple(thing for thing in map(image_thing, state.images) if name in thing.names)
    return tuple(thing for thing in of_type(things(state).values(), kind) if name in (thing.name, thing.key))


def _compared(kind: ObjectType, name: str, wanted: str, scene: Scene) -> Finding:
    before, after = scene.states
    old, new = named(kind, name, before), named(kind, name, after)
    if not old or not new:
        when = "before" if not old else "any more"
        return Finding(False, f"{kind} {name} is not there {when}")
    replaced = old[0] in scene.changes.replaced or (kind == "image" and old[0].key != new[0].key)
    if wanted == "replaced" or replaced:
        return Finding(replaced == (wanted == "replaced"), f"{kind} {name} is {'another one' if replaced else 'the same one'}")
    return _unchanged(kind, name, before, after)


def _unchanged(kind: ObjectType, name: str, before: DockerState, after: DockerState) -> Finding:
    if kind == "container":
        old, new = (container_condition(_find_container(name, state)) for state in (before, after))
        return Finding(old == new, f"container {name} is {'as it was' if old == new else 'in another condition'}")
    if kind == "volume":
        return _same_content(name, _find_volume(name, before), _find_volume(name, after))
    return Finding(True, f"{kind} {name} is the same one")


def _find_container(name: str, state: DockerState) -> Container:
    return next(one for one in state.containers if one.name == name)


def _find_volume(name: str, state: DockerState) -> Volume:
    return next(one for one in state.volumes if one.name == name)


def _same_content(name: str, old: Volume, new: Volume) -> Finding:
    if old.content is None or new.content is None:
        return Finding(None, f"no evidence: the content of volume {name} was not hashed")
    same = old.content == new.content
    return Finding(same, f"the content of volume {name} is {'as it was' if same else 'another one'}")


def _counted(claim: Removed, gone: tuple[Thing, ...], scene: Scene, what: str) -> Finding:
    """All parts that are given must be true of `gone`: the one over all types, and each one by type."""
    by_type = {kind: part for kind in TYPES if (part := getattr(claim, f"{kind}s")) is not None}
    truths = [_part(part, of_type(gone, kind), scene) for kind, part in by_type.items()]
    if not by_type or claim.at_least is not None or claim.only is not None or claim.except_ is not None:
        truths.append(_part(claim, gone, scene))
    listed = ", ".join(thing.name if thing.type == BUILD_CACHE else f"{thing.type} {thing.name}" for thing in gone)
    return Finding(all(truths), f"{what}: {listed or 'nothing'}")


def _part(part: RemovedOfType, gone: tuple[Thing, ...], scene: Scene) -> bool:
    counted = [thing for thing in gone if thing.names.isdisjoint(part.except_ or ())]
    wanted = part.at_least if part.at_least is not None or part.only is not None else 1
    return (wanted is None or len(counted) >= wanted) and (part.only is None or _exactly(part.only, gone, scene))


def _exactly(only: tuple[str, ...], gone: tuple[Thing, ...], scene: Scene) -> bool:
    nothing_else = all(not thing.names.isdisjoint(only) for thing in gone)
    return nothing_else and all(_all_gone(name, gone, scene) for name in only)


def _all_gone(name: str, gone: tuple[Thing, ...], scene: Scene) -> bool:
    if name != DANGLING or scene.before is None:
        return any(name in thing.names for thing in gone)
    dangling = named("image", DANGLING, scene.before)
    return bool(dangling) and set(dangling) <= set(gone)
