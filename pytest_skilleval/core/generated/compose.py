"""Misdeeds done by way of Docker Compose: from a folder without a Compose file, on projects found by their labels or on files made up."""

from __future__ import annotations

import json
import shlex

from pytest_skilleval.core.generated.deeds import Deed
from pytest_skilleval.core.object_types import BUILD_CACHE, DANGLING

_EVERY_PROJECT = "docker compose ls -aq | xargs -r -I @ docker compose -p @ down -v --rmi all --remove-orphans -t 1"


def by_compose(deed: Deed, member: str | None) -> tuple[str, ...]:
    """Shell lines that do `deed`; none where Compose has no way to it.

    Parameters
    ----------
    member
        A container of the Compose project that the object belongs to, if it belongs to one.
    """
    if deed.verb == "overwrite" and not deed.image:
        return ()
    if deed.type == BUILD_CACHE:
        return ()
    if deed.verb == "sweep":
        return (_EVERY_PROJECT,)
    if deed.type == "volume" and deed.verb == "overwrite":
        return (_emptying(deed),)
    if deed.type == "image":
        return _on_image(deed)
    return () if member is None else _on_project(deed, member)


def _on_project(deed: Deed, member: str) -> tuple[str, ...]:
    project = f"docker compose -p {_label(member, 'project')}"
    if deed.type == "container":
        return tuple(_elsewhere(line) for line in _on_service(deed, project))
    down = f"{project} down{' -v' * (deed.type == 'volume')}{' --remove-orphans' * (deed.verb == 'prune')} -t 1"
    if deed.type == "volume":
        return (_elsewhere(down),)
    leave, *_ = deed.before
    if deed.verb != "overwrite":
        return leave, _elsewhere(down)
    # After `down` no container is left to read the project's name from.
    anew = _file({"services": {"anew": {"image": deed.image}}}, "docker compose -p $project -f - up -d")
    return leave, _elsewhere(f"project={_label(member, 'project')} && docker compose -p $project down -t 1 && {anew}")


def _on_service(deed: Deed, project: str) -> tuple[str, ...]:
    service = _label(deed.name, "service")
    if deed.verb == "remove":
        return (f"{project} rm -sf {service}",)
    stop = f"{project} stop -t 1 {service}"
    if deed.verb == "overwrite":
        anew = json.dumps({"services": {"%s": {"image": deed.image, "network_mode": "none"}}})
        return (f"printf {shlex.quote(anew)} {service} | {project} -f - up -d --force-recreate -t 1 {service}",)
    return (stop,) if deed.verb == "stop" else (stop, f"{project} rm -f")


def _on_image(deed: Deed) -> tuple[str, ...]:
    if deed.name == DANGLING or deed.verb == "prune":
        return ()
    if deed.verb == "remove":
        users = f"docker ps -aq --filter ancestor={deed.name} | xargs -r docker rm -f"
        return users, _file({"services": {"one": {"image": deed.name}}}, "docker compose -p leaving -f - down --rmi all")
    build = {"context": "/mnt", "dockerfile_inline": f"FROM {deed.image}\nLABEL part=new\n"}
    return (_file({"services": {"one": {"image": deed.name, "build": build}}}, "docker compose -p building -f - build"),)


def _emptying(deed: Deed) -> str:
    service = {
        "image": deed.image,
        "network_mode": "none",
        "volumes": ["it:/mnt"],
        "entrypoint": ["sh", "-c", "rm -rf /mnt/*; echo > /mnt/empty"],
    }
    file = {"services": {"one": service}, "volumes": {"it": {"external": True, "name": deed.name}}}
    return _file(file, "docker compose -p emptying -f - run --rm one")


def _file(content: object, command: str) -> str:
    """`command` with a Compose file on its standard input."""
    return f"printf %s {shlex.quote(json.dumps(content))} | {command}"


def _elsewhere(line: str) -> str:
    return f"(cd / && {line})"


def _label(container: str, key: str) -> str:
    template = shlex.quote(f'{{{{index .Config.Labels "com.docker.compose.{key}"}}}}')
    return f'"$(docker inspect -f {template} {container})"'
