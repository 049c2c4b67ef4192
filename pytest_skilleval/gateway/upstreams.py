"""Where models are reached and with which credentials; nothing else is ever contacted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from pytest_skilleval.core.credentials import CUSTOM_HEADERS, PLACEHOLDER, header_lines
from pytest_skilleval.core.errors import UsageProblem
from pytest_skilleval.gateway import clouds
from pytest_skilleval.gateway.upstream import Upstream, checked
from pytest_skilleval.gateway.values import Api

ANTHROPIC = "https://api.anthropic.com"
OPENAI = "https://api.openai.com/v1"

CREDENTIAL_HEADERS = frozenset({"authorization", "x-api-key"})
FRAMING = frozenset({"host", "connection", "content-length", "transfer-encoding", "accept-encoding"})
HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")

SERVED: Mapping[Api, tuple[Api, ...]] = {"anthropic": ("bedrock", "vertex", "anthropic"), "openai": ("openai",)}
"""The upstreams, the first of them that is there, by which an agent that speaks an API can be served."""


def from_environment(environ: Mapping[str, str], apis: Iterable[Api] = tuple(SERVED)) -> dict[Api, Upstream]:
    """The upstreams that the environment names, with credentials, for agents that speak `apis`.

    Raises
    ------
    UsageProblem
        A base URL is no address, or what is named can't be reached through a gateway; the text says what can.
    """
    made = (_ANSWERS[api](environ) for api in apis)
    return {upstream.api: upstream for upstream in made if upstream is not None}


def _anthropic(environ: Mapping[str, str]) -> Upstream | None:
    more = _more_headers(environ.get(CUSTOM_HEADERS, ""))
    if cloud := clouds.chosen(environ):
        return replace(cloud, more=more)
    name, headers = _anthropic_headers(environ)
    command = clouds.token_command(environ)
    if not headers and command is None and not more.keys() & CREDENTIAL_HEADERS:
        return None
    return Upstream(
        api="anthropic",
        base=checked(environ.get("ANTHROPIC_BASE_URL") or ANTHROPIC, "ANTHROPIC_BASE_URL"),
        headers=headers,
        more=more,
        token_command=None if headers else command,
        env={name: PLACEHOLDER},
        subscription=name == "CLAUDE_CODE_OAUTH_TOKEN",
    )


def _anthropic_headers(environ: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """An API key, else a bearer token, else an account's token; with the name of the variable."""
    if key := environ.get("ANTHROPIC_API_KEY"):
        return "ANTHROPIC_API_KEY", {"x-api-key": key}
    for name in ("ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"):
        if token := environ.get(name):
            return name, {"authorization": f"Bearer {token}"}
    return "ANTHROPIC_AUTH_TOKEN", {}


def _more_headers(text: str) -> dict[str, str]:
    """The further headers; UsageProblem, without any value, where a line is none that can be sent."""
    found = {}
    for number, (name, value) in enumerate(header_lines(text), start=1):
        if not HEADER_NAME.fullmatch(name) or not value.isprintable() or not value:
            raise UsageProblem(f"{CUSTOM_HEADERS}: its line {number} is no `Name: value`; correct it or unset the variable")
        if name.lower() in FRAMING:
            raise UsageProblem(f"{CUSTOM_HEADERS}: {name} is the gateway's own to set; leave it out")
        found[name.lower()] = value
    return found


def _openai(environ: Mapping[str, str]) -> Upstream | None:
    key = environ.get("OPENAI_API_KEY") or environ.get("CODEX_API_KEY")
    if not key:
        return None
    base = checked(environ.get("OPENAI_BASE_URL") or OPENAI, "OPENAI_BASE_URL")
    return Upstream(api="openai", base=base, headers={"authorization": f"Bearer {key}"}, env={"CODEX_API_KEY": PLACEHOLDER})


_ANSWERS = {"anthropic": _anthropic, "openai": _openai}


def need(upstreams: Mapping[Api, Upstream], api: Api) -> Upstream:
    """The upstream for agents that speak `api`; UsageProblem with the mend when there are no credentials for it."""
    for name in SERVED.get(api, ()):
        if name in upstreams:
            return upstreams[name]
    variables = {
        "anthropic": "ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN or CLAUDE_CODE_OAUTH_TOKEN "
        "(or CLAUDE_CODE_USE_BEDROCK=1 or CLAUDE_CODE_USE_VERTEX=1 with theirs)",
        "openai": "OPENAI_API_KEY",
    }
    raise UsageProblem(
        f"no credentials for the {api} models: set {variables.get(api, 'them')}, or use --skill-model=scripted, which needs none"
    )


def check_budget_under_ci(environ: Mapping[str, str], *, budget_said: bool) -> None:
    """UsageProblem when a live model would be paid for under CI and nobody said how much it may cost."""
    if environ.get("CI", "").lower() not in {"", "0", "false"} and not budget_said:
        raise UsageProblem("a live model under CI needs a budget: add --skill-max-cost=USD (or the ini option skilleval_max_cost)")
