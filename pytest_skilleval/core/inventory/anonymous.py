"""A host's Docker state without anything that tells whose it is: counts, ages, states and shapes only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from itertools import chain
from statistics import median
from typing import Final

from pytest_skilleval.core.inventory.disguise import Disguise
from pytest_skilleval.core.inventory.thinning import thinned
from pytest_skilleval.core.snapshot import Container, DockerState, Image, Network, Volume

_COMPOSE: Final = "com.docker.compose."
_COMPOSE_NAMES: Final = ("project", "service", "volume", "network")
_MOST_LABELS: Final = 4
_DEFAULT_AGE: Final = 40
Labels = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnonymousImage:
    """`created`: its day, as YYYY-MM-DD, or empty; `size` in bytes as on the host."""

    tags: tuple[str, ...]
    created: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AnonymousContainer:
    """`state` is one that a seed can make; `network` is None for the default one; `unnamed` counts anonymous volumes."""

    name: str
    image: str
    state: str
    exit_code: int
    volumes: tuple[str, ...]
    unnamed: int
    network: str | None
    more_networks: tuple[str, ...]
    labels: Labels


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A volume or network."""

    name: str
    labels: Labels


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """All of it.

    Attributes
    ----------
    unnamed_volumes
        Anonymous volumes that no container holds.
    ages
        Of the containers, in days, sorted.
    notes
        What of the host is not in here.
    """

    containers: tuple[AnonymousContainer, ...]
    images: tuple[AnonymousImage, ...]
    volumes: tuple[Named, ...]
    unnamed_volumes: int
    networks: tuple[Named, ...]
    ages: tuple[int, ...]
    notes: tuple[str, ...]

    @property
    def age_days(self) -> int:
        """How old the seeded state is to look: the containers' median age, at least a day; 40 when none tells."""
        return max(1, round(median(self.ages))) if self.ages else _DEFAULT_AGE


def anonymous(state: DockerState) -> Inventory:
    """The inventory of a host; equal states give equal inventories."""
    kept, dropped = thinned(state)
    maker = _Maker(kept, state)
    return Inventory(
        containers=tuple(map(maker.container, kept.containers)),
        images=maker.images(),
        volumes=tuple(
            Named(name=maker.names.name(one.name, "volume"), labels=maker.labels(one.labels)) for one in kept.volumes if not one.anonymous
        ),
        unnamed_volumes=maker.unnamed_volumes(),
        networks=tuple(Named(name=maker.names.name(one.name, "network"), labels=maker.labels(one.labels)) for one in kept.networks),
        ages=maker.ages(),
        notes=(*dropped, *_notes(state)),
    )


def _real_names(state: DockerState) -> Iterator[str]:
    groups: tuple[tuple[Container | Volume | Network, ...], ...] = (state.containers, state.volumes, state.networks)
    for one in chain.from_iterable(groups):
        yield one.name
        yield from one.labels
        yield from one.labels.values()
    for container in state.containers:
        yield from (container.image, *container.mounts, *container.networks)
    for image in state.images:
        yield from (*image.tags, *image.digests)


class _Maker:
    """Makes the parts of an inventory out of what is kept of a state (`state`); `whole` tells which names are real."""

    def __init__(self, state: DockerState, whole: DockerState) -> None:
        self.state = state
        self.names = Disguise(_real_names(whole))
        self.anonymous_volumes = {one.name for one in whole.volumes if one.anonymous}
        self.named_volumes = {one.name for one in state.volumes if not one.anonymous}
        self.networks = {one.name for one in state.networks}
        self.by_id = {one.id: one for one in state.images if one.tags}
        self.by_tag = {tag: one for one in state.images for tag in one.tags}
        self.spare = self.names.tag("shop/app:1.0")

    def container(self, one: Container) -> AnonymousContainer:
        networks = [self.names.name(name, "network") for name in one.networks if name in self.networks]
        plain = "none" if set(one.networks) & {"none", "host"} else None
        return AnonymousContainer(
            name=self.names.name(one.name, "container"),
            image=self._image_of(one),
            state=_makeable(one),
            exit_code=one.exit_code or 0,
            volumes=tuple(self.names.name(name, "volume") for name in one.mounts if name in self.named_volumes),
            unnamed=sum(name in self.anonymous_volumes for name in one.mounts),
            network=networks[0] if networks else plain,
            more_networks=tuple(networks[1:]),
            labels=self.labels(one.labels),
        )

    def _image_of(self, one: Container) -> str:
        found = self.by_id.get(one.image_id) or self.by_tag.get(one.image)
        if found is not None:
            return self.names.tag(found.tags[0])
        return self.names.tag(next(iter(self.by_tag))) if self.by_tag else self.spare

    def images(self) -> tuple[AnonymousImage, ...]:
        images = [self._image(one) for one in self.state.images]
        if self.state.containers and not self.by_tag:
            images.append(AnonymousImage(tags=(self.spare,), created="", size=0))
        return tuple(images)

    def _image(self, one: Image) -> AnonymousImage:
        moment = _moment(one.created)
        created = moment.date().isoformat() if moment and moment.year > 2000 else ""
        return AnonymousImage(tags=tuple(map(self.names.tag, one.tags)), created=created, size=one.size)

    def labels(self, real: Mapping[str, str]) -> Labels:
        """Compose's labels with other names, so that projects stay projects; of other labels how many and of what shape."""
        compose = [
            (f"{_COMPOSE}{key}", self.names.name(real[f"{_COMPOSE}{key}"], "label")) for key in _COMPOSE_NAMES if f"{_COMPOSE}{key}" in real
        ]
        if f"{_COMPOSE}service" in real:
            mark = sha256(compose[-1][1].encode()).hexdigest()
            compose += [(f"{_COMPOSE}config-hash", mark), (f"{_COMPOSE}container-number", "1"), (f"{_COMPOSE}oneoff", "False")]
        others = [key for key in sorted(real) if not key.startswith("com.docker.")][:_MOST_LABELS]
        return (*compose, *(self._label(key, real[key]) for key in others))

    def _label(self, key: str, value: str) -> tuple[str, str]:
        word = self.names.word(f"key {key}")
        return f"org.example.{word}" if "." in key else word, self.names.word(f"value {value}") if value else ""

    def unnamed_volumes(self) -> int:
        held = {name for one in self.state.containers for name in one.mounts}
        return sum(one.anonymous and one.name not in held for one in self.state.volumes)

    def ages(self) -> tuple[int, ...]:
        now = _moment(self.state.taken_at)
        moments = map(_moment, (one.created for one in self.state.containers))
        return tuple(sorted(max(0, (now - then).days) for then in moments if now and then))


def _makeable(one: Container) -> str:
    if one.state in ("running", "paused", "created"):
        return one.state
    return "running" if one.state == "restarting" else "exited"


def _moment(text: str) -> datetime | None:
    """A time as engines write it, to the second; None when it is none."""
    try:
        return datetime.fromisoformat(text[:19]).replace(tzinfo=UTC)
    except ValueError:
        return None


def _notes(state: DockerState) -> Iterator[str]:
    told = {
        "records of build cache": state.build_cache_records,
        "restart policies (a seed may have none)": sum(one.restart_policy != "no" for one in state.containers),
        "health checks": sum(one.health is not None for one in state.containers),
        "restarting containers (they run)": sum(one.state == "restarting" for one in state.containers),
        "volume drivers other than local": sum(_foreign(one) for one in state.volumes),
        "network drivers other than bridge": sum(one.driver != "bridge" and not one.builtin for one in state.networks),
    }
    yield from (f"{number} {what}" for what, number in told.items() if number)


def _foreign(one: Volume) -> bool:
    return one.driver != "local"
