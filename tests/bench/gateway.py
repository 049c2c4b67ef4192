"""The gateway's price in time to the first byte. Upstream, gateway and client are processes of their own, as in a session."""

from __future__ import annotations

import http.client
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import msgspec

from tests.bench.timing import alternate, show

BODY = msgspec.json.encode(
    {
        "model": "m",
        "messages": [
            {"role": "user", "content": "\n".join(f"line {line} of answer {number}, as long as such lines are" for line in range(50))}
            for number in range(40)
        ],
    }
)
SKILL = "\n".join(f"line {number} of the skill's body" for number in range(120))
UPSTREAM = r"""
import asyncio
import sys

from aiohttp import web

async def stream(request):
    await request.read()
    response = web.StreamResponse(headers={"content-type": "text/event-stream"})
    await response.prepare(request)
    await response.write(b"event: message_start\ndata: {}\n\n")
    await response.write(b"event: message_stop\ndata: {}\n\n")
    return response

async def main():
    app = web.Application(client_max_size=10**8)
    app.router.add_post("/v1/messages", stream)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.to_thread(sys.stdin.read)

asyncio.run(main())
"""
GATEWAY = """
import sys

from pytest_skilleval.gateway.client import GatewayClient
from pytest_skilleval.gateway.server import GatewayServer
from pytest_skilleval.gateway.upstream import Upstream
from pytest_skilleval.gateway.values import RunRequest

with GatewayServer(upstreams={"anthropic": Upstream(api="anthropic", base=f"http://127.0.0.1:{sys.argv[1]}")}) as server:
    print(GatewayClient(server.control).open(RunRequest(run="bench", skill_body=sys.argv[2], tcp=True)).port, flush=True)
    sys.stdin.read()
"""


def main() -> None:
    """One request of 100 kB after the other, on open connections, straight and through the gateway."""
    with _serving(UPSTREAM) as upstream, _serving(GATEWAY, str(upstream), SKILL) as gateway:
        show(alternate(300, straight=_asking(upstream), gateway=_asking(gateway)), "straight")


@contextmanager
def _serving(program: str, *arguments: str) -> Iterator[int]:
    """Runs a program that prints its port, and ends when its standard input does."""
    command = [sys.executable, "-c", program, *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield int(process.stdout.readline())


def _asking(port: int) -> Callable[[], None]:
    """Sends a request and waits for the first byte of its reply; the rest is read before the next one."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    waiting: list[http.client.HTTPResponse] = []

    def ask() -> None:
        while waiting:
            waiting.pop().read()
        connection.request("POST", "/v1/messages", body=BODY, headers={"content-type": "application/json"})
        response = connection.getresponse()
        response.read(1)
        waiting.append(response)

    return ask
