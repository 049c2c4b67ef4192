"""The `engine` backend against the conformance suite, and what is special about it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pytest_skilleval.sandboxes.engine.backend import EngineBackend

from . import conformance, world

pytestmark = pytest.mark.engine


@pytest.mark.parametrize("check", conformance.CHECKS, ids=lambda check: check.__name__)
def test_conformance(check: conformance.Check, engine: EngineBackend, tmp_path: Path) -> None:
    """The engine backend keeps every promise of the conformance suite."""
    check(conformance.Bench(engine, tmp_path))


def test_a_person_can_look_inside(engine: EngineBackend, tmp_path: Path) -> None:
    """The way in that `skilleval seed` names opens a shell of the agent's user beside its own Docker Engine."""
    with conformance.Bench(engine, tmp_path).sandbox() as sandbox:
        command = [*sandbox.way_in().split(), "-c", "id -un; docker version --format '{{.Server.Version}}'"]
        told = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.split()

        assert told == ["agent", sandbox.describe()["engine"]]


SWITCH = """
echo '{"features":{"containerd-snapshotter":true}}' > /etc/docker/daemon.json
kill $(pidof dockerd)
sleep 1
until docker version >/dev/null 2>&1; do sleep 0.1; done
"""


@pytest.mark.parametrize("store", ["classic", "containerd"])
def test_dangling_images_are_seen_in_both_image_stores(engine: EngineBackend, tmp_path: Path, store: str) -> None:
    """An image without a tag is dangling, a tagged one is not, and a built one without a name is too, wherever images are kept."""
    with conformance.Bench(engine, tmp_path).sandbox() as sandbox:
        if store == "containerd":
            conformance.sh(sandbox, SWITCH, user="root")
        world.load(sandbox)
        sandbox.put(world.files(Dockerfile=b"FROM tools:1\nRUN echo built > /made\n"), into=sandbox.workspace)
        conformance.sh(sandbox, "docker build -q .")

        state = sandbox.state()

        listed = conformance.sh(sandbox, "docker images -q --no-trunc -f dangling=true").split()
        assert sandbox.describe()["image store"] == store
    assert sorted(image.id for image in state.images if image.dangling) == sorted(listed)
    assert len(listed) == 4
    assert {tag for image in state.images for tag in image.tags} == {"tools:1", "worker:7", "shop-web:1.4", "shop-db:15"}
