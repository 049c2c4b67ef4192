"""What a test needs of this machine: a skip where it is missing, a failure where everything is required."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

import pytest

from pytest_skilleval.agents import agent
from pytest_skilleval.core.errors import UsageProblem
from pytest_skilleval.core.ports import Backend


def sandboxes(backend: Backend) -> None:
    """Sandboxes can be made here."""
    probe = backend.probe()
    if not probe.available:
        _missing(f"no {backend.name} sandbox here: {probe.reason}")


def program(name: str) -> Mapping[Path, str]:
    """The program of the agent `name` is installed: the host's folders that hold it, as its adapter tells them."""
    try:
        return agent(name).host_program()
    except UsageProblem as problem:
        _missing(str(problem))


def _missing(reason: str) -> NoReturn:
    if os.environ.get("SKILLEVAL_REQUIRE_ALL"):
        pytest.fail(reason)
    pytest.skip(reason)
