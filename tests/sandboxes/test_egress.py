"""From inside a real sandbox: the hosts that a spec names are reached through the proxy, by programs and by the engine; no others."""

from __future__ import annotations

import http.server
import io
import tarfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pytest_skilleval.core.ports import Sandbox, SandboxRequest
from pytest_skilleval.gateway.client import GatewayClient
from pytest_skilleval.gateway.server import GatewayServer
from pytest_skilleval.gateway.values import RequestRecord, RunRequest, proxy_environment
from pytest_skilleval.running.door import lead
from pytest_skilleval.sandboxes.engine import leftovers
from pytest_skilleval.sandboxes.engine.backend import EngineBackend

from .conformance import run, sh
from .test_image_stores import MANIFEST_TYPE, registry

pytestmark = pytest.mark.engine
Opened = tuple[Sandbox, dict[str, str], Callable[[], tuple[RequestRecord, ...]]]


@contextmanager
def serving(folder: Path, address: str) -> Iterator[str]:
    """A server of files on this host; its address with the port."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        default_request_version = "HTTP/1.0"  # so that a client that tries TLS first is answered with a status line

        def __init__(self, *rest: Any) -> None:
            super().__init__(*rest, directory=str(folder))

        def guess_type(self, path: Any) -> str:
            return MANIFEST_TYPE if "/manifests/" in str(path) else "application/octet-stream"

        def log_message(self, *_: Any) -> None:
            """Stay quiet."""

    server = http.server.ThreadingHTTPServer((address, 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"{address}:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


@contextmanager
def opened(engine: EngineBackend, *hosts: str) -> Iterator[Opened]:
    """A sandbox as a run gets it whose spec names these hosts; its agent's environment; and what is recorded so far."""
    with GatewayServer() as server:
        client = GatewayClient(server.control)
        door = client.open(RunRequest(run="one", models="scripted", hosts=hosts))
        sandbox = engine.open(SandboxRequest(name="reaching", engine_env=proxy_environment() if hosts else {}))
        try:
            lead(sandbox, door)
            yield sandbox, door.env, lambda: client.records("one")
        finally:
            sandbox.close()
            client.close("one")


PYTHON = "import urllib.request, sys; print(urllib.request.urlopen(sys.argv[1], timeout=20).read().decode())"
STATUS = ("curl", "-s", "-o", "/dev/null", "-m", "20", "-w", "%{http_code} %{http_connect}")


def test_programs_reach_what_is_named_and_nothing_else(engine: EngineBackend, tmp_path: Path) -> None:
    """Curl (by request and by tunnel) and Python get the named server's file; the one beside it is refused, and past the proxy is none."""
    (tmp_path / "hello").write_text("good day")
    # 127.0.0.2, since nothing sends what is at 127.0.0.1 through a proxy: that is the sandbox's own
    with serving(tmp_path, "127.0.0.2") as named, serving(tmp_path, "127.0.0.2") as other, opened(engine, named) as (sandbox, env, records):
        assert sh(sandbox, f"curl -sS -m 20 http://{named}/hello", env=env) == "good day"
        assert sh(sandbox, f"curl -sS -m 20 --proxytunnel http://{named}/hello", env=env) == "good day"
        assert run(sandbox, "python3", "-c", PYTHON, f"http://{named}/hello", env=env).stdout == b"good day\n"
        assert run(sandbox, *STATUS, f"http://{other}/hello", env=env).stdout == b"403 000"
        assert run(sandbox, *STATUS, "https://deb.debian.org/", env=env).stdout == b"000 403"
        assert run(sandbox, *STATUS, "--noproxy", "*", f"http://{named}/hello").stdout == b"000 000"
        found = records()
    assert [(record.method, record.host, record.status) for record in found] == [
        ("GET", named, 200),
        ("CONNECT", named, 200),
        ("GET", named, 200),
        ("GET", other, 403),
        ("CONNECT", "deb.debian.org:443", 403),
    ]
    assert all(bool(record.received > len("good day")) is (record.status == 200) for record in found)
    assert leftovers.inventory(engine.state_dir) == frozenset()


def test_without_hosts_nothing_listens(engine: EngineBackend) -> None:
    """A run whose spec asks for nothing has the model's door and no other, and an engine that knows no proxy."""
    with opened(engine) as (sandbox, env, records):
        assert not [name for name in env if "proxy" in name.lower()]
        assert run(sandbox, *STATUS, "http://127.0.0.1:8317/").stdout == b"200 000"
        assert run(sandbox, *STATUS, "-x", "http://127.0.0.1:8317", "https://deb.debian.org/").stdout == b"000 403"
        assert [(record.method, record.host, record.status) for record in records()][1:] == [("CONNECT", "deb.debian.org:443", 403)]
        assert run(sandbox, "curl", "-s", "-m", "20", "http://127.0.0.1:8318/").exit_code == 7
        assert sh(sandbox, "docker info --format '{{.HTTPProxy}}{{.HTTPSProxy}}'") == "\n"


def test_the_engine_pulls_through_the_proxy(engine: EngineBackend, tmp_path: Path) -> None:
    """An image comes from a named registry; from another one none does."""
    unpacked = tmp_path / "registry"
    with tarfile.open(fileobj=io.BytesIO(registry())) as archive:
        archive.extractall(unpacked, filter="data")
    # 0.0.0.0 is this host, too, and the one address of it that an engine asks a proxy for
    with serving(unpacked, "0.0.0.0") as named, serving(unpacked, "0.0.0.0") as other, opened(engine, named) as (sandbox, _, records):
        config = f'{{"insecure-registries": ["{named}", "{other}"]}}'
        sh(sandbox, f"echo '{config}' > /etc/docker/daemon.json && pkill -HUP dockerd", user="root")
        sh(sandbox, f"until docker info | grep -q {other}; do sleep 0.1; done")
        assert sh(sandbox, f"docker pull -q {named}/tool:1") == f"{named}/tool:1\n"
        refused = run(sandbox, "docker", "pull", "-q", f"{other}/tool:1")
        assert (refused.exit_code, b"is not to be reached from here" in refused.stderr) == (1, True)
        found = records()
    assert {(record.host, record.status) for record in found} == {(named, 200), (other, 403)}
    assert leftovers.inventory(engine.state_dir) == frozenset()
