"""One model API as the gateway knows it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from pytest_skilleval.core.credentials import PLACEHOLDER, without_scheme
from pytest_skilleval.core.errors import UsageProblem
from pytest_skilleval.gateway.values import Api, Models, proxy_environment


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """One model API.

    Attributes
    ----------
    base
        Base URL; a path of the request is put behind it (for OpenAI without its ``/v1``).
    control
        Base URL of Bedrock's listings, where they have a host of their own.
    headers
        Credential headers, in place of the agent's own. Secret: never recorded.
    more
        Further headers that a company gateway asks for, names in lower case; sent with either kind of credentials, in place of the
        agent's own of that name. Secret, too.
    token_command
        Prints a bearer token, for tokens that do not live long; instead of `headers`.
    env
        Placeholders and switches that the agent needs in its environment to behave as with these credentials.
    subscription
        A sign-in with an account: costs no money but limits.
    """

    api: Api
    base: str
    control: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    token_command: str | None = field(default=None, repr=False)
    more: Mapping[str, str] = field(default_factory=dict, repr=False)
    env: Mapping[str, str] = field(default_factory=dict)
    subscription: bool = False

    @property
    def host(self) -> str:
        """Host and port, as the shared back-off and the allow-list know it."""
        return urlsplit(self.base).netloc

    @property
    def secrets(self) -> tuple[str, ...]:
        """The values of its headers, without the word that says of which kind a credential is."""
        return tuple(map(without_scheme, (*self.headers.values(), *self.more.values())))

    def url(self, path_qs: str) -> str:
        """The real address of a request."""
        path = path_qs.removeprefix("/v1") if self.api == "openai" else path_qs
        base = self.control if self.control and path.startswith("/inference-profiles") else self.base
        return base.rstrip("/") + path


def env_inside(upstreams: Iterable[Upstream], models: Models, *, proxied: bool) -> dict[str, str]:
    """What the environment of an agent behind the gateway holds: placeholders and switches, no secret.

    `proxied`: hosts are named that it may reach besides.
    """
    switches = {name: value for upstream in upstreams for name, value in upstream.env.items()}
    env = switches if models == "live" else {"ANTHROPIC_API_KEY": PLACEHOLDER}
    return env | proxy_environment() if proxied else env


def checked(base: str, variable: str) -> str:
    """The base URL that `variable` names; UsageProblem when it is none, or would send credentials in the clear."""
    parts = urlsplit(base)
    if parts.scheme not in {"http", "https"} or not parts.netloc:
        raise UsageProblem(f"{variable}={base!r} is no http(s) address; correct it or unset it")
    if parts.scheme == "http" and parts.hostname not in {"127.0.0.1", "localhost", "::1"}:
        raise UsageProblem(f"{variable}={base!r}: plain http would send credentials in the clear; use https, or a gateway on 127.0.0.1")
    return base
