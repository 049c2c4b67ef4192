"""An inventory as a seed: a shell script that makes it with the seed helper, and what it makes."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final

from pytest_skilleval.core.inventory.anonymous import AnonymousContainer, AnonymousImage, Inventory, Labels, Named

_AT_ONCE: Final = 8
_PAD_TOTAL: Final = 40_000
_LEAST_PAD: Final = 40
_HEAD: Final = """#!/bin/sh
# The inventory of a real host, anonymised: {counts}.
# Counts, states and the shapes of names are the host's; names, labels' values, contents and images are not. {ages}
# It uses `seedkit`; see the page "Seeds" of the documentation.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)

cat > "$here/service" <<'PROGRAM'
#!/bin/sh
trap 'echo "stopping"; exit 0' TERM INT
for folder in /data*; do [ -d "$folder" ] && [ ! -e "$folder/records.csv" ] && seq 1 500 > "$folder/records.csv"; done
echo "ready"
while :; do sleep 3600 & wait $!; done
PROGRAM
cat > "$here/job" <<'PROGRAM'
#!/bin/sh
for folder in /data*; do [ -d "$folder" ] && [ ! -e "$folder/records.csv" ] && seq 1 500 > "$folder/records.csv"; done
echo "finished with code ${{1:-0}}"
exit "${{1:-0}}"
PROGRAM
"""


def seed_program(inventory: Inventory) -> str:
    """The text of the seed, an executable POSIX shell script."""
    return "\n".join(_parts(inventory))


def makes(inventory: Inventory) -> dict[str, Any]:
    """What the seed makes, as `makes` of a spec has it."""
    return {
        "containers": {one.name: one.state for one in inventory.containers},
        "volumes": tuple(one.name for one in inventory.volumes),
        "images": tuple(tag for one in inventory.images for tag in one.tags),
        "networks": tuple(one.name for one in inventory.networks),
        "dangling_images": _dangling(inventory),
    }


def _dangling(inventory: Inventory) -> int:
    return sum(not one.tags for one in inventory.images)


def _parts(inventory: Inventory) -> Iterator[str]:
    counts = ", ".join(
        f"{len(things)} {kind}"
        for kind, things in (
            ("containers", inventory.containers),
            ("images", inventory.images),
            ("named volumes", inventory.volumes),
            ("networks", inventory.networks),
        )
    )
    ages = inventory.ages
    told = f"The\n# containers were {ages[0]} to {ages[-1]} days old; skins.yaml gives all of them the median." if ages else ""
    yield _HEAD.format(counts=counts, ages=told).replace(" \n", "\n")
    if inventory.images:
        yield "cd \"$here\"\nseedkit load <<'RECIPE'\n" + "".join(_recipe(inventory.images)) + "RECIPE\ncd - >/dev/null\n"
    unnamed = ["docker volume create >/dev/null"] * inventory.unnamed_volumes
    yield _side_by_side([*_created("network", inventory.networks), *_created("volume", inventory.volumes), *unnamed])
    yield _side_by_side(map(_start, inventory.containers))
    yield "".join(_afterwards(inventory.containers))
    yield "".join(_expectations(inventory))


def _recipe(images: tuple[AnonymousImage, ...]) -> Iterator[str]:
    total = sum(one.size for one in images) or 1
    for number, one in enumerate(images):
        yield f"image {' '.join(one.tags) or '-'}\n"
        if one.created:
            yield f"  created {one.created}T{number % 10 + 9:02d}:{number * 7 % 60:02d}:{number * 13 % 60:02d}Z\n"
        yield "  program /usr/sbin/service service\n  program /usr/bin/job job\n"
        yield f"  file /etc/build {number + 1}\n"
        yield f"  pad /usr/lib/service/bundle.bin {max(_LEAST_PAD, one.size * _PAD_TOTAL // total)}k\n"
        yield "  cmd /usr/sbin/service\n  step COPY . /usr # buildkit\n"


def _created(kind: str, things: tuple[Named, ...]) -> Iterator[str]:
    for one in things:
        yield f"docker {kind} create{_labels(one.labels)} {one.name} >/dev/null"


def _labels(labels: Labels) -> str:
    return "".join(f" --label {shlex.quote(f'{key}={value}')}" for key, value in labels)


def _start(one: AnonymousContainer) -> str:
    network = f" --network {one.network}" if one.network else ""
    places = [f"{name}:/data{number or ''}" for number, name in enumerate(one.volumes)]
    places += [f"/data{number or ''}" for number in range(len(places), len(places) + one.unnamed)]
    volumes = "".join(f" -v {place}" for place in places)
    words = ("create", "") if one.state == "created" else ("run -d", f" job {one.exit_code}" if one.state == "exited" else "")
    options = f"--name {one.name}{network}{volumes}{_labels(one.labels)}"
    return f"docker {words[0]} {options} {one.image}{words[1]} >/dev/null"


def _side_by_side(commands: Iterable[str]) -> str:
    lines = [f"{command} &\n" for command in commands]
    batches = ["".join(lines[start : start + _AT_ONCE]) + "wait\n" for start in range(0, len(lines), _AT_ONCE)]
    return "".join(batches)


def _afterwards(containers: tuple[AnonymousContainer, ...]) -> Iterator[str]:
    for one in containers:
        yield from (f"docker network connect {name} {one.name}\n" for name in one.more_networks)
    paused = [one.name for one in containers if one.state == "paused"]
    if paused:
        yield f"docker pause {' '.join(paused)} >/dev/null\n"


def _expectations(inventory: Inventory) -> Iterator[str]:
    states = Counter((one.state, one.exit_code if one.state == "exited" else None) for one in inventory.containers)
    for state, code in states:
        names = [one.name for one in inventory.containers if one.state == state and code in (None, one.exit_code)]
        yield f"seedkit expect container {' '.join(names)} {state if code is None else f'{state}:{code}'}\n"
    for kind, things in (("volume", inventory.volumes), ("network", inventory.networks)):
        if things:
            yield f"seedkit expect {kind} {' '.join(one.name for one in things)}\n"
    yield f"seedkit expect dangling {_dangling(inventory)}\n"
