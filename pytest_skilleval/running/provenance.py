"""Where a run's figures come from: everything that must be equal, or must be known, before runs are compared."""

from __future__ import annotations

import importlib.metadata
import re
from typing import TYPE_CHECKING

from pytest_skilleval.core.arms import digest
from pytest_skilleval.core.ports import Sandbox
from pytest_skilleval.running.preparing import hosts_of

if TYPE_CHECKING:
    from pytest_skilleval.archive import RunFolder
    from pytest_skilleval.running.arming import Armed
    from pytest_skilleval.running.job import Job


VERSION = re.compile(r"\d[\w.+-]*")


def of_run(job: Job, sandbox: Sandbox, armed: Armed) -> dict[str, str]:
    """Facts of one run that are known before its first turn, as flat text by name; secrets have no place here."""
    from pytest_skilleval.core.loading import seed_hash

    seed, hosts = job.seed, hosts_of(job)
    return {
        **({"sandbox.hosts": ", ".join(hosts)} if hosts else {}),
        **{f"sandbox.{name}": value for name, value in sandbox.describe().items()},
        "agent": job.agent.name,
        "model.asked": job.row.model,
        "plugin": importlib.metadata.version("pytest-skilleval"),
        "spec": job.loaded.text_hash,
        "seed": seed_hash(job.loaded, seed, job.skin) if seed else "none",
        "skin": str(job.row.skin),
        "paraphrases": ",".join(str(number) for number in job.row.paraphrases),
        "arm.skills": ",".join(sorted(armed.skills)),
        "arm.skills_tarball": armed.skills_tarball,
        "arm.skill": armed.skills.get(job.row.skill, "absent"),
        "arm.listing_characters": str(armed.listing_characters),
        "arm.body_characters": str(len(skill.body) if (skill := job.loaded.catalogue.get(job.row.skill)) else 0),
        "arm.stock_instructions": armed.stock_instructions,
        "arm.final_instructions": armed.final_instructions,
        "arm.guard": digest("\n".join(armed.setup.deny).encode()) if armed.setup.deny else "none",
        "random_seed": str(job.options.random_seed),
    }


def recorded_version(job: Job, folder: RunFolder) -> str | None:
    """The version of the CLI that the session record of a run names; None: it names none."""
    return next(filter(None, map(job.agent.version_in, folder.session_records())), None)


def agent_version(job: Job, sandbox: Sandbox) -> str:
    """The version of the CLI, asked of it (Claude Code takes 0.15 s to tell); for the scripted agent, this package's."""
    command = job.agent.version_command()
    if command is None:
        return importlib.metadata.version("pytest-skilleval")
    result = sandbox.exec(command, timeout=60)
    told = VERSION.search(result.stdout.decode("utf-8", "replace"))
    return told[0] if told else f"unknown (exit code {result.exit_code})"
