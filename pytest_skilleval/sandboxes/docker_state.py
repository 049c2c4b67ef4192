"""Looking at a Docker Engine through its API: one snapshot, and the stream of its events.

Works with any `docker.APIClient`; nothing here knows which kind of sandbox the engine runs in.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

from pytest_skilleval.core.snapshot import Container, DockerState, EngineEvent, Image, Network, Volume

if TYPE_CHECKING:
    from docker import APIClient
    from requests import Response

BUILTIN_NETWORKS = frozenset({"bridge", "host", "none"})
_ANONYMOUS = re.compile(r"[0-9a-f]{64}")
_NOISE = frozenset({"attach", "detach", "exec_create", "exec_start", "exec_detach", "exec_die", "resize", "top", "export", "archive-path"})
_UNSETTLING = _NOISE | {"health_status"}
_SETTLE_SECONDS = 3.0
_CATCH_UP_SECONDS = 2.0
_REOPEN_SECONDS = 0.05
_ZERO_TIME = "0001-01-01T00:00:00Z"


def take(client: APIClient, watch: Watch, content: Callable[[str], str | None] = lambda _: None) -> DockerState:
    """Two equal looks with no state-changing event between them; about 20 ms for ten containers.

    An engine that does not come to rest within three seconds (a container that crashes and
    restarts for ever) gives its last look. `content` hashes a volume by name.

    Raises
    ------
    docker.errors.DockerException
        The engine fails or does not answer.
    """
    end = time.monotonic() + _SETTLE_SECONDS
    first, before = look(client), watch.changes
    while True:
        second, after = look(client), watch.changes
        moving = any(one.state == "removing" for one in second.containers)
        if (before == after and not moving and _stable(first) == _stable(second)) or time.monotonic() > end:
            break
        first, before = second, after
        time.sleep(0.01)
    volumes = tuple(msgspec.structs.replace(one, content=content(one.name)) for one in second.volumes)
    return msgspec.structs.replace(second, volumes=volumes)


def look(client: APIClient) -> DockerState:
    """One look, which is not atomic: an object that goes while looking is left out."""
    listed, networks, usage = client.containers(all=True), client.networks(), _usage(client)
    cache = usage.get("BuildCache") or []
    return DockerState(
        taken_at=datetime.now(UTC).isoformat(),
        containers=_sorted(_containers(client, listed), "name"),
        images=_sorted(map(image, usage.get("Images") or []), "id"),
        volumes=_sorted(map(volume, usage.get("Volumes") or []), "name"),
        networks=_sorted(map(network, networks), "name"),
        build_cache=tuple(sorted(one["ID"] for one in cache)),
        build_cache_records=len(cache),
        build_cache_bytes=sum(one.get("Size", 0) for one in cache),
    )


def _usage(client: APIClient) -> dict[str, Any]:
    """Images, volumes and build cache. Never containers: measuring their layers costs more than all else together."""
    response = client.get(f"{client.base_url}/v{client.api_version}/system/df", params={"type": ["image", "volume", "build-cache"]})
    response.raise_for_status()
    usage: dict[str, Any] = response.json()
    return usage


def _sorted(things: Iterable[Any], key: str) -> tuple[Any, ...]:
    return tuple(sorted(things, key=lambda one: (getattr(one, key), getattr(one, "id", ""))))


def _stable(state: DockerState) -> DockerState:
    """`state` without what changes while nothing happens."""
    volumes = tuple(msgspec.structs.replace(one, size=None) for one in state.volumes)
    containers = tuple(msgspec.structs.replace(one, health=None) for one in state.containers)
    return msgspec.structs.replace(state, taken_at="", volumes=volumes, containers=containers, build_cache_bytes=0)


def _containers(client: APIClient, listed: Iterable[Mapping[str, Any]]) -> Iterable[Container]:
    from docker.errors import NotFound

    for one in listed:
        with contextlib.suppress(NotFound):
            yield container(client.inspect_container(one["Id"]))


def container(raw: Mapping[str, Any]) -> Container:
    """A container out of the engine's inspect answer."""
    state, config, host = raw["State"], raw["Config"], raw["HostConfig"]
    status = state["Status"]
    return Container(
        id=raw["Id"],
        name=raw["Name"].lstrip("/"),
        image=config["Image"],
        image_id=raw.get("Image", ""),
        state=status,
        exit_code=state["ExitCode"] if status in ("exited", "dead") else None,
        health=(state.get("Health") or {}).get("Status"),
        created=raw["Created"],
        started=_moment(state.get("StartedAt")),
        finished=_moment(state.get("FinishedAt")),
        labels=dict(config.get("Labels") or {}),
        mounts=tuple(sorted(one["Name"] for one in raw.get("Mounts") or [] if one.get("Type") == "volume" and one.get("Name"))),
        binds=tuple(sorted(_bind(one) for one in raw.get("Mounts") or [] if one.get("Type") == "bind")),
        restart_policy=(host.get("RestartPolicy") or {}).get("Name") or "no",
        networks=tuple(sorted(raw["NetworkSettings"].get("Networks") or {})),
        oom_killed=bool(state.get("OOMKilled")),
        pid_limited=(host.get("PidsLimit") or 0) > 0,
    )


def _bind(mount: Mapping[str, Any]) -> str:
    return f"{mount['Source']}:{mount['Destination']}{'' if mount['RW'] else ':ro'}"


def _moment(text: str | None) -> str:
    return "" if text in (None, _ZERO_TIME) else str(text)


def image(raw: Mapping[str, Any]) -> Image:
    """An image out of the engine's list; ``<none>`` stands for no tag in some versions."""
    created = raw.get("Created", 0)
    return Image(
        id=raw["Id"],
        tags=_named(raw.get("RepoTags"), ":"),
        digests=_named(raw.get("RepoDigests"), "@"),
        created=datetime.fromtimestamp(created, UTC).isoformat() if isinstance(created, int) else str(created),
        size=raw.get("Size", 0),
    )


def _named(names: Iterable[str] | None, mark: str) -> tuple[str, ...]:
    return tuple(sorted(name for name in names or () if name != f"<none>{mark}<none>"))


def volume(raw: Mapping[str, Any]) -> Volume:
    """A volume out of the engine's list."""
    labels = dict(raw.get("Labels") or {})
    size = (raw.get("UsageData") or {}).get("Size", -1)
    return Volume(
        name=raw["Name"],
        created=raw.get("CreatedAt", ""),
        labels=labels,
        anonymous="com.docker.volume.anonymous" in labels or bool(_ANONYMOUS.fullmatch(raw["Name"])),
        driver=raw.get("Driver", "local"),
        size=size if size >= 0 else None,
    )


def network(raw: Mapping[str, Any]) -> Network:
    """A network out of the engine's list."""
    return Network(
        id=raw["Id"],
        name=raw["Name"],
        driver=raw.get("Driver", ""),
        created=raw.get("Created", ""),
        labels=dict(raw.get("Labels") or {}),
        builtin=raw["Name"] in BUILTIN_NETWORKS,
    )


def event(raw: Mapping[str, Any], began: int) -> EngineEvent:
    """An event of the stream; `began` is the run's zero in nanoseconds since 1970."""
    actor = raw.get("Actor") or {}
    attributes = {str(name): str(value) for name, value in (actor.get("Attributes") or {}).items()}
    return EngineEvent(
        at=round((raw["timeNano"] - began) / 1e9, 6),
        type=raw["Type"],
        action=raw["Action"],
        id=actor.get("ID", ""),
        name=attributes.get("name") or (actor.get("ID", "") if raw["Type"] == "volume" else ""),
        attributes=attributes,
    )


class Watch:
    """The engine's event stream from now on, read by a thread; none is lost.

    The engine itself replays its last 256 events only, so the stream must be open beforehand. An
    engine that was started again is listened to again, for as long as `alive` says that it may come.
    """

    def __init__(self, client: APIClient, alive: Callable[[], bool] = lambda: True) -> None:
        self._client = client
        self._alive = alive
        self._kept: list[Mapping[str, Any]] = []
        self._last = self._began = time.time_ns()
        self._changed = threading.Condition()
        self._closed = False
        self._listener: Callable[[EngineEvent], None] | None = None
        self.changes = 0
        """How many state-changing events there have been."""
        self._stream = self._open(since=_stamp(self._began))
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _open(self, *, timeout: float | None = None, **bounds: str) -> Response:
        """The stream of events between `bounds`, each in `timeout` seconds; raises requests.RequestException."""
        address = f"{self._client.base_url}/v{self._client.api_version}/events"
        return self._client.get(address, params=bounds, stream=True, timeout=timeout)

    def _read(self) -> None:
        while True:
            with contextlib.suppress(Exception), contextlib.closing(self._stream):  # whatever broke the stream, it is opened again
                for line in self._stream.iter_lines():
                    self._keep(json.loads(line))
            if not self._closed:
                time.sleep(_REOPEN_SECONDS)
            if self._closed or not self._alive():
                return
            with contextlib.suppress(Exception):
                self._stream = self._open(since=_stamp(self._last + 1))

    def _keep(self, raw: Mapping[str, Any]) -> None:
        action = raw["Action"].partition(":")[0]
        with self._changed:
            self._last = max(self._last, raw["timeNano"])
            if action not in _NOISE:
                self._kept.append(raw)
            self.changes += action not in _UNSETTLING
            self._changed.notify_all()
            listener = self._listener if action not in _NOISE and raw["timeNano"] >= self._began else None
        if listener:
            listener(event(raw, self._began))

    def heed(self, listener: Callable[[EngineEvent], None] | None) -> None:
        """Hand each further state-changing event to `listener` as it comes, on the reading thread; None: no more."""
        with self._changed:
            self._listener = listener

    def mark(self) -> None:
        """Forget what was, and count time from now."""
        with self._changed:
            self._kept.clear()
            self._began = time.time_ns()

    def events(self) -> tuple[EngineEvent, ...]:
        """All state-changing events since `mark`, after waiting for those still on their way.

        Raises
        ------
        requests.RequestException
            The engine does not answer.
        """
        bounds = {"since": _stamp(self._last), "until": _stamp(time.time_ns())}
        with contextlib.closing(self._open(timeout=self._client.timeout, **bounds)) as late:
            last = max((json.loads(line)["timeNano"] for line in late.iter_lines()), default=0)
        with self._changed:
            self._changed.wait_for(lambda: self._last >= last, _CATCH_UP_SECONDS)
            return tuple(event(raw, self._began) for raw in self._kept if raw["timeNano"] >= self._began)

    def close(self) -> None:
        """Stop reading."""
        self._closed = True
        with contextlib.suppress(Exception), socket.socket(fileno=os.dup(self._stream.raw.fileno())) as same:
            same.shutdown(socket.SHUT_RDWR)  # wakes the reader, which then closes the stream
        self._reader.join(_CATCH_UP_SECONDS)


def _stamp(nanoseconds: int) -> str:
    """Seconds since 1970 as the engine reads them, to the nanosecond."""
    return f"{nanoseconds // 10**9}.{nanoseconds % 10**9:09d}"
