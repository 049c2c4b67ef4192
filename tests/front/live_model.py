"""A live model behind loopback, and runs that ask it through the session's gateway: no sandbox, no CLI, real money's arithmetic."""

from __future__ import annotations

import json
import platform
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from pytest_skilleval.agents.programs import ARCHITECTURES

USAGE = {"input_tokens": 1000, "output_tokens": 100}
"""Of every call: 0.0075 USD on claude-opus-4-8."""

RUNNER = '''
TOLD_USD = 5.0
CALLS = 2

def ask(door, model):
    """One call: its status."""
    import http.client
    import socket

    connection = http.client.HTTPConnection("model", timeout=20)
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect(door.target)
    try:
        body = json.dumps({"model": model, "messages": [{"role": "user", "content": "x"}]})
        connection.request("POST", "/v1/messages", body=body)
        response = connection.getresponse()
        response.read()
        return response.status
    finally:
        connection.close()

def run(job):
    """Ask the model, and tell of it as Claude Code does."""
    from pytest_skilleval.core.record import RunRecord, TurnRecord
    from pytest_skilleval.core.snapshot import DockerState
    from pytest_skilleval.running.door import ModelDoor

    note("open", job)
    folder = job.archive.run(job.row.run_id)
    folder.begin()
    door = ModelDoor(job, folder, 1, job.gateway)
    door.begin_turn(1)
    refused = [status for _ in range(CALLS) if (status := ask(door.door, job.row.model)) != 200]
    door.close()
    folder.write("baseline.json", DockerState())
    turn = folder.turn(1)
    (turn / "prompt.txt").write_text("x")
    (turn / "stderr.txt").write_text("")
    folder.write("turn-1/snapshot.json", DockerState())
    usage = {"input_tokens": 1000 * CALLS, "output_tokens": 100 * CALLS}
    said = {"role": "assistant", "content": [{"type": "text", "text": "yes"}], "usage": usage, "model": job.row.model}
    lines = [
        {"type": "system", "subtype": "init", "session_id": "s", "model": job.row.model, "tools": [], "mcp_servers": []},
        {"type": "assistant", "session_id": "s", "message": said},
        {"type": "result", "subtype": "success", "is_error": False, "result": "yes", "session_id": "s", "usage": usage,
         "total_cost_usd": TOLD_USD},
    ]
    (turn / "stdout.jsonl").write_text("".join(json.dumps(line) + "\\n" for line in lines))
    turns = (TurnRecord(number=1, exit_code=0, seconds=0.1, started=0.0),)
    status, blame = ("error", "agent_api") if refused else ("scored", None)
    record = RunRecord(row=job.row, status=status, blame=blame, detail="refused" if refused else "", turns=turns)
    folder.finish(record)
    return record
'''


@contextmanager
def live_model() -> Iterator[str]:
    """The address of a model that answers every call with the same usage, as the model it was asked for."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            body = json.dumps({"model": asked["model"], "stop_reason": "end_turn", "usage": USAGE}).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Stay quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


def pretend_cli(prefix: Path) -> None:
    """An npm prefix with a file where Claude Code would be; nobody runs it."""
    kind = ARCHITECTURES.get(platform.machine().lower(), platform.machine())
    program = prefix / f"node_modules/@anthropic-ai/claude-code-linux-{kind}/claude"
    program.parent.mkdir(parents=True)
    program.touch()
