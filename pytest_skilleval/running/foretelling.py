"""What a run would do, told without doing it: by the functions that do it in a run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_skilleval.core.errors import SandboxError, UsageProblem
from pytest_skilleval.core.ports import AgentTurn, Blueprint
from pytest_skilleval.running import arming
from pytest_skilleval.running.preparing import prepared_key, request, seed_steps
from pytest_skilleval.running.steps import told

if TYPE_CHECKING:
    from pytest_skilleval.gateway.values import Door
    from pytest_skilleval.running.arming import Armed
    from pytest_skilleval.running.job import Job

SESSION = "SESSION"
"""Stands for the id that the first turn will return."""


@dataclass(frozen=True, slots=True)
class Part:
    """One phase of a run: its name, and the commands in order."""

    title: str
    lines: tuple[str, ...]


def blueprint(job: Job) -> Blueprint:
    """How the backend would make the run's sandbox; where it or the agent is not here, the commands are why not."""
    try:
        return job.backend.blueprint(request(job, restore=None))
    except (UsageProblem, SandboxError, OSError) as problem:
        return Blueprint(commands=(f"can't be told here: {problem}",))


def seeding(job: Job) -> Part | None:
    """How the run's Docker state would be made: in a sandbox of its own and kept, where the backend can keep it; None without a seed.

    Raises SeedError when the program is not there.
    """
    seed = job.seed
    if seed is None:
        return None
    kept = f"  # once; kept as prepared state {prepared_key(job)}, with which runs begin" if job.backend.can_restore else ""
    files, program, clean_up = seed_steps(job, seed)
    return Part("seed", (told(files), told(program) + kept, told(clean_up)))


def arm(job: Job, door: Door | None, place: Blueprint) -> Armed:
    """What the arm would put inside, over no stock instructions: whether a sandbox has any can't be known before.

    Raises UsageProblem when the arm names a commit that is not there.
    """
    return arming.planned(job, door, b"", home=place.home, workspace=place.workspace)


def turns(job: Job, armed: Armed) -> Iterator[Part]:
    """The agent's command for each turn of the case; the prompt goes by stdin and is left out."""
    for number, turn in enumerate(job.case.all_turns, start=1):
        prompt = turn.paraphrases[job.row.paraphrases[number - 1]]
        asked = AgentTurn(prompt=prompt, setup=armed.setup, session_id=SESSION if number > 1 else None, number=number, script=b"{}")
        yield Part(f"turn {number}", (told(job.agent.command(asked)),))
