"""What was not there before, since which turn, and by which command."""

from __future__ import annotations

import pytest
from evidence_made import HEX, SEEDED, but, case, container, denied, event, image, network, ran, said, scored, seen, took, volume

from pytest_skilleval.core.adding import adding
from pytest_skilleval.core.changes import Thing, things
from pytest_skilleval.core.evidence import RunScore
from pytest_skilleval.core.snapshot import DockerState

MORE = DockerState(
    containers=(container("web", mounts=(HEX,)),),
    images=(image("shop/web:2"), image("nginx:latest", key="nginx"), image(key="untagged")),
    volumes=(volume("data"), volume(HEX, anonymous=True)),
    networks=(network("front"),),
)


def made(name: str) -> Thing:
    """One of `MORE`."""
    return next(thing for thing in things(MORE).values() if name in (thing.name, thing.key))


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("docker run -d --name web nginx", "web"),
        ("docker run -d --name=web nginx", "web"),
        ("docker run -d nginx", "web"),
        ("sudo docker container create --name web nginx", "web"),
        ("docker compose -p shop up -d", "web"),
        ("docker run -v data:/data --name db postgres", "data"),
        ("docker run --mount type=volume,source=data,target=/data --name db postgres", "data"),
        ("docker run --name web nginx", HEX),
        ("docker volume create data", "data"),
        ("docker network create front", "front"),
        ("docker-compose up", "front"),
        ("docker run --name other nginx", "nginx:latest"),
        ("docker pull nginx", "nginx:latest"),
        ("docker build -t shop/web:2 .", "shop/web:2"),
        ("docker buildx build --tag=shop/web:2 .", "shop/web:2"),
        ("docker build .", "sha256:untagged"),
        ("docker load -i images.tar", "shop/web:2"),
        ("docker commit web shop/web:2", "shop/web:2"),
        ("docker compose build web", "shop/web:2"),
    ],
)
def test_a_command_that_names_or_may_make_the_object_made_it(line: str, name: str) -> None:
    """By its name in any spelling, or because what it makes has no name in the line."""
    assert adding(made(name), [ran("docker ps"), ran(line), ran("docker images")], []) == line


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("docker run --name other nginx", "web"),
        ("docker run -v other:/data --name other nginx", "data"),
        ("docker volume create other", "data"),
        ("docker network create other", "front"),
        ("docker pull nginx:1.25", "nginx:latest"),
        ("docker build -t other .", "sha256:untagged"),
        ("docker rm web", "web"),
        ("docker compose build", "web"),
    ],
)
def test_a_command_that_makes_something_else_did_not(line: str, name: str) -> None:
    """Nor does one that makes nothing."""
    assert adding(made(name), [ran(line)], []) is None


def test_clocks_tell_which_of_two_pulls_it_was() -> None:
    """Events call a pulled image by its tag."""
    pulls = [ran("docker pull nginx", at=1.0), ran("docker pull nginx:latest", at=5.0)]
    assert adding(made("nginx:latest"), pulls, [event("image", "pull", "nginx:latest", at=2.0)]) == "docker pull nginx"


def added(result: RunScore) -> list[tuple[str, str, int | None, str | None]]:
    """Type, name, turn and command of each."""
    return [(one.type, one.name, one.turn, one.command) for one in result.added]


def test_what_each_turn_added_stands_in_the_score() -> None:
    """With the executed command of that turn; also when a later turn takes it away again."""
    first = but(SEEDED, containers=(*SEEDED.containers, container("web")))
    second = but(SEEDED, volumes=(*SEEDED.volumes, volume("data")))
    turns = took(said(denied("docker run --name web nginx"), "docker run --name web busybox"), first), took(said("python3 x.py"), second)
    result = scored(case(turns=[{"prompt": "a"}, {"prompt": "b"}]), seen(*turns))
    assert added(result) == [("container", "web", 1, "docker run --name web busybox"), ("volume", "data", 2, None)]
    assert [one.name for one in result.removed] == ["web"]


def test_across_a_lost_snapshot_its_turn_is_not_known() -> None:
    """What was there all the time, or came back under its name, is not new."""
    again = but(SEEDED, containers=(*SEEDED.containers[:2], container("shop-web", id="c-other"), container("web")))
    lost = seen(took(after=None), took(said("docker run --name web nginx"), again))
    assert added(scored(case(turns=[{"prompt": "a"}, {"prompt": "b"}]), lost)) == [
        ("container", "web", None, "docker run --name web nginx")
    ]
