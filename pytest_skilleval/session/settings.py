"""The options of a session, converted once: the frozen `Settings`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

import pytest

from pytest_skilleval.options import (
    AGENT,
    ARMS,
    CASE,
    CREDENTIALS_INI,
    DRY_RUN,
    ENGINE_ROOT,
    EVAL,
    GATE,
    JUDGE,
    KEEP_SANDBOX,
    LOOKS,
    MAX_COST,
    MODEL,
    OPTIONS,
    PRICES,
    RANDOM_SEED,
    REHEARSE,
    REHEARSE_GENERATED,
    RELEASE,
    REPEATS,
    RESULTS,
    RESUME,
    RUN_TIMEOUT,
    SANDBOX,
    STRICT,
    TURN_TIMEOUT,
    Option,
)

T = TypeVar("T")

VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

MOST_REPEATS = 1000
"""More than any interval needs, and a plan that still fits into memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the user asked for, parsed once; None and empty mean: what the spec says."""

    skills: tuple[str, ...]
    agents: tuple[str, ...]
    models: tuple[str, ...]
    arms: tuple[str, ...]
    cases: tuple[str, ...]
    repeats: int | None
    looks: bool
    sandbox: str
    random_seed: int | None
    results: Path
    resume: Path | None
    max_cost: float
    """USD."""
    max_cost_said: bool
    prices: Path | None
    turn_timeout: float | None
    """Seconds; so is `run_timeout`."""
    run_timeout: float | None
    judge: Literal["off", "api", "sandboxed"]
    keep_sandbox: Literal["never", "failed", "always"]
    gate: bool
    strict: bool
    release: bool
    dry_run: bool
    rehearse: bool
    rehearse_generated: int | None
    """None: all there are."""
    engine_root: Literal["tree", "host"]
    credentials: tuple[str, ...]
    """Names of further variables whose values are secret."""


def settings_of(config: pytest.Config) -> Settings:
    """All options of the session, command line first, then ini files, then defaults.

    Raises
    ------
    pytest.UsageError
        A value that can't be meant; the text names the option or ini key.
    """
    for option in OPTIONS:
        given = config.getoption(option.dest)
        if option.kind != "switch" and given is not None and not (option.names(config) if option.kind == "list" else option.text(config)):
            raise pytest.UsageError(f"{option.flag}: its value is empty (an unset variable?); say what is meant, or leave the option out")
    return Settings(
        skills=EVAL.names(config),
        agents=AGENT.names(config),
        models=MODEL.names(config),
        arms=ARMS.names(config),
        cases=CASE.names(config),
        repeats=_number(config, REPEATS, int, lowest=1, highest=MOST_REPEATS),
        looks=LOOKS.is_on(config),
        sandbox=SANDBOX.text(config) or "auto",
        random_seed=_number(config, RANDOM_SEED, int, lowest=0),
        results=_path(config, RESULTS) or config.rootpath / "skill-results",
        resume=_path(config, RESUME),
        max_cost=20.0 if (cost := _number(config, MAX_COST, float, lowest=0)) is None else cost,
        prices=_path(config, PRICES),
        max_cost_said=MAX_COST.text(config) is not None,
        turn_timeout=_number(config, TURN_TIMEOUT, float, lowest=0.001),
        run_timeout=_number(config, RUN_TIMEOUT, float, lowest=0.001),
        judge=_one_of(config, JUDGE, ("off", "api", "sandboxed")),
        keep_sandbox=_one_of(config, KEEP_SANDBOX, ("never", "failed", "always")),
        gate=GATE.is_on(config),
        strict=STRICT.is_on(config),
        release=RELEASE.is_on(config),
        dry_run=DRY_RUN.is_on(config),
        rehearse=REHEARSE.is_on(config),
        rehearse_generated=_generated(config),
        engine_root=_one_of(config, ENGINE_ROOT, ("tree", "host")),
        credentials=_variables(config),
    )


def _path(config: pytest.Config, option: Option) -> Path | None:
    """A path: on the command line relative to where pytest was called, in an ini file to the root folder."""
    text = option.text(config)
    if not text:
        return None
    start = config.rootpath if config.getoption(option.dest) is None else config.invocation_params.dir
    return start / Path(text).expanduser()


def _variables(config: pytest.Config) -> tuple[str, ...]:
    """The names that ini skilleval_credentials lists: a value in their place would be a secret in a file."""
    names: list[str] = config.getini(CREDENTIALS_INI)
    if wrong := [place for place, name in enumerate(names, start=1) if not VARIABLE.fullmatch(name)]:
        raise pytest.UsageError(
            f"ini {CREDENTIALS_INI}: entry {wrong[0]} is no name of a variable; list names such as CORP_TOKEN, no values"
        )
    return tuple(names)


def _number(config: pytest.Config, option: Option, kind: Callable[[str], T], *, lowest: float, highest: float = math.inf) -> T | None:
    text = option.text(config)
    if text is None:
        return None
    try:
        number = kind(text)
        if not (lowest <= float(text) <= highest and math.isfinite(float(text))):
            raise ValueError  # noqa: TRY301 -- told in the same words as text that is no number
    except ValueError:
        whole = "a whole number" if kind is int else "a number"
        reach = f"of at least {lowest:g}{'' if highest == math.inf else f' and at most {highest:g}'}"
        raise pytest.UsageError(f"{option.origin(config)}: {text!r} is not {whole} {reach}") from None
    return number


def _generated(config: pytest.Config) -> int | None:
    """How many generated rehearsals a case gets; None: all. They are part of a rehearsal only."""
    wanted = None if REHEARSE_GENERATED.text(config) == "all" else _number(config, REHEARSE_GENERATED, int, lowest=0) or 0
    if wanted != 0 and config.getoption(REHEARSE_GENERATED.dest) is not None and not REHEARSE.is_on(config):
        raise pytest.UsageError(f"{REHEARSE_GENERATED.flag} needs {REHEARSE.flag}; add it")
    return wanted


def _one_of(config: pytest.Config, option: Option, allowed: tuple[T, ...]) -> T:
    """One of `allowed`, the first of them when nothing is said."""
    text = option.text(config)
    if text is None:
        return allowed[0]
    for value in allowed:
        if value == text:
            return value
    raise pytest.UsageError(f"{option.origin(config)}: {text!r} is none of {', '.join(map(str, allowed))}")
