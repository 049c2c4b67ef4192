"""A spec and a recorded session of it, made by hand: what a session of the scripted agent leaves behind."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from pytest_skilleval.agents.scripted import TOKEN_PRICE_USD
from pytest_skilleval.archive import PLAN, PROVENANCE, SPEC, Archive
from pytest_skilleval.core.loading import load_spec
from pytest_skilleval.core.plan import Plan
from pytest_skilleval.core.planning import Request, make_plan
from pytest_skilleval.core.record import RunRecord, TurnRecord
from pytest_skilleval.core.snapshot import DockerState
from pytest_skilleval.rescoring import record_spec

Skilleval = Callable[..., tuple[int, str, str]]

HEAD = """\
skill: tidy-up
defaults: {agents: [claude-code], arms: [without, with], repeats: 3}
agents: [claude-code]
arms:
  without: {role: baseline, exclude: [tidy-up]}
  with: {role: treatment}
  bare: {role: reference, exclude: all}
contrasts: {primary: [[without, with]]}
cases:
"""

CASE = """\
  - id: {id}
    kind: outcome
    expects: improve
    family: {id}
    turns:
      - prompts: [Please put things in order.]
        must:
          - {{id: says-yes, reply: '{reply}'}}
"""


def write_spec(project: Path, *, cases: int = 8, head: str = HEAD, reply: str = "yes") -> Path:
    """``specs/tidy-up/spec.yaml`` with so many cases."""
    path = project / "specs/tidy-up/spec.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(head + "".join(CASE.format(id=f"case-{number}", reply=reply) for number in range(cases)))
    return path


def record_session(spec: Path, outcomes: dict[str, list[str]], *, simulated: bool = False, cost: float = 0.5) -> Path:
    """A results folder in which case i passed where ``outcomes[arm][i]`` has a ``p``, repeat by repeat; 60 s and `cost` a run."""
    loaded = load_spec(spec)
    repeats = len(next(iter(outcomes.values()))[0])
    plan = make_plan([loaded], Request(agents=("scripted",), repeats=repeats))
    archive = Archive.create(spec.parents[2] / "skill-results", "tidy-up")
    archive.write(PLAN, plan.of("tidy-up"))
    archive.write(SPEC, record_spec(loaded))
    archive.write(PROVENANCE, {"format": 1})
    _record_runs(archive, plan, outcomes, simulated=simulated, cost=cost)
    return archive.folder


def _record_runs(archive: Archive, plan: Plan, outcomes: dict[str, list[str]], *, simulated: bool, cost: float) -> None:
    for row in plan.rows:
        passed = outcomes[row.arm][int(row.case.removeprefix("case-"))][row.repeat - 1] == "p"
        folder = archive.run(row.run_id)
        folder.begin()
        turn = folder.turn(1)
        (turn / "prompt.txt").write_text("Please put things in order.")
        (turn / "stderr.txt").write_text("")
        usage = {"input": round(cost / TOKEN_PRICE_USD), "output": 0}
        lines = [{"type": "session", "session": "s", "model": "m"}, {"type": "done", "reply": "yes" if passed else "no", "usage": usage}]
        (turn / "stdout.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        folder.write("turn-1/snapshot.json", DockerState())
        folder.write("baseline.json", DockerState())
        turns = (TurnRecord(number=1, exit_code=0, seconds=50.0, started=0.0),)
        folder.finish(RunRecord(row=row, status="scored", simulated=simulated, seconds=60.0, turns=turns))
