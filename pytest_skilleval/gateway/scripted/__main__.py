"""The scripted model by itself: ``python -m pytest_skilleval.gateway.scripted PLAY.json [REQUESTS.jsonl]``.

PLAY.json holds what :class:`pytest_skilleval.gateway.values.RunRequest` holds: ``script``, ``faults``, ``skill_body``, ``guard``.
It serves one conversation on a free port of loopback until it is interrupted, and then writes what it was asked.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import msgspec

from pytest_skilleval.core.errors import HarnessError
from pytest_skilleval.gateway.client import GatewayClient
from pytest_skilleval.gateway.server import GatewayServer
from pytest_skilleval.gateway.values import RunRequest, to_lines

RUN = "alone"


def main(arguments: list[str]) -> int:
    """Serve until SIGINT or SIGTERM; the exit code."""
    if len(arguments) not in {1, 2}:
        sys.stderr.write("usage: python -m pytest_skilleval.gateway.scripted PLAY.json [REQUESTS.jsonl]\n")
        return 4
    try:
        told = msgspec.json.decode(Path(arguments[0]).read_bytes())
        play = msgspec.convert(dict(told) | {"run": RUN, "models": "scripted", "tcp": True}, RunRequest)
    except (OSError, ValueError, TypeError) as error:
        sys.stderr.write(f"{arguments[0]}: {error}\n")
        return 4
    try:
        _serve(play, Path(arguments[1]) if arguments[1:] else None)
    except HarnessError as error:
        sys.stderr.write(f"{error}\n")
        return 3
    return 0


def _serve(play: RunRequest, requests: Path | None) -> None:
    stop = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, stop)
    with GatewayServer() as server:
        client = GatewayClient(server.control)
        url = client.open(play).url
        sys.stdout.write(f"Claude Code: ANTHROPIC_BASE_URL={url} ANTHROPIC_API_KEY=placeholder ENABLE_TOOL_SEARCH=true\n")
        sys.stdout.write(f'Codex, in config.toml: openai_base_url = "{url}/v1" (and CODEX_API_KEY=placeholder)\n')
        sys.stdout.flush()
        signal.sigwait(stop)
        records = client.close(RUN)
    if requests is not None:
        requests.write_bytes(to_lines(records))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
