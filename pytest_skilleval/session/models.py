"""How the agents of a session reach models: which need a gateway, with which credentials, and the gateway itself."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_skilleval.agents import agent
from pytest_skilleval.core.choosing import SCRIPTED
from pytest_skilleval.core.credentials import Masking, secrets

if TYPE_CHECKING:
    from pytest_skilleval.core.loaded import LoadedSpec
    from pytest_skilleval.core.plan import Plan, Row
    from pytest_skilleval.core.ports import ModelApi
    from pytest_skilleval.gateway.limits import Ledger
    from pytest_skilleval.gateway.server import GatewayServer
    from pytest_skilleval.gateway.values import Door


def asks_models(row: Row) -> bool:
    """Whether the row's agent asks a model at all, a live or the scripted one."""
    return not agent(row.agent).simulated


def is_live(row: Row) -> bool:
    """Whether the run costs money or limits and says something about the skill."""
    return asks_models(row) and row.model != SCRIPTED


def check_models(plan: Plan, environ: Mapping[str, str]) -> None:
    """UsageProblem, with the mend, when credentials for a live model are missing or an endpoint is no address."""
    from pytest_skilleval.gateway.upstreams import from_environment, need

    apis = _apis(plan)
    upstreams = from_environment(environ, apis)
    for api in apis:
        need(upstreams, api)


def _apis(plan: Plan) -> tuple[ModelApi, ...]:
    """What the agents of live runs speak."""
    return tuple(sorted({api for row in plan.selected if is_live(row) and (api := agent(row.agent).api)}))


def pays_by_sign_in(plan: Plan, environ: Mapping[str, str]) -> bool:
    """Whether the sign-in of an account pays for every live run: that costs no money, but its limits."""
    from pytest_skilleval.gateway.upstreams import from_environment

    upstreams = from_environment(environ, _apis(plan)).values()
    return bool(upstreams) and all(upstream.subscription for upstream in upstreams)


def door_foreseen(plan: Plan, row: Row, environ: Mapping[str, str], *, proxied: bool) -> Door | None:
    """The door that a run's agent would have to the gateway; its socket is not there. None when it needs none.

    `proxied`: it leads to hosts that the spec names, too.

    Raises UsageProblem when an endpoint is no address.
    """
    if not asks_models(row):
        return None
    from pytest_skilleval.gateway.upstream import env_inside
    from pytest_skilleval.gateway.upstreams import from_environment
    from pytest_skilleval.gateway.values import Door

    upstreams = from_environment(environ, _apis(plan)).values()
    return Door(socket="", env=env_inside(upstreams, "live" if is_live(row) else "scripted", proxied=proxied))


def open_gateway(plan: Plan, ledger: Ledger, folder: Path) -> GatewayServer | None:
    """A started gateway with its sockets in `folder`, to be left with its ``__exit__``; None when no agent asks a model.

    Raises
    ------
    UsageProblem
        The package that it needs is not installed, or no token can be had.
    """
    if not any(asks_models(row) for row in plan.selected):
        return None
    try:
        from pytest_skilleval.gateway.server import GatewayServer
    except ImportError as error:
        from pytest_skilleval.core.errors import UsageProblem

        raise UsageProblem(
            f"real agents reach their model through the gateway, which needs {error.name}: pip install 'pytest-skilleval[agents]'"
        ) from None
    from pytest_skilleval.gateway.tokens import fetch
    from pytest_skilleval.gateway.upstreams import from_environment

    upstreams = from_environment(os.environ, _apis(plan))
    for upstream in upstreams.values():
        if upstream.token_command is not None:
            fetch(upstream.token_command)  # one that does not work is told now, and not by every run
    return GatewayServer(upstreams=upstreams, ledger=ledger, within=folder).__enter__()


def secret_mask(environ: Mapping[str, str], more: Iterable[str], loaded: LoadedSpec, row: Row) -> Masking:
    """What removes every credential of this environment, the variables named in `more` included, from what is recorded of a row's run."""
    return Masking(secrets(environ, more, lambda: loaded.text() + row.run_id.encode()))
