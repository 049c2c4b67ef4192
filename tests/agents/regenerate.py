"""Records the transcripts again from the real CLIs that are installed here: ``python tests/agents/regenerate.py [SCENARIO ...]``.

Older versions' files stay: they pin what those versions emit. Paths of the machine are replaced.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from agent_driving import Bench, script
from agent_scenarios import NO_NAMESPACES, SCENARIOS, Scenario

from pytest_skilleval.agents import agent
from pytest_skilleval.gateway.client import GatewayClient
from pytest_skilleval.gateway.server import GatewayServer

FOLDER = Path(__file__).parent / "transcripts"
KEPT = (b'"task_started"', b'"turn_context"', b'"function_call', b'"CommandExecution"')
PROGRAMS = {"claude-code": "claude", "codex": "bin/codex"}


def version(bench: Bench) -> str:
    """The CLI's version, from its npm package."""
    package = next(folder for folder in (bench.program.parent, *bench.program.parents) if (folder / "package.json").exists())
    told: str = json.loads((package / "package.json").read_text())["version"]
    return told.partition("-")[0]


def told(session: bytes) -> bytes:
    """Of a Codex session record what an adapter reads: commands and what came of them, not the vendor's texts."""
    return b"".join(line for line in session.splitlines(keepends=True) if any(word in line for word in KEPT))


def record(client: GatewayClient, folder: Path, name: str, label: str, scenario: Scenario) -> None:
    """Play one scenario and keep its last turn's streams."""
    (program,) = agent(name).host_program()
    bench = Bench(
        name=name,
        program=program / PROGRAMS[name],
        client=client,
        folder=folder,
        run=f"{name}/{label}",
        deny=scenario.deny,
        permissions=scenario.permissions,
        few_retries=True,
        prefix=() if scenario.namespaces else NO_NAMESPACES,
    )
    if scenario.installed:
        bench.install()
    (bench.workspace / "keep").mkdir()
    bench.open(script(*scenario.turns), faults=scenario.faults)
    for number, _ in enumerate(scenario.turns):
        turn = bench.turn(f"Prompt {number + 1}.")
    client.close(bench.run)
    stem = FOLDER / f"{name}-{version(bench)}-{label}"
    record = b"".join(map(told, bench.records())) if name == "codex" and scenario.denies else b""
    for ending, content in ((".jsonl", turn.stdout), (".stderr", turn.stderr), *(((".session", record),) if record else ())):
        text = content.replace(str(bench.home).encode(), b"/home/agent").replace(str(bench.workspace).encode(), b"/srv/app")
        slug = "".join(character if character.isalnum() else "-" for character in str(bench.workspace))
        stem.with_name(stem.name + ending).write_bytes(text.replace(slug.encode(), b"-srv-app"))
    stem.with_name(stem.name + ".exit").write_text(f"{turn.exit_code}\n")


def main() -> None:
    """The scenarios named on the command line, or all, for every agent."""
    FOLDER.mkdir(exist_ok=True)
    with GatewayServer() as server, tempfile.TemporaryDirectory() as scratch:
        client = GatewayClient(server.control)
        for label, scenario in ((label, SCENARIOS[label]) for label in sys.argv[1:] or SCENARIOS):
            for name in scenario.agents:
                record(client, Path(scratch) / name / label, name, label, scenario)
                sys.stdout.write(f"{name} {label}\n")


if __name__ == "__main__":
    main()
