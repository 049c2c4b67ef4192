"""Claude's models at Amazon Bedrock and Google Vertex AI, and at company gateways that speak as these do.

Claude Code is told by a switch; behind the gateway it runs in its "gateway mode" (it signs nothing), and the gateway adds a bearer token.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pytest_skilleval.core.errors import UsageProblem
from pytest_skilleval.gateway.upstream import Upstream, checked

BEDROCK, VERTEX = "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX"
OTHERS = ("CLAUDE_CODE_USE_FOUNDRY", "CLAUDE_CODE_USE_MANTLE", "CLAUDE_CODE_USE_ANTHROPIC_AWS")
TOKEN_COMMAND = "SKILLEVAL_TOKEN_COMMAND"  # noqa: S105 - the name of a variable
PLACE = re.compile(r"[a-z0-9][a-z0-9:.-]*")
"""Regions and projects: they become part of an address."""


def chosen(environ: Mapping[str, str]) -> Upstream | None:
    """The cloud that the environment switches Claude Code to, or None."""
    for switch in OTHERS:
        if _is_on(environ, switch):
            raise UsageProblem(f"{switch}: not possible through the gateway; unset it and use {BEDROCK}, {VERTEX} or ANTHROPIC_BASE_URL")
    if _is_on(environ, BEDROCK):
        return bedrock(environ)
    return vertex(environ) if _is_on(environ, VERTEX) else None


def bedrock(environ: Mapping[str, str]) -> Upstream:
    """Amazon Bedrock with an API key of its own, or a gateway that speaks as Bedrock does.

    Raises
    ------
    UsageProblem
        There are only keys with which requests would have to be signed for a host.
    """
    region = _place(environ, ("AWS_REGION", "AWS_DEFAULT_REGION"), default="us-east-1")
    own = environ.get("ANTHROPIC_BEDROCK_BASE_URL")
    skips = _is_on(environ, "CLAUDE_CODE_SKIP_BEDROCK_AUTH")
    headers, command = _bearer(environ, "ANTHROPIC_AUTH_TOKEN" if own and skips else "AWS_BEARER_TOKEN_BEDROCK")
    if not headers and command is None and not (own and skips):
        raise UsageProblem(
            f"{BEDROCK}: requests signed with AWS keys or a profile can't go through the gateway. Make an Amazon Bedrock API key and set "
            f"AWS_BEARER_TOKEN_BEDROCK (or {TOKEN_COMMAND}, which prints one), or name a company gateway that signs: "
            "ANTHROPIC_BEDROCK_BASE_URL with CLAUDE_CODE_SKIP_BEDROCK_AUTH=1, and ANTHROPIC_AUTH_TOKEN if it wants a token"
        )
    return Upstream(
        api="bedrock",
        base=checked(own or f"https://bedrock-runtime.{region}.amazonaws.com", "ANTHROPIC_BEDROCK_BASE_URL"),
        control=None if own else f"https://bedrock.{region}.amazonaws.com",
        headers=headers,
        token_command=command,
        env={BEDROCK: "1", "CLAUDE_CODE_SKIP_BEDROCK_AUTH": "1", "AWS_REGION": region},
    )


def vertex(environ: Mapping[str, str]) -> Upstream:
    """Google Vertex AI with an access token, or a gateway that speaks as Vertex does.

    Raises
    ------
    UsageProblem
        Project or token is missing.
    """
    region = _place(environ, ("CLOUD_ML_REGION",), default="us-east5")
    project = _place(environ, ("ANTHROPIC_VERTEX_PROJECT_ID",), default="")
    if not project:
        raise UsageProblem(f"{VERTEX}: the project is missing; set ANTHROPIC_VERTEX_PROJECT_ID")
    own = environ.get("ANTHROPIC_VERTEX_BASE_URL")
    skips = _is_on(environ, "CLAUDE_CODE_SKIP_VERTEX_AUTH")
    headers, command = _bearer(environ, "ANTHROPIC_AUTH_TOKEN" if own and skips else "GOOGLE_OAUTH_ACCESS_TOKEN")
    if not headers and command is None and not (own and skips):
        raise UsageProblem(
            f"{VERTEX}: the gateway needs an access token: set {TOKEN_COMMAND}='gcloud auth print-access-token' (run again as tokens age) "
            "or GOOGLE_OAUTH_ACCESS_TOKEN; or name a company gateway that adds one: "
            "ANTHROPIC_VERTEX_BASE_URL with CLAUDE_CODE_SKIP_VERTEX_AUTH=1, and ANTHROPIC_AUTH_TOKEN if it wants a token"
        )
    host = "aiplatform.googleapis.com" if region == "global" else f"{region}-aiplatform.googleapis.com"
    return Upstream(
        api="vertex",
        base=checked(own or f"https://{host}/v1", "ANTHROPIC_VERTEX_BASE_URL"),
        headers=headers,
        token_command=command,
        env={VERTEX: "1", "CLAUDE_CODE_SKIP_VERTEX_AUTH": "1", "CLOUD_ML_REGION": region, "ANTHROPIC_VERTEX_PROJECT_ID": project},
    )


def token_command(environ: Mapping[str, str]) -> str | None:
    """The command that prints a bearer token for Claude's models, if one is set."""
    return environ.get(TOKEN_COMMAND, "").strip() or None


def _bearer(environ: Mapping[str, str], variable: str) -> tuple[dict[str, str], str | None]:
    """The header with the token of `variable`, else the command that prints one."""
    token = environ.get(variable)
    return ({"authorization": f"Bearer {token}"}, None) if token else ({}, token_command(environ))


def _is_on(environ: Mapping[str, str], switch: str) -> bool:
    return environ.get(switch, "").lower() in {"1", "true", "yes", "on"}


def _place(environ: Mapping[str, str], variables: tuple[str, ...], default: str) -> str:
    for variable in variables:
        if value := environ.get(variable):
            if not PLACE.fullmatch(value):
                raise UsageProblem(f"{variable}={value!r} can't be part of an address; correct it")
            return value
    return default
