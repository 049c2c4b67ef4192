"""Docker state at one instant, and what changed between two instants.

Values only: taking a snapshot is the business of :mod:`pytest_skilleval.sandboxes`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec


def compose_project(labels: Mapping[str, str]) -> str | None:
    """The Compose project that an object with these labels belongs to; None: none."""
    return labels.get("com.docker.compose.project") or None


def compose_service(labels: Mapping[str, str]) -> str | None:
    """What its Compose file calls the container with these labels; None: it has none."""
    return labels.get("com.docker.compose.service") or None


class Container(msgspec.Struct, frozen=True, kw_only=True):
    """One container, as the engine's inspect call tells it."""

    id: str
    name: str
    image: str
    image_id: str = ""
    state: str = "created"
    """``created | running | paused | restarting | removing | exited | dead``."""
    exit_code: int | None = None
    health: str | None = None
    created: str = ""
    started: str = ""
    finished: str = ""
    labels: dict[str, str] = {}
    mounts: tuple[str, ...] = ()
    """Names of the volumes (named and anonymous) mounted, sorted."""
    binds: tuple[str, ...] = ()
    """Folders and files of the machine mounted, sorted: ``source:target``, with ``:ro`` where read-only; older recordings tell none."""
    restart_policy: str = "no"
    networks: tuple[str, ...] = ()
    oom_killed: bool = False
    pid_limited: bool = False

    @property
    def alive(self) -> bool:
        """Whether it runs, is paused, or is about to be started again."""
        return self.state in ("running", "paused", "restarting")


class Image(msgspec.Struct, frozen=True, kw_only=True):
    """One image; dangling when it has no tag."""

    id: str
    tags: tuple[str, ...] = ()
    digests: tuple[str, ...] = ()
    created: str = ""
    size: int = 0

    @property
    def dangling(self) -> bool:
        """Whether no tag names this image (``<none>:<none>`` in listings)."""
        return not self.tags


class Volume(msgspec.Struct, frozen=True, kw_only=True):
    """One volume. `content` is a hash of its files when it is small, else None."""

    name: str
    created: str = ""
    labels: dict[str, str] = {}
    anonymous: bool = False
    driver: str = "local"
    content: str | None = None
    size: int | None = None


class Network(msgspec.Struct, frozen=True, kw_only=True):
    """One network; the engine's own three are ``builtin``."""

    id: str
    name: str
    driver: str = "bridge"
    created: str = ""
    labels: dict[str, str] = {}
    builtin: bool = False


class ComposeProject(msgspec.Struct, frozen=True, kw_only=True):
    """What belongs to one Compose project, by name, sorted."""

    name: str
    containers: tuple[str, ...] = ()
    volumes: tuple[str, ...] = ()
    networks: tuple[str, ...] = ()


class DockerState(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the engine holds at one instant, each tuple sorted by name or id."""

    format: int = 1
    taken_at: str = ""
    containers: tuple[Container, ...] = ()
    images: tuple[Image, ...] = ()
    volumes: tuple[Volume, ...] = ()
    networks: tuple[Network, ...] = ()
    build_cache: tuple[str, ...] = ()
    """Ids of the build cache's records, sorted; empty in older recordings, which only counted them."""
    build_cache_records: int = 0
    build_cache_bytes: int = 0

    @property
    def compose_projects(self) -> tuple[ComposeProject, ...]:
        """The Compose projects of which anything is there, sorted: the engine knows them only as labels."""
        labelled: tuple[Container | Volume | Network, ...] = (*self.containers, *self.volumes, *self.networks)
        names = sorted({name for one in labelled if (name := compose_project(one.labels))})
        return tuple(
            ComposeProject(
                name=name,
                containers=_of_project(name, self.containers),
                volumes=_of_project(name, self.volumes),
                networks=_of_project(name, self.networks),
            )
            for name in names
        )


def _of_project(name: str, objects: Sequence[Container | Volume | Network]) -> tuple[str, ...]:
    return tuple(sorted(one.name for one in objects if compose_project(one.labels) == name))


class EngineEvent(msgspec.Struct, frozen=True, kw_only=True):
    """One event of the engine's stream, stamped with the run's own clock."""

    at: float
    """Seconds since the run's baseline snapshot."""
    type: str
    """``container | image | volume | network | builder | daemon``."""
    action: str
    id: str
    name: str = ""
    attributes: dict[str, str] = {}
