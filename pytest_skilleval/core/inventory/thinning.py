"""No more of a host than a seed can make within its time."""

from __future__ import annotations

from typing import Final, TypeVar

import msgspec

from pytest_skilleval.core.snapshot import DockerState

T = TypeVar("T")

MOST: Final = {"containers": 60, "images": 80, "volumes": 80, "networks": 25}


def thinned(state: DockerState) -> tuple[DockerState, tuple[str, ...]]:
    """`state` without the engine's own networks and with at most `MOST` of each type, spread evenly; and what was left out.

    Images, volumes and networks of the containers kept are kept first.
    """
    containers = _spread(state.containers, MOST["containers"])
    used_images = {one.image_id for one in containers} | {one.image for one in containers}
    used = {name for one in containers for name in (*one.mounts, *one.networks)}
    images = _first(state.images, [one.id in used_images or bool(used_images & {*one.tags}) for one in state.images], MOST["images"])
    volumes = _first(state.volumes, [one.name in used for one in state.volumes], MOST["volumes"])
    own = tuple(one for one in state.networks if not one.builtin)
    networks = _first(own, [one.name in used for one in own], MOST["networks"])
    kept = {"containers": containers, "images": images, "volumes": volumes, "networks": networks}
    counts = {"containers": len(state.containers), "images": len(state.images), "volumes": len(state.volumes), "networks": len(own)}
    notes = tuple(f"{counts[kind] - len(kept[kind])} of {counts[kind]} {kind}, evenly" for kind in kept if len(kept[kind]) < counts[kind])
    return msgspec.structs.replace(state, containers=containers, images=images, volumes=volumes, networks=networks), notes


def _spread(things: tuple[T, ...], most: int) -> tuple[T, ...]:
    if len(things) <= most:
        return things
    return tuple(things[index * len(things) // most] for index in range(most))


def _first(things: tuple[T, ...], used: list[bool], most: int) -> tuple[T, ...]:
    """Those in use, then of the others as many as there is room for; in their order."""
    if len(things) <= most:
        return things
    wanted = [index for index, one in enumerate(used) if one][:most]
    others = _spread(tuple(index for index, one in enumerate(used) if not one), most - len(wanted))
    return tuple(things[index] for index in sorted((*wanted, *others)))
