"""Run 0: before a session's first run, each selected arm and real agent take one turn that costs nothing.

What is wrong with the set-up of an arm or an agent spoils every run: it is found here, and stops the session before money is
spent. The scripted agent has no run 0, and neither have sessions whose runs a project makes itself.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from pytest_skilleval.core.errors import RunError, UsageProblem
from pytest_skilleval.core.listing import shortened
from pytest_skilleval.core.loadability import loadable
from pytest_skilleval.core.loaded import SKILL_FILE
from pytest_skilleval.report.words import group, plural
from pytest_skilleval.session import say
from pytest_skilleval.session.models import asks_models

if TYPE_CHECKING:
    from pytest_skilleval.core.plan import Row
    from pytest_skilleval.running import Job
    from pytest_skilleval.running.dry_turn import DryTurn
    from pytest_skilleval.session.evaluation import Evaluation

MEND = "Nothing was spent. Mend that, or leave it out with --skill-arms or --skill-agent; --skill-dry-run shows the commands."


def run_zero(evaluation: Evaluation, rows: Sequence[Row]) -> None:
    """Take the dry turns of the selected `rows` and say what they showed.

    Raises
    ------
    UsageProblem
        At least one arm is not shown as declared; the text names all of them, and what to do.
    KeyboardInterrupt
        The session is being stopped.
    """
    config = evaluation.config
    firsts = first_rows(rows)
    if not firsts or config.hook.pytest_skilleval_runner(config=config) is not None:
        return
    began = time.monotonic()
    with evaluation.interrupts.guard(), evaluation.control.busy():
        found, problems = _take(evaluation, firsts)
    if problems:
        raise UsageProblem("\n".join([f"run 0: {len(problems)} of {len(firsts)} set-ups can't be measured", *problems, MEND]))
    say(config, *_told(evaluation, firsts, found, time.monotonic() - began))


def first_rows(rows: Sequence[Row]) -> tuple[Row, ...]:
    """The first selected row of each spec, arm, agent and model that asks a model."""
    firsts: dict[tuple[str, str, str, str], Row] = {}
    for row in rows:
        if asks_models(row):
            firsts.setdefault((row.skill, row.agent, row.model, row.arm), row)
    return tuple(firsts[key] for key in sorted(firsts))


def _take(evaluation: Evaluation, firsts: Sequence[Row]) -> tuple[list[DryTurn], list[str]]:
    """All dry turns, as many at a time as workers or processors; what went wrong with each that did. Both in the order of `firsts`."""
    leading = {(row.agent, row.model): row for row in reversed(firsts)}
    at_once = min(len(firsts), max(evaluation.workers, os.cpu_count() or 1))
    with ThreadPoolExecutor(at_once, thread_name_prefix="run-0") as pool:
        taken = list(pool.map(lambda row: _turn(evaluation, row, resumed=leading[row.agent, row.model] is row), firsts))
    return [one for one in taken if not isinstance(one, str)], [one for one in taken if isinstance(one, str)]


def _turn(evaluation: Evaluation, row: Row, *, resumed: bool) -> DryTurn | str:
    """One dry turn, or what went wrong with it."""
    from pytest_skilleval.running.dry_turn import NotAsDeclared, dry_turn

    evaluation.cancellation.check()
    try:
        return dry_turn(_job(evaluation, row), resumed=resumed)
    except (NotAsDeclared, RunError) as error:
        return f"  {row.skill}: arm {row.arm}, {group(row.agent, row.model)}, {error}"


def _job(evaluation: Evaluation, row: Row) -> Job:
    from pytest_skilleval.agents import agent
    from pytest_skilleval.archive import Archive
    from pytest_skilleval.rescoring import dressed_case
    from pytest_skilleval.running import Job

    loaded = evaluation.spec(row.skill)
    return Job(
        row=row,
        loaded=loaded,
        case=dressed_case(loaded, row),
        archive=Archive(evaluation.control.folder),
        agent=agent(row.agent),
        backend=evaluation.backend,
        options=evaluation.run_options,
        cancellation=evaluation.cancellation,
        mask=evaluation.mask(row),
        gateway=evaluation.gateway,
    )


def _told(evaluation: Evaluation, firsts: Sequence[Row], found: Sequence[DryTurn], seconds: float) -> Iterator[str]:
    """One line, and one for each way in which an agent shows its model less than is installed."""
    arms, agents = len({(row.skill, row.arm) for row in firsts}), len({(row.agent, row.model) for row in firsts})
    yield f"run 0: {plural(arms, 'arm')} x {plural(agents, 'agent')} shown what they declare, {seconds:.1f} s"
    cut: Mapping[tuple[str, str], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for row, turn in zip(firsts, found, strict=True):
        for name in (name for text in turn.warnings for name in shortened(text)):
            cut[row.agent, row.model][name].append(row.arm)
    for (agent, model), names in cut.items():
        yield f"run 0: {group(agent, model)} shows no whole description of {', '.join(sorted(names))}: its listing budget is full"
    yield from dict.fromkeys(_losses(evaluation, firsts))


def _losses(evaluation: Evaluation, firsts: Sequence[Row]) -> Iterator[str]:
    """What an agent's reader leaves out of a SKILL.md that an arm installs."""
    from pytest_skilleval.core.arms import installed_skills
    from pytest_skilleval.running.revisions import catalogue_of

    for row in firsts:
        loaded = evaluation.spec(row.skill)
        arm = loaded.spec.arms[row.arm]
        for name, skill in installed_skills(arm, row.skill, catalogue_of(loaded, arm)).items():
            _, loss = loadable(skill.files[SKILL_FILE][1], row.agent)
            if loss:
                yield f"run 0: {name}: {loss}"
