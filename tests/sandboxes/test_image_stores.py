"""What can be had again: images that a registry gave, and those that exist nowhere else, in both image stores."""

from __future__ import annotations

import hashlib
import json
import shlex
from pathlib import Path

import pytest

from pytest_skilleval.core.changes import image_thing
from pytest_skilleval.core.harm import loss_class
from pytest_skilleval.sandboxes.engine.backend import EngineBackend

from . import conformance, world
from .test_engine import SWITCH

pytestmark = pytest.mark.engine

MANIFEST_TYPE = "application/vnd.docker.distribution.manifest.v2+json"
_PULL_AND_BUILD = """
(python3 registry.py >/dev/null 2>&1 &)
until curl -sf http://localhost:5000/v2/ >/dev/null; do sleep 0.1; done
docker pull -q localhost:5000/tool:1 && docker build -q -t shop/new:1 build
"""
_REGISTRY = f"""
import http.server
class Handler(http.server.SimpleHTTPRequestHandler):
    default_request_version = "HTTP/1.0"  # so that a client that tries TLS first is answered with a status line
    def guess_type(self, path):
        return {MANIFEST_TYPE!r} if "/manifests/" in str(path) else "application/octet-stream"
http.server.HTTPServer(("127.0.0.1", 5000), Handler).serve_forever()
"""


def registry() -> bytes:
    """A registry that holds one image, ``tool:1``, as files at the paths under which they are asked for; and something to build."""
    layer = world.files(hello=b"hello")
    config = json.dumps(
        {"architecture": "amd64", "os": "linux", "config": {}, "rootfs": {"type": "layers", "diff_ids": [_digest(layer)]}}
    ).encode()
    parts = {"config": (config, "container.image.v1+json"), "layers": (layer, "image.rootfs.diff.tar")}
    told = {
        name: {"mediaType": f"application/vnd.docker.{kind}", "size": len(data), "digest": _digest(data)}
        for name, (data, kind) in parts.items()
    }
    manifest = json.dumps({"schemaVersion": 2, "mediaType": MANIFEST_TYPE, "config": told["config"], "layers": [told["layers"]]}).encode()
    blobs = {f"v2__tool__blobs__{_digest(data)}": data for data, _ in parts.values()}
    return world.files(
        registry_dot_py=_REGISTRY.encode(),
        build__Dockerfile=b"FROM tools:1\nRUN echo built > /made\n",
        v2__index_dot_html=b"",
        v2__tool__manifests__1=manifest,
        **{f"v2__tool__manifests__{_digest(manifest)}": manifest},
        **blobs,
    )


def _digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


@pytest.mark.parametrize(("store", "pulled"), [("classic", "cache"), ("containerd", "local-image")])
def test_an_image_made_here_never_counts_as_one_to_be_pulled_again(engine: EngineBackend, tmp_path: Path, store: str, pulled: str) -> None:
    """Built and loaded images are local ones in both stores; a pulled one is told apart by the classic store only."""
    with conformance.Bench(engine, tmp_path).sandbox() as sandbox:
        if store == "containerd":
            conformance.sh(sandbox, SWITCH, user="root")
        world.load(sandbox)
        sandbox.put(registry(), into=sandbox.workspace)
        conformance.sh(sandbox, f"cd {shlex.quote(sandbox.workspace)} && {_PULL_AND_BUILD}")
        state = sandbox.state()

    found = {tag: loss_class(image_thing(image), state) for image in state.images for tag in image.tags}
    assert found.pop("localhost:5000/tool:1") == pulled
    assert set(found) >= {"shop/new:1", "tools:1", "worker:7"}
    assert set(found.values()) == {"local-image"}
