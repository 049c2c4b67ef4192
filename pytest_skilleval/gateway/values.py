"""What crosses between the gateway and the runs that use it. Values only: no network library is imported here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from pytest_skilleval.core.model_requests import Shown
from pytest_skilleval.core.transcript import Usage
from pytest_skilleval.gateway.scripted.script import Fault, Script

INSIDE_PORT = 8317
"""Port on 127.0.0.1 inside every sandbox that leads to the gateway: the same for all, so that arms stay equal."""

EGRESS_PORT = 8318
"""Port inside that leads to the hosts a spec names; nothing listens there where it names none."""

NOT_PROXIED = "127.0.0.1,localhost,::1"

Models = Literal["live", "scripted"]
Api = Literal["anthropic", "openai", "bedrock", "vertex", "other"]
"""How a model is asked. Bedrock and Vertex are Anthropic's Messages API at other addresses, the model named in the path."""


class RunRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What the gateway must know of a run.

    `skill_body`: the skill's text below its front-matter; every model call is marked with the share of it in its context.
    `tcp`: listen on a free port of 127.0.0.1 and not on a unix socket (for agents that run without a sandbox).
    `turn`: the one that it begins with, where turns are told.
    `script`, `guard`, `faults`: for the scripted model.
    `hosts`: what its sandbox may reach besides, as a spec names them; without a sandbox (`tcp`) nobody keeps the agent from any.
    """

    run: str
    models: Models = "live"
    skill_body: str = ""
    turn: int | None = None
    script: Script = Script()
    guard: bool = False
    faults: tuple[Fault, ...] = ()
    tcp: bool = False
    hosts: tuple[str, ...] = ()


class Door(msgspec.Struct, frozen=True, kw_only=True):
    """Where a run's agent reaches the gateway: exactly one of `socket` and `port`. `env`: placeholders, no secrets.

    `egress`: the socket of the proxy to the hosts that the spec names; None: it names none.
    """

    socket: str | None = None
    port: int | None = None
    env: dict[str, str] = {}
    egress: str | None = None

    @property
    def target(self) -> tuple[str, int] | str:
        """For :meth:`pytest_skilleval.core.ports.Sandbox.listen`."""
        return self.socket if self.socket is not None else ("127.0.0.1", self.port or 0)

    @property
    def url(self) -> str:
        """Base URL for the agent: inside the sandbox for a socket, on the host for a port."""
        return f"http://127.0.0.1:{self.port or INSIDE_PORT}"


def proxy_environment() -> dict[str, str]:
    """What sends programs inside through the proxy; in both spellings, since each is the only one for some."""
    url = f"http://127.0.0.1:{EGRESS_PORT}"
    told = {"HTTP_PROXY": url, "HTTPS_PROXY": url, "NO_PROXY": NOT_PROXIED}
    return told | {name.lower(): value for name, value in told.items()}


class RequestFailure(msgspec.Struct, frozen=True, kw_only=True):
    """Why a model call gave no whole answer; ``gateway``: by a fault of the gateway's own, or of its scripted model."""

    kind: Literal["status", "unreachable", "cut", "client_gone", "budget", "refused_path", "refused_host", "credentials", "gateway"]
    detail: str = ""


class RequestRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One request of an agent, to a model or to a host that the spec names: a line of ``requests.jsonl``.

    Attributes
    ----------
    at
        Seconds since the run was registered.
    first_byte_ms, seconds
        From the request's arrival to the first byte of the reply, and to its end; time held back for others apart (`waited`).
    attempt
        The client's own retry count, where it tells.
    dose
        Share of the skill's body in the context, 0 to 1; `listed` says which skills the listing shows.
    free
        Whether an account's sign-in paid for it: no money, but limits.
    masked
        How many credentials the gateway removed: from this record, and from an error before it was passed on.
    host, sent, received
        Of a request to a host (then it is no model call, and `path` is empty): name and port, and the bytes each way.
    body, shown
        The raw request and what it shows: of the first model call of each turn only.
    """

    number: int
    at: float
    api: Api
    method: str
    path: str
    turn: int | None = None
    model: str = ""
    model_reported: str = ""
    stream: bool = False
    attempt: int = 0
    status: int | None = None
    first_byte_ms: float | None = None
    seconds: float = 0.0
    waited: float = 0.0
    request_id: str | None = None
    usage: Usage = Usage()
    cost_usd: float | None = None
    free: bool = False
    rate_limits: dict[str, str] = {}
    stop_reason: str | None = None
    failure: RequestFailure | None = None
    dose: float | None = None
    listed: tuple[str, ...] = ()
    effort: str | None = None
    thinking: str | None = None
    system_sha256: str = ""
    tools_sha256: str = ""
    masked: int = 0
    host: str = ""
    sent: int = 0
    received: int = 0
    shown: Shown | None = None
    body: str | None = None


def to_lines(records: Iterable[RequestRecord]) -> bytes:
    """``requests.jsonl``: one JSON object a line."""
    return b"".join(msgspec.json.encode(record) + b"\n" for record in records)


def read_lines(data: bytes) -> tuple[tuple[RequestRecord, ...], int]:
    """The records of a ``requests.jsonl``, and how many of its lines can't be read."""
    found, damaged = [], 0
    for line in data.splitlines():
        try:
            found.append(msgspec.json.decode(line, type=RequestRecord))
        except (msgspec.DecodeError, UnicodeDecodeError):
            damaged += 1
    return tuple(found), damaged


def from_lines(data: bytes) -> tuple[RequestRecord, ...]:
    """The records of a ``requests.jsonl`` that can be read."""
    return read_lines(data)[0]
