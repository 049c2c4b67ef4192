"""How the evaluation of a process comes to be: planned and checked on the controller, told to the workers."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from pytest_skilleval.core.errors import ArchiveError, SpecError, UsageProblem
from pytest_skilleval.core.plan import Plan
from pytest_skilleval.core.planning import make_plan
from pytest_skilleval.rescoring import recorded_prices
from pytest_skilleval.session import request
from pytest_skilleval.session.control import Control
from pytest_skilleval.session.evaluation import Evaluation, WorkerInput
from pytest_skilleval.session.planned import Planned
from pytest_skilleval.session.pricing import prices_of
from pytest_skilleval.session.readiness import (
    check_agents,
    check_judge,
    check_results,
    check_revisions,
    check_sandbox,
    choose_place,
    make_backend,
)
from pytest_skilleval.session.resuming import Resumed, resumed
from pytest_skilleval.session.settings import Settings, settings_of


def on_controller(config: pytest.Config) -> Evaluation | Planned:
    """Make the plan and check that it can be carried out; nothing has been started yet.

    Returns
    -------
    The evaluation; only its plan under ``--collect-only`` (over the valid specs; collection reports the others) and
    ``--skill-dry-run``.

    Raises
    ------
    pytest.UsageError
        For everything that keeps the evaluation from being carried out as asked, with the mend.
    """
    settings = settings_of(config)
    try:
        request.refuse_incompatible(config)
        return _on_controller(config, settings)
    except (UsageProblem, SpecError, ArchiveError) as problem:
        raise pytest.UsageError(str(problem)) from None


def _on_controller(config: pytest.Config, settings: Settings) -> Evaluation | Planned:
    prices = prices_of(config, settings)
    earlier = resumed(config, settings) if settings.resume else None
    planned = _again(config, earlier) if earlier else _anew(config, settings)
    if settings.dry_run:
        check_sandbox(config, settings)
    if config.getoption("collectonly") or settings.dry_run:
        return planned
    request.refuse_stealing(config, planned.plan)
    place = choose_place(config, settings)
    check_judge(settings)
    check_agents(planned.plan, settings, os.environ)
    check_results(settings.results)
    evaluation = Evaluation(
        config=config,
        settings=settings,
        planned=planned,
        control=Control.create(),
        is_worker=False,
        place=place,
        backend=place.backend,
        prices=recorded_prices(earlier.archive) if earlier else prices,
        archives={earlier.skill: earlier.archive} if earlier else {},
    )
    try:
        check_revisions(planned.plan, map(evaluation.spec, planned.plan.skills))
    except BaseException:
        evaluation.control.remove()
        raise
    return evaluation


def _again(config: pytest.Config, earlier: Resumed) -> Planned:
    return Planned(earlier.plan, {earlier.skill: earlier.file}, config.rootpath, done=earlier.done)


def _anew(config: pytest.Config, settings: Settings) -> Planned:
    files = request.meant_files(config, settings)
    specs = request.load_valid(files) if config.getoption("collectonly") else request.load_all(files)
    if settings.gate:
        request.refuse_unproven(specs)
    plan = make_plan(specs, request.request_of(config, settings)) if specs else Plan(random_seed=0, seed_origin="", rows=(), locks={})
    warned = (*plan.warnings, *request.passed_over(config, settings))
    return Planned(msgspec.structs.replace(plan, warnings=warned), files, config.rootpath, specs=specs)


def on_worker(config: pytest.Config, told: WorkerInput) -> Evaluation:
    """The same evaluation in a worker: nothing is decided here."""
    settings = settings_of(config)
    files = {skill: Path(path) for skill, path in told["files"].items()}
    return Evaluation(
        config=config,
        settings=settings,
        planned=Planned(msgspec.json.decode(told["plan"], type=Plan), files, config.rootpath),
        control=Control(Path(told["control"])),
        gateway=told["gateway"],
        is_worker=True,
        backend=make_backend(config, told["backend"], settings),
    )
