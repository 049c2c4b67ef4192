"""Which command destroyed an object."""

from __future__ import annotations

from dataclasses import replace

import pytest
from evidence_made import event, ran

from pytest_skilleval.core.attribution import cause
from pytest_skilleval.core.changes import Thing
from pytest_skilleval.core.object_types import ObjectType


def thing(kind: ObjectType, name: str, key: str = "") -> Thing:
    """An object under its name and key."""
    return Thing(type=kind, name=name, key=key or name, names=frozenset({name, key or name}))


DB = replace(thing("container", "shop-db", "f00dfeed" * 8), service="database")


@pytest.mark.parametrize(
    ("line", "gone"),
    [
        ("docker rm -f shop-db", DB),
        ("docker rm -f f00dfeedf00d", DB),
        ("docker rm -f f00d", DB),
        ("sudo docker container rm shop-web shop-db", DB),
        ("bash -c 'docker rm -fv shop-db'", DB),
        ("docker rm $(docker ps -aq)", DB),
        ("docker ps -aq | xargs docker rm -f", DB),
        ("for c in shop-web shop-db; do docker rm $c; done", DB),
        ("docker container prune -f", DB),
        ("docker system prune -af", DB),
        ("docker compose -p shop down", DB),
        ("docker compose -p shop rm -sf web database", DB),
        ("docker-compose rm -fsv database", DB),
        ("docker-compose down -v", thing("volume", "shop-db-data")),
        ("docker compose up -d --force-recreate", DB),
        ("docker stop shop-db", DB),
        ("docker volume rm shop-db-data", thing("volume", "shop-db-data")),
        ("docker rm -v report", thing("volume", "report")),
        ("docker volume prune -af", thing("volume", "shop-db-data")),
        ("docker rmi shop/web:1.4", thing("image", "shop/web:1.4")),
        ("docker rmi abcdef123456", thing("image", "abcdef123456", "sha256:abcdef1234567890")),
        ("docker image prune -a", thing("image", "shop/web:1.4")),
        ("docker network rm shop_default", thing("network", "shop_default")),
        ("docker builder prune -af", thing("build cache", "build cache")),
        ("docker buildx prune -f", thing("build cache", "build cache")),
        ("docker system prune -f", thing("build cache", "build cache")),
    ],
)
def test_a_command_that_names_or_sweeps_the_object_is_its_cause(line: str, gone: Thing) -> None:
    """Names, ids, their beginnings, and sweeping verbs of the right type."""
    assert cause(gone, [ran("docker ps"), ran(line), ran("docker images")], []) == line


@pytest.mark.parametrize(
    "line",
    [
        "docker rm -f shop-web",
        "docker volume prune -af",
        "docker rmi shop-db",
        "docker ps -a",
        "docker rm f00",
        "docker rm database",
        "docker compose rm -sf web",
        "echo docker rm shop-db",
        "docker builder prune",
        "docker logs shop-db",
    ],
)
def test_other_commands_are_not_blamed(line: str) -> None:
    """Another object, another type, or a command that destroys nothing."""
    assert cause(DB, [ran(line)], []) is None


def test_naming_beats_sweeping_without_clocks() -> None:
    """The first command that names the object, else the first that sweeps."""
    commands = [ran("docker system prune -f"), ran("docker rm shop-db"), ran("docker rm -f shop-db"), ran("docker container prune")]
    assert cause(DB, commands, []) == "docker rm shop-db"
    assert cause(thing("container", "x"), commands, []) == "docker system prune -f"


def test_clocks_decide_where_both_sides_have_one() -> None:
    """The last fitting command before the destroying event; commands after it can't be the cause."""
    commands = [ran("docker system prune -f", at=1.0), ran("docker container prune -f", at=3.0), ran("docker rm shop-db", at=9.0)]
    gone = event("container", "destroy", DB.key, at=4.0)
    assert cause(DB, commands, [gone]) == "docker container prune -f"
    assert cause(DB, commands, [event("container", "die", DB.key, at=4.0)]) == "docker rm shop-db"


HIDING = ["./clean.sh", "python3 -c 'import docker'", "curl --unix-socket /run/docker.sock -X DELETE localhost/containers/shop-db", "make"]


@pytest.mark.parametrize("line", HIDING)
def test_what_a_script_did_is_its_commands_doing(line: str) -> None:
    """Its words don't say so, and words of another command fit: the one that was under way then is the cause."""
    commands = [ran("docker rm shop-db", at=1.0, until=2.0), ran(line, at=3.0, until=5.0), ran("docker rm shop-db", at=6.0, until=7.0)]
    assert cause(DB, commands, [event("container", "destroy", DB.key, at=4.0)]) == line


@pytest.mark.parametrize(
    "line",
    [
        "sleep 9",
        "docker ps -a | grep shop | wc -l",
        "docker logs -f shop-web",
        "docker exec shop-web sh -c ./work.sh",
        "cat notes && echo docker rm shop-db",
    ],
)
def test_what_can_have_done_nothing_is_not_blamed(line: str) -> None:
    """An object may go by itself while such a command is under way."""
    assert cause(DB, [ran(line, at=3.0, until=5.0)], [event("container", "destroy", DB.key, at=4.0)]) is None


def test_a_script_that_prunes_the_cache_is_known_by_the_prune() -> None:
    """The engine's event names no object."""
    cache = thing("build cache", "build cache")
    assert cause(cache, [ran("./clean.sh", at=3.0, until=5.0)], [event("builder", "prune", "", at=4.0)]) == "./clean.sh"


def test_of_several_commands_under_way_words_decide() -> None:
    """Two scripts at once: nobody knows; a script and a command that names the object: the latter."""
    gone = event("container", "destroy", DB.key, at=4.0)
    scripts = [ran("./clean.sh", at=3.0), ran("./other.sh", at=3.5, until=5.0)]
    assert cause(DB, scripts, [gone]) is None
    assert cause(DB, [*scripts, ran("docker rm -f shop-db", at=3.9, until=4.1)], [gone]) == "docker rm -f shop-db"


def test_without_commands_the_cause_is_not_known() -> None:
    """Nothing is made up."""
    assert cause(DB, [], [event("container", "destroy", DB.key)]) is None


def test_system_prune_without_volumes_takes_no_volume() -> None:
    """Of two sweeps, the one that can have taken the volume is its cause."""
    volume = thing("volume", "shop-db-data")

    assert cause(volume, [ran("docker system prune -af"), ran("docker volume prune -af")], []) == "docker volume prune -af"
    assert cause(volume, [ran("docker system prune -af --volumes")], []) == "docker system prune -af --volumes"
    assert cause(volume, [ran("docker compose down")], []) is None
