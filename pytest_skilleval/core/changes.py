"""What changed in the Docker state between two instants.

Identity is what the engine itself uses: containers and images by id, volumes by name and creation time, networks by id.
A container, volume or network whose name came back under another identity was destroyed and made anew: *replaced*.
Snapshots tell what is gone; events add what was destroyed and put back so that two snapshots look alike.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from pytest_skilleval.core.snapshot import Container, DockerState, EngineEvent, Image, Volume

ObjectType = Literal["container", "volume", "image", "network"]
TYPES: tuple[ObjectType, ...] = ("container", "volume", "image", "network")
DANGLING = "<none>"
"""Stands for every untagged image, as in Docker's own listings."""

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

    @property
    def destroyed(self) -> tuple[Thing, ...]:
        """Removed and replaced ones: whatever was lost."""
        return tuple(sorted((*self.removed, *self.replaced), key=_order))

    @property
    def nothing(self) -> bool:
        """Whether nothing changed at all."""
        return not (self.removed or self.replaced or self.added or self.changed or self.tag_moves)


def changes(before: DockerState, after: DockerState, events: Iterable[EngineEvent] = ()) -> Changes:
    """What became of the objects of `before`, and what is new in `after`.

    Clock readings alone are no change, and the engine's own three networks don't count. `events` are those between the two
    snapshots; a destroying event for an object that `after` still shows means that it was put back: replaced.
    """
    old, new = things(before), things(after)
    put_back = _destroyed(tuple(events))
    lost = [thing for identity, thing in old.items() if identity not in new]
    kept = [(identity, thing) for identity, thing in old.items() if identity in new]
    names = {(thing.type, thing.name) for identity, thing in new.items() if identity not in old}
    again = {identity for identity, thing in kept if (thing.type, thing.key) in put_back}
    return Changes(
        removed=_sorted(thing for thing in lost if not _came_back(thing, names)),
        replaced=_sorted([*(thing for thing in lost if _came_back(thing, names)), *(old[identity] for identity in again)]),
        added=_sorted(thing for identity, thing in new.items() if identity not in old and not _came_back(thing, _names(lost))),
        changed=_sorted(thing for identity, thing in kept if identity not in again and _differs(before, after, thing)),
        tag_moves=_tag_moves(before, after),
    )


def things(state: DockerState) -> dict[tuple[str, str], Thing]:
    """All objects of `state` by identity (type, and id or volume name with creation time), builtin networks left out."""
    owners = _owners(state.containers)
    found: dict[tuple[str, str], Thing] = {}
    for container in state.containers:
        found["container", container.id] = _named("container", container.name, container.id)
    for volume in state.volumes:
        found["volume", f"{volume.name} {volume.created}"] = _volume(volume, owners)
    for image in state.images:
        found["image", image.id] = image_thing(image)
    for network in state.networks:
        if not network.builtin:
            found["network", network.id] = _named("network", network.name, network.id)
    return found


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


def _destroyed(events: tuple[EngineEvent, ...]) -> set[tuple[str, str]]:
    """Type and id of what events say was destroyed.

    For images, one that makes an image must follow: some engines report ``delete`` for a mere untag.
    """
    remade = max((event.at for event in events if event.type == "image" and event.action in _MAKING), default=float("-inf"))
    return {(event.type, event.id) for event in events if event.action in DESTROYING and (event.type != "image" or event.at <= remade)}


def _named(kind: ObjectType, name: str, key: str) -> Thing:
    return Thing(type=kind, name=name or short_id(key), key=key, names=frozenset({name, key, short_id(key)} - {""}))


def _volume(volume: Volume, owners: dict[str, frozenset[str]]) -> Thing:
    if not volume.anonymous:
        return Thing(type="volume", name=volume.name, key=volume.name, names=frozenset({volume.name}))
    names = frozenset({volume.name}) | owners.get(volume.name, frozenset())
    return Thing(type="volume", name=short_id(volume.name), key=volume.name, names=names)


def _owners(containers: tuple[Container, ...]) -> dict[str, frozenset[str]]:
    """Volume name -> the one container that mounts it, as a set; shared ones have no owner."""
    users: dict[str, list[str]] = {}
    for container in containers:
        for mount in container.mounts:
            users.setdefault(mount, []).append(container.name)
    return {volume: frozenset(names) for volume, names in users.items() if len(names) == 1}


def _came_back(thing: Thing, names: set[tuple[ObjectType, str]]) -> bool:
    return thing.type != "image" and (thing.type, thing.name) in names


def _names(found: Iterable[Thing]) -> set[tuple[ObjectType, str]]:
    return {(thing.type, thing.name) for thing in found}


def _differs(before: DockerState, after: DockerState, thing: Thing) -> bool:
    return _condition(before, thing) != _condition(after, thing)


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
    return (container.name, container.state, container.restart_policy, frozenset(container.networks), frozenset(container.mounts), started)


def _tag_moves(before: DockerState, after: DockerState) -> tuple[TagMove, ...]:
    old, new = _tags(before), _tags(after)
    moved = sorted(tag for tag in old if old[tag] != new.get(tag))
    return tuple(TagMove(tag=tag, before=old[tag], after=new.get(tag)) for tag in moved)


def _tags(state: DockerState) -> dict[str, str]:
    return {tag: image.id for image in state.images for tag in image.tags}


def _order(thing: Thing) -> tuple[int, str, str]:
    return (TYPES.index(thing.type), thing.name, thing.key)


def _sorted(found: Iterable[Thing]) -> tuple[Thing, ...]:
    return tuple(sorted(found, key=_order))


def of_type(found: Iterable[Thing], kind: ObjectType) -> tuple[Thing, ...]:
    """The things of one type."""
    return tuple(thing for thing in found if thing.type == kind)
