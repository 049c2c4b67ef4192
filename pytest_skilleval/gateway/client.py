"""How a worker talks to the gateway: plain blocking calls over its control socket. Needs no network library."""

from __future__ import annotations

import http.client
import socket
from typing import Any

import msgspec

from pytest_skilleval.core.errors import HarnessError
from pytest_skilleval.gateway.values import Door, RequestRecord, RunRequest

TIMEOUT = 30.0


class _UnixConnection(http.client.HTTPConnection):
    """HTTP over a unix socket."""

    def __init__(self, path: str) -> None:
        super().__init__("gateway", timeout=TIMEOUT)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(TIMEOUT)
        self.sock.connect(self._path)


class GatewayClient:
    """One process' door to the gateway's control; `control` is the path of its socket.

    Every call raises HarnessError when the gateway is gone or refuses.
    """

    def __init__(self, control: str) -> None:
        self.control = control

    def open(self, request: RunRequest) -> Door:
        """Register a run; from now on its agent can reach models through the door."""
        return msgspec.json.decode(self._post("open", msgspec.to_builtins(request)), type=Door)

    def turn(self, run: str, number: int) -> None:
        """A turn begins: later requests belong to it."""
        self._post("turn", {"run": run, "number": number})

    def records(self, run: str) -> tuple[RequestRecord, ...]:
        """What is recorded of the run so far."""
        return msgspec.json.decode(self._post("records", {"run": run}), type=tuple[RequestRecord, ...])

    def close(self, run: str) -> tuple[RequestRecord, ...]:
        """The run is over: its door is shut, what is under way is cut off. Returns everything recorded; a second time nothing."""
        return msgspec.json.decode(self._post("close", {"run": run}), type=tuple[RequestRecord, ...])

    def _post(self, verb: str, arguments: Any) -> bytes:
        connection = _UnixConnection(self.control)
        try:
            connection.request("POST", f"/{verb}", body=msgspec.json.encode(arguments))
            response = connection.getresponse()
            answer = response.read()
        except (OSError, http.client.HTTPException) as error:
            raise HarnessError(f"the gateway does not answer ({error}); was the session stopped?") from error
        finally:
            connection.close()
        if response.status != 200:
            raise HarnessError(f"the gateway refused {verb}: {answer.decode('utf-8', 'replace')[:500]}")
        return answer
