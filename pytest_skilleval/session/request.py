"""From the command line to a plan: what is refused, which specs are meant, and the one place where the plan is made."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from pytest_skilleval.options import EVAL, GATE, LOOKS, specs_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from pytest_skilleval.core.errors import Fault
    from pytest_skilleval.core.loaded import LoadedSpec
    from pytest_skilleval.core.plan import Plan
    from pytest_skilleval.core.planning import Request
    from pytest_skilleval.session.settings import Settings

REFUSED = {
    "failedfirst": "--ff",
    "newfirst": "--nf",
    "stepwise": "--sw",
    "stepwise_skip": "--sw-skip",
    "reruns": "--reruns",
}
REFUSED_DISTRIBUTIONS = ("loadfile", "loadscope", "each")


def refuse_incompatible(config: pytest.Config) -> None:
    """UsageError for options that select or order runs by outcome, or send runs of one block to one worker or to all."""
    for dest, flag in REFUSED.items():
        if config.getoption(dest, None):
            raise pytest.UsageError(
                f"{flag} can't be used with {EVAL.flag}: it selects or orders runs by their outcome, which biases the figures; leave it out"
            )
    distribution = config.getoption("dist", "no")
    if distribution in REFUSED_DISTRIBUTIONS:
        raise pytest.UsageError(
            f"--dist {distribution} can't be used with {EVAL.flag}: runs start in the plan's random order; give -n alone"
        )


def refuse_stealing(config: pytest.Config, plan: Plan) -> None:
    """UsageError where workers would start runs of a later look before those of an earlier one."""
    if plan.looks and config.getoption("dist", "no") == "worksteal":
        raise pytest.UsageError(f"--dist worksteal can't be used with {LOOKS.flag}: runs start look by look; give -n alone")


def request_of(config: pytest.Config, settings: Settings) -> Request:
    """The plan's request. pytest-randomly's seed is ours, unless --skill-random-seed says another."""
    from pytest_skilleval.core.planning import Request
    from pytest_skilleval.core.statistics.sequential import LOOKS as PLANNED_LOOKS

    seed, origin = settings.random_seed, "--skill-random-seed"
    randomly = config.getoption("randomly_seed", None)
    if seed is None and isinstance(randomly, int):
        seed, origin = randomly, "pytest-randomly's"
    return Request(
        agents=settings.agents,
        models=settings.models,
        arms=settings.arms,
        cases=settings.cases,
        repeats=settings.repeats,
        looks=PLANNED_LOOKS if settings.looks else (),
        release=settings.release,
        rehearse=settings.rehearse,
        generated=settings.rehearse_generated,
        judged=settings.judge != "off",
        random_seed=seed,
        seed_origin=origin,
    )


def meant_files(config: pytest.Config, settings: Settings) -> dict[str, Path]:
    """The spec file of each skill that --skill-eval means.

    Raises
    ------
    pytest_skilleval.core.errors.UsageProblem
        A pattern that means no spec, with the nearest name; a file that was meant as a spec and is none, with the reason.
    """
    from pytest_skilleval.core.choosing import choose
    from pytest_skilleval.core.errors import UsageProblem
    from pytest_skilleval.core.loading import find_specs

    folder = specs_folder(config)
    files = {path.parent.name: path for path in find_specs(folder)}
    if not files:
        raise UsageProblem(
            f"{EVAL.flag}: no spec in {folder}; make one with `skilleval new SKILL`, or set ini skilleval_specs{_no_specs(folder)}"
        )
    named = [fault for skill in settings.skills if skill not in files and (fault := _why_no_spec(folder / skill / "spec.yaml"))]
    if named:
        raise UsageProblem("\n".join(map(str, named)))
    return {skill: files[skill] for skill in choose(settings.skills, tuple(files), what="spec for skill", option=EVAL.flag)}


def passed_over(config: pytest.Config, settings: Settings) -> tuple[str, ...]:
    """A warning for each file below the folders that --skill-eval means which was meant as a spec and is none."""
    from fnmatch import fnmatchcase

    from pytest_skilleval.core.choosing import ALL
    from pytest_skilleval.core.loading import called_specs

    paths = called_specs(specs_folder(config))
    meant = (path for path in paths if any(pattern == ALL or fnmatchcase(path.parent.name, pattern) for pattern in settings.skills))
    return tuple(str(fault) for path in meant if (fault := _why_no_spec(path)))


def _why_no_spec(path: Path) -> Fault | None:
    from pytest_skilleval.core.strays import why_no_spec

    return why_no_spec(path) if os.path.lexists(path) else None


def _no_specs(folder: Path) -> str:
    """Names the files that are called like specs, so that a damaged one is not looked for elsewhere."""
    from pytest_skilleval.core.loading import called_specs

    paths = called_specs(folder)
    return "".join(f"\n  {_why_no_spec(path) or f'{path} is none: it has no `skill:` and `cases:` at its top'}" for path in paths)


def load_all(files: Mapping[str, Path]) -> tuple[LoadedSpec, ...]:
    """Load every spec file; SpecError carries the faults of all of them."""
    from pytest_skilleval.core.errors import SpecError
    from pytest_skilleval.core.loading import load_spec

    loaded: list[LoadedSpec] = []
    faults: list[Fault] = []
    for path in files.values():
        try:
            loaded.append(load_spec(path))
        except SpecError as error:
            faults += error.faults
    if faults:
        raise SpecError(tuple(faults))
    return tuple(loaded)


def refuse_unproven(specs: Iterable[LoadedSpec]) -> None:
    """UsageProblem where a gate would rest on checks of which nothing proves that they can hold and can trip."""
    from pytest_skilleval.core.errors import UsageProblem

    unproven = [str(fault) for loaded in specs for fault in loaded.unproven]
    if unproven:
        mend = f"{GATE.flag}: a gate rests on every check, so each must be proven; add rehearsals"
        raise UsageProblem("\n  ".join((mend, *unproven)))


def load_valid(files: Mapping[str, Path]) -> tuple[LoadedSpec, ...]:
    """Load the spec files that are valid; collection reports the others."""
    from pytest_skilleval.core.errors import SpecError
    from pytest_skilleval.core.loading import load_spec

    valid = []
    for path in files.values():
        try:
            valid.append(load_spec(path))
        except SpecError:
            continue
    return tuple(valid)


def left_out_by(config: pytest.Config, paths: Sequence[str]) -> str:
    """Why rows may be missing in what pytest collected."""
    reasons = [f"{flag} {value!r}" for flag, value in (("-k", config.getoption("keyword")), ("-m", config.getoption("markexpr"))) if value]
    reasons += ["--lf"] if config.getoption("lf", default=False) else []
    reasons += ["--deselect"] if config.getoption("deselect", None) else []
    reasons += [f"the given paths ({', '.join(paths)})"] if paths else []
    return f"left out by {', '.join(reasons) or 'a hook of this project'}"
