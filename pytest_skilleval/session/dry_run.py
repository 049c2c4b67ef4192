"""``--skill-dry-run``: the plan and every command it would run, and nothing done.

The commands are told by the functions that runs use. What is the same for many runs is told once, under a number.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_skilleval.agents import agent
from pytest_skilleval.archive import Archive
from pytest_skilleval.core.errors import RunError, UsageProblem
from pytest_skilleval.core.loading import load_spec
from pytest_skilleval.core.ports import Blueprint
from pytest_skilleval.rescoring import dressed_case
from pytest_skilleval.running import Job, foretelling
from pytest_skilleval.running.foretelling import Part
from pytest_skilleval.running.preparing import hosts_of
from pytest_skilleval.running.steps import told
from pytest_skilleval.session import PLANNED, say
from pytest_skilleval.session.models import door_foreseen
from pytest_skilleval.session.readiness import foreseen_backend
from pytest_skilleval.session.settings import settings_of

if TYPE_CHECKING:
    from pytest_skilleval.core.plan import Row
    from pytest_skilleval.core.ports import Backend
    from pytest_skilleval.running.arming import Armed
    from pytest_skilleval.session.planned import Planned

FORESEEN = "the session's gateway"
"""Stands for the gateway's address: agents that ask a model will have one."""


def show(session: pytest.Session) -> bool:
    """Print what the session would do, instead of doing it.

    Raises
    ------
    pytest.UsageError
        A command can't be told because a run could not be made as asked.
    """
    config = session.config
    planned, settings = config.stash[PLANNED], settings_of(config)
    rows = sorted(planned.rows_of(session.items), key=lambda row: row.index)
    say(config, "", f"dry run: {len(rows)} of {len(planned.plan.rows)} runs, nothing is started")
    say(config, f"random seed: {planned.plan.random_seed} ({planned.plan.seed_origin})")
    backend = foreseen_backend(config, settings)
    say(config, f"sandbox: {backend.name}", *(f"warning: {text}" for text in planned.plan.warnings))
    try:
        say(config, *_DryRun(planned, backend, settings.results).lines(rows))
    except (UsageProblem, RunError) as problem:
        raise pytest.UsageError(str(problem)) from None
    say(config, f"Exit 0: dry run of {len(rows)} runs")
    return True


class _DryRun:
    """Tells runs one after the other, and remembers what it has told."""

    def __init__(self, planned: Planned, backend: Backend, results: Path) -> None:
        self._planned, self._backend, self._archive = planned, backend, Archive(results)
        self._specs = {skill: planned.specs.get(path) or load_spec(path) for skill, path in planned.files.items()}
        self._numbers: dict[Part, int] = {}
        self._places: dict[object, Blueprint] = {}
        self._seeds: dict[object, Part | None] = {}
        self._arms: dict[object, Armed] = {}

    def lines(self, rows: Iterable[Row]) -> Iterator[str]:
        """The lines of each run."""
        total = len(self._planned.plan.rows)
        for row in rows:
            drawn = f"paraphrases {','.join(map(str, row.paraphrases))}, skin {row.skin}"
            yield f"{row.index + 1}/{total} {row.skill}: {row.run_id} (block {row.block + 1}, {drawn})"
            yield from self._told(self._parts(row))

    def _told(self, parts: Iterable[Part]) -> Iterator[str]:
        """What is new, line by line under a new number; and the numbers of what was told before."""
        before: list[str] = []
        for part in parts:
            if part in self._numbers:
                before.append(f"{part.title} #{self._numbers[part]}")
                continue
            number = self._numbers[part] = len(self._numbers) + 1
            first, *others = part.lines
            yield f"  {part.title} #{number}: {first}"
            yield from (f"    {line}" for line in others)
        if before:
            yield f"  as above: {', '.join(before)}"

    def _parts(self, row: Row) -> Iterator[Part]:
        """The phases of one run; what can't differ between two runs is made for the first only."""
        loaded = self._specs[row.skill]
        case = dressed_case(loaded, row)
        job = Job(row=row, loaded=loaded, case=case, archive=self._archive, agent=agent(row.agent), backend=self._backend, gateway=FORESEEN)
        size = case.sandbox.disk
        if (seeded := (row.skill, row.skin, job.seed and job.seed.run, size)) not in self._seeds:
            self._seeds[seeded] = foretelling.seeding(job)
        if (seed := self._seeds[seeded]) is not None:
            yield seed
        hosts = hosts_of(job)
        if (kind := (row.agent, size, hosts)) not in self._places:
            self._places[kind] = foretelling.blueprint(job)
        place = self._places[kind]
        yield Part("sandbox", place.commands)
        if (shown := (row.skill, row.agent, row.model, row.arm, hosts)) not in self._arms:
            door = door_foreseen(self._planned.plan, row, os.environ, proxied=bool(hosts))
            self._arms[shown] = foretelling.arm(job, door, place)
        armed = self._arms[shown]
        yield Part("arm", tuple(map(told, armed.puts)) or ("nothing is installed",))
        yield from foretelling.turns(job, armed)
