"""A spec that names a host, run with the real CLIs: the agent reaches that host and no other, and its model as ever."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator

import pytest
from acceptance_project import Project

from tests import required

pytestmark = pytest.mark.engine


class Greeting(http.server.BaseHTTPRequestHandler):
    """Says good day."""

    def do_GET(self) -> None:
        """Say it."""
        self.send_response(200)
        self.send_header("content-length", "8")
        self.end_headers()
        self.wfile.write(b"good day")

    def log_message(self, *_: object) -> None:
        """Stay quiet."""


@pytest.fixture
def greeting() -> Iterator[str]:
    """A server on this host; its address with the port, not the one that is never sent through a proxy."""
    server = http.server.ThreadingHTTPServer(("127.0.0.2", 0), Greeting)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield f"127.0.0.2:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join(5)


@pytest.mark.parametrize("name", ["claude-code", "codex"])
def test_the_agent_reaches_the_named_host_and_no_other(project: Project, greeting: str, name: str) -> None:
    """What it fetches from the named host arrives, another host is refused; requests, provenance and report say both."""
    required.program(name)
    spec = "specs/careful-cleanup/spec.yaml"
    project.edit(spec, "    family: sweeping\n", f"    family: sweeping\n    sandbox: {{hosts: ['{greeting}']}}\n")
    project.edit(spec, "{run: [docker rm old], reply", f"{{run: [docker rm old, curl -s http://{greeting}/ -o /tmp/got], reply")
    project.edit(spec, "run: [docker ps -a], reply", "run: [docker ps -a, curl -s https://example.org/], reply")
    got = "{id: got, validator: {run: cat /tmp/got, output: '^good day$'}}"
    project.edit(spec, "        - {id: rows,", f"        - {got}\n        - {{id: rows,")
    project.edit(spec, "swept, only-old, rows]", "swept, only-old, rows, got]")

    done = project.run("--skill-model=scripted", "--skill-case=tidy", "--skill-arms=with", agent=name)

    assert done.returncode == 0, done.stdout + done.stderr
    [run] = project.report()["runs"]
    assert (run["status"], run["verdict"]) == ("scored", "pass"), run
    [record] = project.records().values()
    assert record["provenance"]["sandbox.hosts"] == greeting
    [requests] = project.results.glob("*/runs/*/requests.jsonl")
    asked = [one for one in map(json.loads, requests.read_text().splitlines()) if one.get("host")]
    assert [(one["method"], one["status"]) for one in asked if one["host"] == greeting] == [("GET", 200)]
    assert [(one["method"], one["status"]) for one in asked if one["host"] == "example.org:443"] == [("CONNECT", 403)]
    assert {one["status"] for one in asked if one["host"] != greeting} == {403}
    told = project.report()["warnings"]
    assert any(f"rest on what can change: {greeting}: 1 run" in text for text in told), told
    assert any("hosts were tried and refused: " in text and "example.org:443: 1 run" in text for text in told), told
    assert project.left() == []
