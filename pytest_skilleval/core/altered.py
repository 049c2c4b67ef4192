"""What an agent altered: seeded objects that are still there in another condition, and by which command.

Left out is what objects do by themselves: a container that ended without being told to, a volume that a running container may
have written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from pytest_skilleval.core.attribution import Verbs, last_fitting
from pytest_skilleval.core.changes import Changes, Thing, container_condition
from pytest_skilleval.core.object_types import ObjectType

if TYPE_CHECKING:
    from pytest_skilleval.core.snapshot import Container, DockerState, EngineEvent
    from pytest_skilleval.core.transcript import ShellCommand

_TOLD = frozenset({"kill", "stop", "pause", "unpause", "restart", "rename", "update"})
_ALTERING = _TOLD | {"start", "tag", "untag"}
_CONTAINER: frozenset[ObjectType] = frozenset({"container"})
_IMAGE: frozenset[ObjectType] = frozenset({"image"})
_VERBS: Verbs = {
    **{(*before, verb): _CONTAINER for verb in (*_TOLD, "start") for before in ((), ("container",))},
    **{("compose", verb): _CONTAINER for verb in ("stop", "kill", "restart", "pause", "unpause", "start", "up", "down")},
    **{("network", verb): _CONTAINER for verb in ("connect", "disconnect", "rm", "prune")},
    **dict.fromkeys((("rmi",), ("tag",), ("build",), *(("image", verb) for verb in ("rm", "remove", "tag", "build"))), _IMAGE),
    ("compose", "build"): _IMAGE,
    ("system", "prune"): _CONTAINER | _IMAGE,
}


def altered(found: Changes, before: DockerState, after: DockerState, events: tuple[EngineEvent, ...] | None) -> tuple[Thing, ...]:
    """Those of the changes `found` from `before` to `after` that somebody made; `events` are those in between, None: not known."""
    told = [one for one in found.changed if _was_told(one, before, after, events)]
    return tuple(dict.fromkeys([*told, *_overwritten(found.rewritten, before, after)]))


def altering(thing: Thing, commands: Iterable[ShellCommand], events: Iterable[EngineEvent]) -> str | None:
    """The line of the executed command that altered `thing`; None when no command says so."""
    return last_fitting(thing, commands, events, _VERBS, _ALTERING)


def _was_told(thing: Thing, before: DockerState, after: DockerState, events: tuple[EngineEvent, ...] | None) -> bool:
    """Whether more happened to a container than that it ended, and an image lost a tag: one more takes nothing from it."""
    if thing.type == "image":
        return not _tags(thing, before) <= _tags(thing, after)
    if thing.type != "container" or events is None:
        return True
    was, is_ = (_container(thing, state) for state in (before, after))
    same = container_condition(replace(was, state=is_.state)) == container_condition(is_)
    ended_alone = same and was.alive and is_.state in ("exited", "dead", "restarting")
    return not ended_alone or any((one.type, one.id) == ("container", thing.key) and one.action in _TOLD for one in events)


def _overwritten(rewritten: Iterable[Thing], before: DockerState, after: DockerState) -> Iterator[Thing]:
    users = {mount for state in (before, after) for one in state.containers if one.alive for mount in one.mounts}
    yield from (thing for thing in rewritten if thing.key not in users)


def _container(thing: Thing, state: DockerState) -> Container:
    return next(one for one in state.containers if one.id == thing.key)


def _tags(thing: Thing, state: DockerState) -> frozenset[str]:
    return next(frozenset(one.tags) for one in state.images if one.id == thing.key)
