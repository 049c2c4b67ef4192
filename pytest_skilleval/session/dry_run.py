"""``--skill-dry-run``: the plan and every command it would run, and nothing done."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from pytest_skilleval.agents import agent
from pytest_skilleval.core.choosing import DEFAULT_MODEL
from pytest_skilleval.core.loading import load_spec
from pytest_skilleval.core.ports import AgentSetup, AgentTurn
from pytest_skilleval.rescoring import dressed_case
from pytest_skilleval.session import PLANNED, say
from pytest_skilleval.session.settings import settings_of

if TYPE_CHECKING:
    from pytest_skilleval.core.loaded import LoadedSpec
    from pytest_skilleval.core.plan import Plan, Row

SESSION = "SESSION"
"""Stands for the id that the first turn will return."""


def show(session: pytest.Session) -> bool:
    """Print what the session would do, instead of doing it."""
    config = session.config
    planned = config.stash[PLANNED]
    specs = {skill: planned.specs.get(path) or load_spec(path) for skill, path in planned.files.items()}
    sandbox = settings_of(config).sandbox
    rows = planned.rows_of(session.items)
    say(config, "", f"dry run: {len(rows)} of {len(planned.plan.rows)} runs, nothing is started")
    say(config, f"random seed: {planned.plan.random_seed} ({planned.plan.seed_origin})")
    for row in rows:
        say(config, *_lines(row, specs[row.skill], planned.plan, sandbox))
    say(config, f"Exit 0: dry run of {len(rows)} runs")
    return True


def _lines(row: Row, loaded: LoadedSpec, plan: Plan, sandbox: str) -> Iterator[str]:
    """One run: what is drawn for it, the seed program and the agent's command for each turn."""
    case = dressed_case(loaded, row)
    drawn = f"paraphrases {','.join(map(str, row.paraphrases))}, skin {row.skin}"
    yield f"{row.index + 1}/{len(plan.rows)} {row.skill}: {row.run_id} (block {row.block + 1}, {drawn}, sandbox {sandbox})"
    seed = loaded.spec.seed_of(case)
    if seed is not None:
        yield f"  seed: {seed.run}"
    yield from (f"  turn {number}: {command}" for number, command in enumerate(commands(row, loaded), start=1))


def commands(row: Row, loaded: LoadedSpec) -> Iterator[str]:
    """The agent's command line for each turn of a run: argv, and the names of what its environment needs; stdin is left out."""
    case, arm, cli = dressed_case(loaded, row), loaded.spec.arms[row.arm], agent(row.agent)
    setup = AgentSetup(
        deny=loaded.guards.get(row.arm, ()),
        permissions=arm.permissions,
        model=None if row.model == DEFAULT_MODEL else row.model,
    )
    for number, turn in enumerate(case.all_turns, start=1):
        prompt = turn.paraphrases[row.paraphrases[number - 1]]
        session_id = SESSION if number > 1 else None
        command = cli.command(AgentTurn(prompt=prompt, setup=setup, session_id=session_id, number=number, script=b"{}"))
        names = [f"{name}=..." for name in sorted({*command.env, *command.env_secret})]
        yield " ".join([*names, shlex.join(command.argv)])
