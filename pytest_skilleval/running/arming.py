"""The arm, made inside the sandbox, and the manipulation check: what the agent is shown is what the arm declares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from posixpath import join
from typing import TYPE_CHECKING

from pytest_skilleval.core import arms, manipulation
from pytest_skilleval.core.declared import Declared, declared
from pytest_skilleval.core.errors import ArmError, ArmSpoiled, SandboxError
from pytest_skilleval.core.listing import FULL
from pytest_skilleval.core.model_requests import Shown
from pytest_skilleval.core.ports import AgentSetup, Command, Sandbox, SandboxFile
from pytest_skilleval.core.transcript import TurnTranscript
from pytest_skilleval.running.revisions import catalogue_of
from pytest_skilleval.running.roots import inventory
from pytest_skilleval.running.steps import Put, put, take

if TYPE_CHECKING:
    from pytest_skilleval.gateway.values import Door
    from pytest_skilleval.running.job import Job

MOST_NAMED = 6
"""Of the files that are not as declared; more are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Armed:
    """What was installed, as digests: recorded, and compared with what is found afterwards."""

    setup: AgentSetup
    declared: Declared
    """What the arm declares and what was installed, for ``arm.json``."""
    skills: Mapping[str, str]
    """Skill id -> SHA-256 of its SKILL.md."""
    kept: Mapping[str, str]
    """Path -> SHA-256 of every file that has to stay as it was installed: the skills' and the guard's."""
    placed: Mapping[str, str]
    """The same of all files that are put in place, the agent's configuration included, which its CLI may write to."""
    descriptions: Mapping[str, str]
    """Skill name -> description, as the model is to be shown it."""
    instructions: str
    """The instructions file, whole."""
    skills_tarball: str
    stock_instructions: str
    final_instructions: str
    listing_characters: int
    """Characters of all names and descriptions: what the agent's listing budget must hold."""
    puts: tuple[Put, ...]
    """What goes into the sandbox."""


def install(sandbox: Sandbox, job: Job, door: Door | None) -> Armed:
    """Put skills, instructions, guard and agent configuration in place; then check that nothing else is there.

    Raises
    ------
    ArmError
        Something is there that the arm does not declare, or the other way round: the run is void.
    """
    stock = _read(sandbox, f"{sandbox.home}/{job.agent.instructions_file}")
    armed = planned(job, door, stock, home=sandbox.home, workspace=sandbox.workspace)
    for step in armed.puts:
        take(sandbox, step)
    check(sandbox, job, armed, untouched=True)
    return armed


def planned(job: Job, door: Door | None, stock: bytes, *, home: str, workspace: str) -> Armed:
    """What `install` puts in place behind `door`, over the sandbox's own `stock` instructions; nothing is done."""
    agent, arm, row = job.agent, job.arm, job.row
    skills = arms.installed_skills(arm, row.skill, catalogue_of(job.loaded, arm))
    skill_files = arms.skills_as_files(skills, agent.skills_folder)
    appended = job.loaded.instructions.get(row.arm, b"")
    final = stock + appended
    setup = AgentSetup(
        deny=job.loaded.guards.get(row.arm, ()),
        permissions=arm.permissions,
        model=None if row.model == "default" else row.model,
        endpoint=door.url if door else None,
        env=door.env if door else {},
        home=home,
        workspace=workspace,
    )
    configuration = agent.files(setup)
    own = [SandboxFile(path=agent.instructions_file, content=final)] if final != stock else []
    return Armed(
        setup=setup,
        declared=declared(arm, row.skill, skills, appended),
        skills=arms.skill_digests(skills),
        kept=_digests((*skill_files, *agent.files(replace(setup, endpoint=None))), home),
        placed=_digests((*skill_files, *configuration), home),
        descriptions={skill.name: skill.description for skill in skills.values()},
        instructions=final.decode("utf-8", "replace"),
        skills_tarball=arms.digest(arms.tarball(skill_files)),
        stock_instructions=arms.digest(stock),
        final_instructions=arms.digest(final),
        listing_characters=sum(len(skill.name) + len(skill.description) for skill in skills.values()),
        puts=tuple(_puts([*skill_files, *own, *configuration], home)),
    )


def _digests(files: Iterable[SandboxFile], home: str) -> dict[str, str]:
    return {join(home, file.path): arms.digest(file.content) for file in files}


def _puts(files: list[SandboxFile], home: str) -> Iterator[Put]:
    """Relative paths under HOME as the agent's, absolute ones as root's."""
    own = [file for file in files if not file.path.startswith("/")]
    system = [file for file in files if file.path.startswith("/")]
    if own:
        yield put(own, into=home)
    if system:
        yield put(system, into="/", user="root")


def _read(sandbox: Sandbox, path: str) -> bytes:
    """The bytes of a file inside; empty when there is none."""
    result = sandbox.exec(Command(argv=("sh", "-c", '[ ! -e "$1" ] || cat "$1"', "sh", path), user="root"), timeout=30)
    if result.exit_code != 0:
        raise SandboxError(f"{path} can't be read inside the sandbox: {result.stderr.decode(errors='replace').strip()}")
    return result.stdout


def check(sandbox: Sandbox, job: Job, armed: Armed, *, untouched: bool = False) -> None:
    """The manipulation check on files, before the first turn (`untouched`) and after the last.

    Raises ArmError naming everything found that the arm does not declare; ArmSpoiled after a turn, since it was right before.
    """
    wanted, instructions = armed.placed if untouched else armed.kept, f"{sandbox.home}/{job.agent.instructions_file}"
    found = inventory(sandbox, (*wanted, instructions), untouched=untouched)
    final = found.pop(instructions, arms.digest(b""))
    faults = [f"{path} is missing" for path in sorted(wanted.keys() - found.keys())]
    faults += [f"{path} should not be there" for path in sorted(found.keys() - wanted.keys())]
    faults += [f"{path} was changed" for path in sorted(wanted.keys() & found.keys()) if wanted[path] != found[path]]
    if final != armed.final_instructions:
        faults.append(f"{instructions} is not what the arm declares")
    if faults:
        more = [f"{len(faults) - MOST_NAMED} more"] if len(faults) > MOST_NAMED else []
        wrong = ArmError if untouched else ArmSpoiled
        raise wrong(f"the arm {job.row.arm} is not as declared: " + "; ".join([*faults[:MOST_NAMED], *more]))


def check_offered(transcript: TurnTranscript, job: Job, armed: Armed, number: int = 1) -> None:
    """The manipulation check on what the CLI itself says the model is offered; what it does not say is not judged.

    Raises ArmError; ArmSpoiled where `number` is not the first turn: the agent may have had its hands on it before.
    """
    offered, wrong = transcript.offered, ArmError if number == 1 else ArmSpoiled
    if offered.mcp_servers:
        names = ", ".join(offered.mcp_servers)
        raise wrong(f"MCP servers reached the agent that no arm declares: {names}; {_without(offered.mcp_servers, job)}")
    if offered.skills is None:
        return
    arm, skill = job.row.arm, job.row.skill
    if skill in offered.skills and skill not in armed.skills:
        raise wrong(f"the agent is offered {skill}, which the arm {arm} excludes")
    missing = sorted(armed.skills.keys() - set(offered.skills))
    if missing:
        raise wrong(f"the agent is not offered what the arm {arm} installs: {', '.join(missing)}")


def _without(servers: Iterable[str], job: Job) -> str:
    """The mend: where the agent's set-up comes from, these servers have to go."""
    return "remove them where its set-up comes from: " + ", ".join(map(job.agent.without_server, servers))


def check_first_request(shown: Shown | None, job: Job, armed: Armed) -> tuple[str, ...]:
    """The manipulation check on what the model was really sent, where the gateway saw it.

    Returns warnings: what is as users' agents have it, but must be known. Raises ArmError.
    """
    if shown is None:
        return ()
    excluded = job.loaded.catalogue.keys() - armed.skills.keys()
    found = manipulation.check(shown, installed=armed.descriptions, absent=sorted(excluded), instructions=[armed.instructions])
    if found.violations:
        mend = [_without(shown.mcp_servers, job)] if shown.mcp_servers else []
        raise ArmError(f"the arm {job.row.arm} is not as declared: " + "; ".join([*found.violations, *mend]))
    if not found.shortened:
        return ()
    names = ", ".join(found.shortened)
    return (f"{FULL}{names}",)
