"""The gateway's price in time to the first byte."""

from __future__ import annotations

import http.client
import subprocess
import sys
from collections.abc import Callable

import msgspec

from pytest_skilleval.gateway.client import GatewayClient
from pytest_skilleval.gateway.server import GatewayServer
from pytest_skilleval.gateway.upstream import Upstream
from pytest_skilleval.gateway.values import RunRequest
from tests.bench.timing import alternate, show

BODY = msgspec.json.encode(
    {"model": "m", "messages": [{"role": "user", "content": f"line {number} of a long prompt"} for number in range(2000)]}
)
SKILL = "\n".join(f"line {number} of the skill's body" for number in range(120))
UPSTREAM = """
from aiohttp import web

async def stream(request):
    await request.read()
    response = web.StreamResponse(headers={"content-type": "text/event-stream"})
    await response.prepare(request)
    await response.write(b"event: message_start\\ndata: {}\\n\\n")
    await response.write(b"event: message_stop\\ndata: {}\\n\\n")
    return response

async def main():
    import asyncio
    app = web.Application(client_max_size=10**8)
    app.router.add_post("/v1/messages", stream)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()

import asyncio
asyncio.run(main())
"""


def main() -> None:
    """One request of 80 kB after the other, on open connections, straight and through the gateway."""
    with subprocess.Popen([sys.executable, "-c", UPSTREAM], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        try:
            upstream = Upstream(api="anthropic", base=f"http://127.0.0.1:{port}")
            with GatewayServer(upstreams={"anthropic": upstream}) as server:
                door = GatewayClient(server.control).open(RunRequest(run="bench", skill_body=SKILL, tcp=True))
                show(alternate(300, straight=_asking(port), gateway=_asking(door.port or 0)), "straight")
        finally:
            process.kill()


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
