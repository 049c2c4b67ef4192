"""What this machine can do: which sandbox backend is used and why, and whether every agent can be driven."""

from __future__ import annotations

import os
import sys
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_skilleval.options import AGENT, JUDGE, RESULTS, SANDBOX
from pytest_skilleval.session.models import check_models, is_live
from pytest_skilleval.session.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    import pytest

    from pytest_skilleval.core.loaded import LoadedSpec
    from pytest_skilleval.core.plan import Plan
    from pytest_skilleval.core.ports import Backend

AUTO = "auto"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The sandbox backend of a session."""

    backend: Backend
    reason: str
    """Why this one, and how it works here."""
    limits: tuple[str, ...] = ()
    """What it does not guarantee."""


def make_backend(config: pytest.Config, name: str, settings: Settings) -> Backend:
    """The backend called `name`: a project's own (hook `pytest_skilleval_backend`), else one of the plugin's.

    Raises
    ------
    ValueError
        Nobody knows one of that name.
    """
    from pytest_skilleval.sandboxes import backend

    own: Backend | None = config.hook.pytest_skilleval_backend(config=config, name=name)
    return own if own is not None else backend(name, engine_root=settings.engine_root)


def choose_place(config: pytest.Config, settings: Settings) -> Place:
    """The backend that --skill-sandbox names, or the first that works here, in the order of `auto_order`.

    Raises
    ------
    pytest_skilleval.core.errors.UsageProblem
        None works; the text says of each why not.
    """
    from pytest_skilleval.core.errors import UsageProblem

    names = auto_order() if settings.sandbox == AUTO else (settings.sandbox,)
    failures: list[str] = []
    unknown: list[str] = []
    for name in names:
        try:
            candidate = make_backend(config, name, settings)
        except ValueError as error:
            unknown.append(f"{name}: {error}")
            continue
        probe = candidate.probe()
        if probe.available:
            skipped = f"; not used: {'; '.join(failures)}" if failures else ""
            chosen = f"{SANDBOX.flag}={name}" if settings.sandbox != AUTO else f"{AUTO}{skipped}"
            return Place(backend=candidate, reason=f"{probe.reason} ({chosen})", limits=probe.limits)
        failures.append(f"{name}: {probe.reason}")
    raise UsageProblem(f"{SANDBOX.flag}: no sandbox can be made here\n  " + "\n  ".join(failures or unknown))


def check_sandbox(config: pytest.Config, settings: Settings) -> None:
    """UsageProblem when nobody knows a backend of the name that --skill-sandbox gives; whether it works here is not tried."""
    from pytest_skilleval.core.errors import UsageProblem

    if settings.sandbox != AUTO:
        try:
            make_backend(config, settings.sandbox, settings)
        except ValueError as error:
            raise UsageProblem(f"{SANDBOX.flag}: {error}") from None


def foreseen_backend(config: pytest.Config, settings: Settings) -> Backend:
    """The backend that a session would use, else the one whose commands can be told: the named one is not tried.

    Raises ValueError when nobody knows the named one (see `check_sandbox`).
    """
    from pytest_skilleval.core.errors import UsageProblem

    if settings.sandbox != AUTO:
        return make_backend(config, settings.sandbox, settings)
    try:
        return choose_place(config, settings).backend
    except UsageProblem:
        return make_backend(config, "engine", settings)


def auto_order() -> tuple[str, ...]:
    """Which backends ``auto`` tries, strongest isolation for the least set-up first."""
    if sys.platform == "linux" and os.geteuid() == 0:
        return ("sbx", "engine", "docker")
    return ("sbx", "docker", "engine")


def check_agents(plan: Plan, settings: Settings, environment: Mapping[str, str]) -> None:
    """Every agent of the plan can be driven here, its model reached, and a live one under CI has a cost limit that somebody said.

    Raises
    ------
    pytest_skilleval.core.errors.UsageProblem
        Names what is missing, and the agent that needs nothing.
    """
    from pytest_skilleval.core.errors import UsageProblem
    from pytest_skilleval.gateway.upstreams import check_budget_under_ci

    problems = [problem for name in sorted({row.agent for row in plan.selected}) if (problem := missing(name))]
    try:
        check_models(plan, environment)
    except UsageProblem as problem:
        problems.append(str(problem))
    if problems:
        problems.append(f"The instrument itself can be tried without keys and programs: {AGENT.flag}=scripted")
        raise UsageProblem("\n".join(problems))
    if any(is_live(row) for row in plan.selected):
        check_budget_under_ci(environment, budget_said=settings.max_cost_said)


def check_judge(settings: Settings) -> None:
    """UsageProblem when a judge is asked for: none is built in, and an unasked vote must not look like an open one."""
    from pytest_skilleval.core.errors import UsageProblem

    if settings.judge != "off":
        raise UsageProblem(f"{JUDGE.flag}={settings.judge}: there is no judge yet; leave it off, judge checks are undecided then")


def check_revisions(plan: Plan, specs: Iterable[LoadedSpec]) -> None:
    """UsageProblem when an arm of the plan installs the catalogue as of a commit that is not there."""
    from pytest_skilleval.running.revisions import catalogue_of

    planned = {(row.skill, row.arm) for row in plan.selected}
    for loaded in specs:
        for name, arm in loaded.spec.arms.items():
            if (loaded.spec.skill, name) in planned:
                catalogue_of(loaded, arm)


def missing(name: str) -> str | None:
    """What keeps an agent from being driven here, with the mend; None when nothing does."""
    from pytest_skilleval.agents import agent
    from pytest_skilleval.core.errors import UsageProblem

    try:
        agent(name).host_program()
    except (UsageProblem, ImportError) as problem:
        return f"{AGENT.flag}: {name} can't run here: {problem}"
    return None


def check_results(folder: Path) -> None:
    """Results can be written; UsageProblem when not. The folder is made."""
    from pytest_skilleval.core.errors import UsageProblem

    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise UsageProblem(f"{RESULTS.flag}: can't write to {folder} ({error.strerror}); name another folder") from error
