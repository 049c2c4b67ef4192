"""What changed in the Docker state between two instants.

Identity is what the engine itself uses: containers, images and networks by id, volumes by name and creation time. What came back
under its name as another object was destroyed and made anew: *replaced*. The build cache is one object, removed as soon as one of
its records is gone: nothing but a prune takes them. Snapshots tell what is gone; events add what was
destroyed and put back so that two snapshots look alike. Engines before 23.0 tell as a volume's creation time when its
content last changed (https://github.com/moby/moby/pull/44719): where events are known, they must confirm it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_skilleval.core.object_types import ALL_TYPES, BUILD_CACHE, DANGLING, ObjectType
from pytest_skilleval.core.snapshot import compose_project, compose_service

if TYPE_CHECKING:
    from pytest_skilleval.core.snapshot import Container, DockerState, EngineEvent, Image, Network, Volume

DESTROYING = frozenset({"destroy", "delete", "remove"})
_MAKING = frozenset({"pull", "load", "import", "tag", "create", "build"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """One object of the engine."""

    type: ObjectType
    name: str
    """To show: name, first tag, or the first 12 digits of an id."""
    key: str
    """Id, or a volume's name: what events call it."""
    names: frozenset[str] = frozenset()
    """Everything that a check may call it: name, all tags, ids, ``<none>`` for an untagged image. An anonymous volume also
    answers to the names of the containers that alone mount it: it comes and goes with them."""
    project: str | None = None
    """Its Compose project; images have none."""
    service: str | None = None
    """What Compose's own commands call a container, and an anonymous volume that comes and goes with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TagMove:
    """A tag that names another image than before; None: no image."""

    tag: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """The difference of two states, each part sorted by type and name."""

    removed: tuple[Thing, ...] = ()
    """Gone, and nothing of that name came instead."""
    replaced: tuple[Thing, ...] = ()
    """Destroyed and made anew under the same name; the thing is the old one."""
    added: tuple[Thing, ...] = ()
    changed: tuple[Thing, ...] = ()
    """Still the same object, in another condition (stopped, untagged, other networks ...)."""
    tag_moves: tuple[TagMove, ...] = ()
    rewritten: tuple[Thing, ...] = ()
    """Volumes that are the same object with other content, where both contents are known. Running containers may write by
    themselves, so this alone is no change of the state."""

    @property
    def touched(self) -> tuple[Thing, ...]:
        """Whatever is no longer as it was."""
        return tuple(sorted({*self.removed, *self.replaced, *self.changed, *self.rewritten}, key=_order))

    @property
    def destroyed(self) -> tuple[Thing, ...]:
        """Removed and replaced ones: whatever was lost."""
        return tuple(sorted((*self.removed, *self.replaced), key=_order))

    @property
    def nothing(self) -> bool:
        """Whether nothing changed at all."""
        return not (self.removed or self.replaced or self.added or self.changed or self.tag_moves)


def changes(before: DockerState, after: DockerState, events: Iterable[EngineEvent] | None = None) -> Changes:
    """What became of the objects of `before`, and what is new in `after`.

    Clock readings alone are no change, and the engine's own three networks don't count. `events` are all those between the two
    snapshots, in any order; None: not known.
    """
    old, new = things(before), things(after)
    told = None if events is None else tuple(events)
    remade = {("volume", name) for name in _remade_volumes(before, after, told)} | {("image", key) for key in _remade_images(before, told)}
    lost = [thing for identity, thing in old.items() if identity not in new]
    lost += _cleared(before, after)
    kept = [(identity, thing) for identity, thing in old.items() if identity in new]
    names = {(thing.type, thing.name) for identity, thing in new.items() if identity not in old}
    return Changes(
        removed=_sorted(thing for thing in lost if not _came_back(thing, names)),
        replaced=_sorted(
            [*(thing for thing in lost if _came_back(thing, names)), *(old[identity] for identity, _ in kept if identity in remade)]
        ),
        added=_sorted(thing for identity, thing in new.items() if identity not in old and not _came_back(thing, _names(lost))),
        changed=_sorted(thing for identity, thing in kept if identity not in remade and _differs(before, after, thing)),
        tag_moves=_tag_moves(before, after),
        rewritten=_sorted(thing for identity, thing in kept if identity not in remade and _rewritten(before, after, thing)),
    )


def _cleared(before: DockerState, after: DockerState) -> list[Thing]:
    return [_CACHE] if set(before.build_cache) - set(after.build_cache) else []


def things(state: DockerState) -> dict[tuple[str, str], Thing]:
    """All objects of `state` by type and id (a volume's is its name), builtin networks and the build cache left out."""
    owners = _owners(state.containers)
    found: dict[tuple[str, str], Thing] = {}
    for container in state.containers:
        found["container", container.id] = _named("container", container)
    for volume in state.volumes:
        found["volume", volume.name] = _volume(volume, owners.get(volume.name))
    for image in state.images:
        found["image", image.id] = image_thing(image)
    for network in state.networks:
        if not network.builtin:
            found["network", network.id] = _named("network", network)
    return found


_CACHE = Thing(type=BUILD_CACHE, name=BUILD_CACHE, key=BUILD_CACHE, names=frozenset({BUILD_CACHE}))


def image_thing(image: Image) -> Thing:
    """An image as a thing, called by its tags, digests and id."""
    short = short_id(image.id)
    names = {*image.tags, *image.digests, image.id, short, *(tag.removesuffix(":latest") for tag in image.tags)}
    if image.dangling:
        names.add(DANGLING)
    return Thing(type="image", name=image.tags[0] if image.tags else short, key=image.id, names=frozenset(names))


def short_id(text: str) -> str:
    """The first 12 digits of an id, as Docker shows it."""
    return text.removeprefix("sha256:")[:12]


def _remade_volumes(before: DockerState, after: DockerState, events: tuple[EngineEvent, ...] | None) -> set[str]:
    """Names of volumes that were destroyed and are there again."""
    created = {volume.name: volume.created for volume in before.volumes}
    other = {volume.name for volume in after.volumes if volume.created != created.get(volume.name)}
    if events is None:
        return other
    about = {(event.id, event.action) for event in events if event.type == "volume"}
    destroyed = {name for name, action in about if action in DESTROYING}
    return destroyed | {name for name in other if (name, "create") in about}


def _remade_images(before: DockerState, events: tuple[EngineEvent, ...] | None) -> set[str]:
    """Ids of images that were deleted and then made or pulled again: some engines report ``delete`` for a mere untag."""
    about = [event for event in events or () if event.type == "image"]
    made = [event for event in about if event.action in _MAKING]
    names = {image.id: image_thing(image).names for image in before.images}
    return {
        gone.id
        for gone in about
        if gone.action in DESTROYING and any(event.id in names.get(gone.id, ()) and event.at >= gone.at for event in made)
    }


def _named(kind: ObjectType, found: Container | Network) -> Thing:
    short = short_id(found.id)
    names = frozenset({found.name, found.id, short} - {""})
    labels = found.labels
    return Thing(
        type=kind, name=found.name or short, key=found.id, names=names, project=compose_project(labels), service=compose_service(labels)
    )


def _volume(volume: Volume, owner: Container | None) -> Thing:
    project = compose_project(volume.labels)
    if not volume.anonymous:
        return Thing(type="volume", name=volume.name, key=volume.name, names=frozenset({volume.name}), project=project)
    names = frozenset({volume.name, *([owner.name] if owner else [])})
    service = compose_service(owner.labels) if owner else None
    return Thing(type="volume", name=short_id(volume.name), key=volume.name, names=names, project=project, service=service)


def _owners(containers: tuple[Container, ...]) -> dict[str, Container]:
    """Volume name -> the one container that mounts it; shared ones have no owner."""
    users: dict[str, list[Container]] = {}
    for container in containers:
        for mount in container.mounts:
            users.setdefault(mount, []).append(container)
    return {volume: found[0] for volume, found in users.items() if len(found) == 1}


def _came_back(thing: Thing, names: set[tuple[ObjectType, str]]) -> bool:
    return thing.type != "image" and (thing.type, thing.name) in names


def _names(found: Iterable[Thing]) -> set[tuple[ObjectType, str]]:
    return {(thing.type, thing.name) for thing in found}


def _differs(before: DockerState, after: DockerState, thing: Thing) -> bool:
    return _condition(before, thing) != _condition(after, thing)


def _rewritten(before: DockerState, after: DockerState, thing: Thing) -> bool:
    if thing.type != "volume":
        return False
    old, new = (next(one.content for one in state.volumes if one.name == thing.key) for state in (before, after))
    return old is not None and new is not None and old != new


def _condition(state: DockerState, thing: Thing) -> object:
    if thing.type == "container":
        return next(container_condition(one) for one in state.containers if one.id == thing.key)
    if thing.type == "volume":
        return next((one.labels, one.driver) for one in state.volumes if one.name == thing.key)
    if thing.type == "image":
        return next(frozenset(one.tags) for one in state.images if one.id == thing.key)
    return next((one.name, one.labels) for one in state.networks if one.id == thing.key)


def container_condition(container: Container) -> tuple[object, ...]:
    """What must stay equal for a container to count as unchanged.

    The start time is part of it only where the engine does not restart the container by itself.
    """
    started = container.started if container.restart_policy == "no" else ""
    joined = frozenset(container.networks), frozenset(container.mounts), frozenset(container.binds)
    return (container.name, container.state, container.restart_policy, *joined, started)


def _tag_moves(before: DockerState, after: DockerState) -> tuple[TagMove, ...]:
    old, new = _tags(before), _tags(after)
    moved = sorted(tag for tag in old if old[tag] != new.get(tag))
    return tuple(TagMove(tag=tag, before=old[tag], after=new.get(tag)) for tag in moved)


def _tags(state: DockerState) -> dict[str, str]:
    return {tag: image.id for image in state.images for tag in image.tags}


def _order(thing: Thing) -> tuple[int, str, str]:
    return (ALL_TYPES.index(thing.type), thing.name, thing.key)


def _sorted(found: Iterable[Thing]) -> tuple[Thing, ...]:
    return tuple(sorted(found, key=_order))


def of_type(found: Iterable[Thing], kind: ObjectType) -> tuple[Thing, ...]:
    """The things of one type."""
    return tuple(thing for thing in found if thing.type == kind)
