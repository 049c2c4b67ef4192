from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from gateway_helpers import FakeUpstream, fake_upstream

from pytest_skilleval.gateway.client import GatewayClient
from pytest_skilleval.gateway.limits import Ledger
from pytest_skilleval.gateway.server import GatewayServer
from pytest_skilleval.gateway.values import Door, RunRequest

Opener = Callable[..., tuple[Door, Callable[[], tuple[Any, ...]]]]


@pytest.fixture
def upstream() -> Iterator[FakeUpstream]:
    """A model that does what the test says."""
    with fake_upstream() as fake:
        yield fake


@pytest.fixture(scope="session")
def idle_gateway() -> Iterator[GatewayClient]:
    """A gateway without upstreams: for scripted models."""
    with GatewayServer() as server:
        yield GatewayClient(server.control)


@pytest.fixture
def scripted(idle_gateway: GatewayClient, request: pytest.FixtureRequest) -> Iterator[Callable[..., tuple[Door, str]]]:
    """Opens runs that play a script; gives door and run id."""
    opened: list[str] = []
    number = itertools.count()

    def open_run(**wanted: Any) -> tuple[Door, str]:
        run = f"{request.node.nodeid}/{next(number)}"
        door = idle_gateway.open(RunRequest(run=run, models="scripted", **wanted))
        opened.append(run)
        return door, run

    yield open_run
    for run in opened:
        idle_gateway.close(run)


@pytest.fixture
def live(upstream: FakeUpstream) -> Iterator[Callable[..., tuple[GatewayClient, Door]]]:
    """Opens a gateway in front of the fake upstream, with one run in it."""
    servers: list[GatewayServer] = []

    def open_gateway(*, ledger: Ledger | None = None, subscription: bool = False, **wanted: Any) -> tuple[GatewayClient, Door]:
        server = GatewayServer(upstreams={"anthropic": upstream.as_upstream(subscription=subscription)}, ledger=ledger)
        server.__enter__()
        servers.append(server)
        client = GatewayClient(server.control)
        return client, client.open(RunRequest(run="run", **wanted))

    yield open_gateway
    for server in servers:
        server.__exit__(None, None, None)
