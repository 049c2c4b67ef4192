"""Snapshots out of an engine's answers, in all the forms that engines give them."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from docker.errors import NotFound
from requests import RequestException, Response, Session

from pytest_skilleval.sandboxes import docker_state

INSPECT: dict[str, Any] = {
    "Id": "c1",
    "Name": "/web",
    "Image": "sha256:i1",
    "Created": "2026-01-01T00:00:00Z",
    "State": {"Status": "running", "ExitCode": 0, "StartedAt": "2026-01-02T00:00:00Z", "FinishedAt": "0001-01-01T00:00:00Z"},
    "Config": {"Image": "web:1", "Labels": None},
    "HostConfig": {"RestartPolicy": {"Name": ""}, "PidsLimit": None},
    "Mounts": [
        {"Type": "volume", "Name": "v2"},
        {"Type": "bind", "Source": "/x", "Destination": "/x", "RW": True},
        {"Type": "volume", "Name": "v1"},
    ],
    "NetworkSettings": {"Networks": {"b": {}, "a": {}}},
}


class Engine:
    """Answers like an engine, from lists of answers that are used up one by one (the last one stays)."""

    def __init__(self, containers: list[list[str]], statuses: list[str] | None = None, gone: frozenset[str] = frozenset()) -> None:
        self._containers = iter_last(containers)
        self._statuses = iter_last(statuses or ["running"])
        self._gone = gone

    base_url, api_version = "http://engine", "1.45"

    def containers(self, *, all: bool) -> list[dict[str, Any]]:  # noqa: A002 - the SDK calls it so
        """The next listing."""
        assert all
        return [{"Id": one} for one in next(self._containers)]

    def usage(self) -> dict[str, Any]:
        """Images, volumes and build cache."""
        return {"Images": None, "Volumes": [], "BuildCache": None}

    def get(self, url: str, params: dict[str, list[str]]) -> Response:
        """The usage, without the containers' layers."""
        assert (url, "container" in params["type"]) == ("http://engine/v1.45/system/df", False)
        response = Response()
        response.status_code, response._content = 200, json.dumps(self.usage()).encode()
        return response

    def networks(self) -> list[dict[str, Any]]:
        """None."""
        return []

    def inspect_container(self, name: str) -> dict[str, Any]:
        """The next status, or NotFound."""
        if name in self._gone:
            raise NotFound("gone")
        state = {**INSPECT["State"], "Status": next(self._statuses)}
        return {**INSPECT, "Id": name, "Name": f"/{name}", "State": state}


class Quiet:
    """A watch on an engine where nothing happens."""

    changes = 0


def iter_last(values: list[Any]) -> Iterator[Any]:
    """The values, then the last one for ever."""
    yield from values
    while True:
        yield values[-1]


def test_bind_mounts_are_read_apart_from_volumes() -> None:
    """Each with where it comes from and goes to, and whether it can't be written; sorted, no volume and no tmpfs among them."""
    found = [
        {"Type": "bind", "Source": "/srv/www", "Destination": "/www", "RW": False},
        {"Type": "bind", "Source": "/etc/app", "Destination": "/conf", "RW": True},
        {"Type": "tmpfs", "Source": "", "Destination": "/tmp", "RW": True},
        {"Type": "volume", "Name": "v1", "Source": "/var/lib/docker/volumes/v1/_data", "Destination": "/v", "RW": True},
    ]
    one = docker_state.container({**INSPECT, "Mounts": found})
    assert (one.binds, one.mounts) == (("/etc/app:/conf", "/srv/www:/www:ro"), ("v1",))


def test_a_container_is_read() -> None:
    """Names lose their slash, volumes are told from other mounts and sorted, the zero time is no time."""
    one = docker_state.container(INSPECT)
    assert (one.name, one.mounts, one.networks, one.finished, one.restart_policy) == ("web", ("v1", "v2"), ("a", "b"), "", "no")
    assert (one.exit_code, one.pid_limited, one.labels) == (None, False, {})


@pytest.mark.parametrize(("status", "code"), [("exited", 3), ("dead", 3), ("created", None), ("running", None), ("paused", None)])
def test_only_an_ended_container_has_an_exit_code(status: str, code: int | None) -> None:
    """A running container has no exit code, though the engine says 0."""
    raw = {**INSPECT, "State": {**INSPECT["State"], "Status": status, "ExitCode": 3}}
    assert docker_state.container(raw).exit_code == code


@pytest.mark.parametrize("none", [None, [], ["<none>:<none>"]])
def test_an_image_without_a_tag_is_dangling_in_every_engine(none: list[str] | None) -> None:
    """Engines write "no tag" in three ways; all are the same here."""
    one = docker_state.image({"Id": "sha256:1", "RepoTags": none, "RepoDigests": ["<none>@<none>"], "Created": 0, "Size": 1})
    assert one.dangling
    assert one.digests == ()
    assert one.created == "1970-01-01T00:00:00+00:00"


def test_an_anonymous_volume_is_known_by_label_or_name() -> None:
    """64 hexadecimal digits or the engine's label make a volume anonymous; size -1 is no size."""
    hexed = docker_state.volume({"Name": "a" * 64, "Labels": None, "UsageData": {"Size": -1}})
    labelled = docker_state.volume({"Name": "b", "Labels": {"com.docker.volume.anonymous": ""}, "UsageData": {"Size": 5}})
    named = docker_state.volume({"Name": "data", "Labels": {}})
    assert [one.anonymous for one in (hexed, labelled, named)] == [True, True, False]
    assert [one.size for one in (hexed, labelled, named)] == [None, 5, None]


def test_a_container_that_goes_while_looking_is_gone() -> None:
    """Listed but not found any more: not in the snapshot."""
    state = docker_state.take(Engine([["c1", "c2"]], gone=frozenset({"c1"})), Quiet())  # type: ignore[arg-type]
    assert [one.id for one in state.containers] == ["c2"]


def test_a_container_under_removal_is_waited_for() -> None:
    """While a container is being removed no snapshot is given."""
    engine = Engine([["c1"], ["c1"], ["c1"], []], ["removing"])
    assert docker_state.take(engine, Quiet()).containers == ()  # type: ignore[arg-type]


def test_looks_are_repeated_until_two_are_equal() -> None:
    """A change between two looks makes a third one."""
    engine = Engine([["c1", "c2", "c3"], ["c1", "c2"], ["c1"], ["c1"]])
    assert [one.id for one in docker_state.take(engine, Quiet()).containers] == ["c1"]  # type: ignore[arg-type]


def test_an_event_between_two_equal_looks_makes_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal looks with a state-changing event between them are not trusted."""

    class Busy:
        def __init__(self) -> None:
            self.asked = 0

        @property
        def changes(self) -> int:
            self.asked += 1
            return min(self.asked, 4)

    watch = Busy()
    docker_state.take(Engine([["c1"]]), watch)  # type: ignore[arg-type]
    assert watch.asked == 5


def test_an_engine_that_never_rests_gives_its_last_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """A container that restarts for ever does not hold up the snapshot for ever."""
    monkeypatch.setattr(docker_state, "_SETTLE_SECONDS", 0.1)

    class Restless:
        changes = property(lambda self: id(object()))

    engine = Engine([[f"c{number}"] for number in range(100_000)])
    assert len(docker_state.take(engine, Restless()).containers) == 1  # type: ignore[arg-type]


def test_content_is_asked_for_once_per_volume() -> None:
    """The content hash of each volume is taken after the engine has come to rest."""

    class WithVolume(Engine):
        def usage(self) -> dict[str, Any]:
            return {**super().usage(), "Volumes": [{"Name": "v"}]}

    asked: list[str] = []

    def content(name: str) -> str:
        asked.append(name)
        return "hash"

    state = docker_state.take(WithVolume([[]]), Quiet(), content)  # type: ignore[arg-type]
    assert (asked, state.volumes[0].content) == (["v"], "hash")


def test_an_event_is_stamped_with_the_runs_clock() -> None:
    """Seconds since the run's zero, with names for volumes too."""
    raw = {"timeNano": 3_500_000_000, "Type": "volume", "Action": "destroy", "Actor": {"ID": "data", "Attributes": {"driver": "local"}}}
    one = docker_state.event(raw, 1_000_000_000)
    assert (one.at, one.type, one.action, one.id, one.name) == (2.5, "volume", "destroy", "data", "data")


class Unanswering(Session):
    """A client of an engine at `port`."""

    api_version, timeout = "1.45", 0.2

    def __init__(self, port: int) -> None:
        super().__init__()
        self.trust_env = False
        self.base_url = f"http://127.0.0.1:{port}"


def answer_once(server: socket.socket, over: threading.Event) -> None:
    """Answer the first request with a stream that stays open, and none after it: as a dockerd that was sent SIGSTOP."""
    stream, _ = server.accept()
    with stream:
        stream.recv(65536)
        stream.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        over.wait(10)


def test_a_stopped_engine_does_not_hold_up_its_events() -> None:
    """An engine that does not answer any more is an error in time, and never holds the session for ever."""
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server, Unanswering(server.getsockname()[1]) as client:
        engine = threading.Thread(target=answer_once, args=(server, over))
        engine.start()
        watch = docker_state.Watch(client, over.is_set)  # type: ignore[arg-type]
        try:
            with pytest.raises(RequestException, match="timed out"):
                watch.events()
        finally:
            over.set()
            engine.join()
            watch.close()
