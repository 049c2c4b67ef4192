from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from agent_driving import Bench

from pytest_skilleval.gateway.client import GatewayClient
from pytest_skilleval.gateway.server import GatewayServer
from tests import required

PROGRAMS = {"claude-code": "claude", "codex": "bin/codex"}


def find(name: str) -> Path:
    """The real CLI, else a skip (a failure where everything is required)."""
    (folder,) = required.program(name)
    return folder / PROGRAMS[name]


@pytest.fixture(scope="session")
def gateway() -> Iterator[GatewayClient]:
    """One gateway for all scripted runs of these tests."""
    with GatewayServer() as server:
        yield GatewayClient(server.control)


@pytest.fixture
def bench(gateway: GatewayClient, tmp_path: Path) -> Iterator[Callable[..., Bench]]:
    """Makes a bench for an agent's name; its run is closed afterwards."""
    made: list[Bench] = []

    def make(name: str, run: str = "run", **more: Any) -> Bench:
        one = Bench(name=name, program=find(name), client=gateway, folder=tmp_path / run, run=f"{tmp_path}/{run}", **more)
        made.append(one)
        return one

    yield make
    for one in made:
        gateway.close(one.run)
