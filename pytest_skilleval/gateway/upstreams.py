"""Where models are reached and with which credentials; nothing else is ever contacted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from pytest_skilleval.core.credentials import PLACEHOLDER
from pytest_skilleval.core.errors import UsageProblem
from pytest_skilleval.gateway.values import Api

ANTHROPIC = "https://api.anthropic.com"
OPENAI = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """One model API.

    Attributes
    ----------
    base
        Base URL; a path of the request is put behind it (for OpenAI without its ``/v1``).
    headers
        Credential headers, in place of the agent's own. Secret: never recorded.
    env
        Placeholders that the agent needs in its environment to behave as with these credentials.
    subscription
        A sign-in with an account: costs no money but limits.
    """

    api: Api
    base: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    env: Mapping[str, str] = field(default_factory=dict)
    subscription: bool = False

    @property
    def host(self) -> str:
        """Host and port, as the shared back-off and the allow-list know it."""
        return urlsplit(self.base).netloc

    def url(self, path_qs: str) -> str:
        """The real address of a request."""
        path = path_qs.removeprefix("/v1") if self.api == "openai" else path_qs
        return self.base.rstrip("/") + path


def from_environment(environ: Mapping[str, str]) -> dict[Api, Upstream]:
    """The upstreams for which the environment holds credentials (company gateways by base URL included)."""
    found: dict[Api, Upstream] = {}
    if headers := _anthropic_headers(environ):
        token = environ.get("CLAUDE_CODE_OAUTH_TOKEN") if "x-api-key" not in headers else None
        subscription = bool(token) and not environ.get("ANTHROPIC_AUTH_TOKEN")
        name = "CLAUDE_CODE_OAUTH_TOKEN" if subscription else "ANTHROPIC_AUTH_TOKEN" if "authorization" in headers else "ANTHROPIC_API_KEY"
        found["anthropic"] = Upstream(
            api="anthropic",
            base=_checked(environ.get("ANTHROPIC_BASE_URL") or ANTHROPIC, "ANTHROPIC_BASE_URL"),
            headers=headers,
            env={name: PLACEHOLDER},
            subscription=subscription,
        )
    key = environ.get("OPENAI_API_KEY") or environ.get("CODEX_API_KEY")
    if key:
        base = _checked(environ.get("OPENAI_BASE_URL") or OPENAI, "OPENAI_BASE_URL")
        found["openai"] = Upstream(api="openai", base=base, headers={"authorization": f"Bearer {key}"}, env={"CODEX_API_KEY": PLACEHOLDER})
    return found


def _anthropic_headers(environ: Mapping[str, str]) -> dict[str, str]:
    """An API key, else a bearer token, else an account's token."""
    if key := environ.get("ANTHROPIC_API_KEY"):
        return {"x-api-key": key}
    token = environ.get("ANTHROPIC_AUTH_TOKEN") or environ.get("CLAUDE_CODE_OAUTH_TOKEN")
    return {"authorization": f"Bearer {token}"} if token else {}


def _checked(base: str, variable: str) -> str:
    parts = urlsplit(base)
    if parts.scheme not in {"http", "https"} or not parts.netloc:
        raise UsageProblem(f"{variable}={base!r} is no http(s) address; correct it or unset it")
    if parts.scheme == "http" and parts.hostname not in {"127.0.0.1", "localhost", "::1"}:
        raise UsageProblem(f"{variable}={base!r}: plain http would send credentials in the clear; use https, or a gateway on 127.0.0.1")
    return base


def need(upstreams: Mapping[Api, Upstream], api: Api) -> Upstream:
    """The upstream for `api`; UsageProblem with the mend when there are no credentials for it."""
    if api in upstreams:
        return upstreams[api]
    variables = {"anthropic": "ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN or CLAUDE_CODE_OAUTH_TOKEN", "openai": "OPENAI_API_KEY"}
    raise UsageProblem(
        f"no credentials for the {api} models: set {variables.get(api, 'them')}, or use --skill-model=scripted, which needs none"
    )


def check_budget_under_ci(environ: Mapping[str, str], *, budget_said: bool) -> None:
    """UsageProblem when a live model would be paid for under CI and nobody said how much it may cost."""
    if environ.get("CI", "").lower() not in {"", "0", "false"} and not budget_said:
        raise UsageProblem("a live model under CI needs a budget: add --skill-max-cost=USD (or the ini option skilleval_max_cost)")
