"""Every option once: flag, ini twin, default -> the frozen `Settings` of a session.

Nothing is converted before :func:`settings_of` is called, so a plain pytest session pays for the declaration only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

import pytest

T = TypeVar("T")

SPECS_INI = "skilleval_specs"


@dataclass(frozen=True, slots=True)
class Option:
    """One option: its flag and help; `kind` says how it is given (once, as a list, or as a switch)."""

    flag: str
    help: str
    kind: Literal["value", "list", "switch"] = "value"
    metavar: str | None = None

    @property
    def dest(self) -> str:
        """Attribute of ``config.option``."""
        return self.flag.removeprefix("--").replace("-", "_")

    @property
    def ini(self) -> str:
        """The ini twin."""
        return "skilleval_" + self.flag.removeprefix("--skill-").replace("-", "_")


EVAL = Option("--skill-eval", "Evaluate these skills: ids, comma lists, globs, `all`.", "list", "SKILLS")
AGENT = Option("--skill-agent", "Agents to drive: claude-code, codex, scripted; agent:model (default: the spec's).", "list", "AGENTS")
MODEL = Option("--skill-model", "Models given to the agents; agent:model binds one to an agent (default: the CLI's own).", "list", "MODELS")
ARMS = Option("--skill-arms", "Arms to run (default: the spec's).", "list", "ARMS")
CASE = Option("--skill-case", "Cases to run: globs and ids; an exact id also runs a draft (default: all).", "list", "CASES")
REPEATS = Option("--skill-repeats", "Repeats of every case in every arm (default: the spec's).", metavar="N")
SANDBOX = Option("--skill-sandbox", "Where agents run: auto, sbx, docker, engine (default: auto).", metavar="BACKEND")
RANDOM_SEED = Option("--skill-random-seed", "Seed of order and draws (default: pytest-randomly's, else from the specs).", metavar="N")
RESULTS = Option("--skill-results", "Folder for results (default: skill-results).", metavar="FOLDER")
RESUME = Option("--skill-resume", "Go on with a results folder: only runs not measured yet are made.", metavar="FOLDER")
MAX_COST = Option("--skill-max-cost", "Stop starting runs when this much was spent (default: 20; must be said under CI).", metavar="USD")
TURN_TIMEOUT = Option("--skill-turn-timeout", "Seconds a turn may take (default: the spec's).", metavar="SECONDS")
RUN_TIMEOUT = Option("--skill-run-timeout", "Seconds all turns of a run may take (default: the spec's).", metavar="SECONDS")
JUDGE = Option("--skill-judge", "Who votes on judge checks: off, api, sandboxed (default: off).", metavar="JUDGE")
KEEP_SANDBOX = Option("--skill-keep-sandbox", "Keep sandboxes for a look inside: never, failed, always (default: never).", metavar="WHEN")
GATE = Option("--skill-gate", "Let the spec's gate decide the exit code: 0 met, 1 not met, 6 can't be decided.", "switch")
STRICT = Option("--skill-strict", "A treatment run that does not meet its checks FAILS.", "switch")
RELEASE = Option("--skill-release", "Run held-out cases too.", "switch")
DRY_RUN = Option("--skill-dry-run", "Print the plan and every command, run nothing.", "switch")
REHEARSE = Option("--skill-rehearse", "Play every rehearsal: proves that each check can hold and can trip.", "switch")
REHEARSE_GENERATED = Option(
    "--skill-rehearse-generated", "Play so many generated rehearsals of each case as well: a number, or all (default: 0).", metavar="N"
)
ENGINE_ROOT = Option("--skill-engine-root", "Root tree of engine sandboxes: tree (Debian 13), host (default: tree).", metavar="ROOT")

OPTIONS = (
    EVAL,
    AGENT,
    MODEL,
    ARMS,
    CASE,
    REPEATS,
    SANDBOX,
    RANDOM_SEED,
    RESULTS,
    RESUME,
    MAX_COST,
    TURN_TIMEOUT,
    RUN_TIMEOUT,
    JUDGE,
    KEEP_SANDBOX,
    GATE,
    STRICT,
    RELEASE,
    DRY_RUN,
    REHEARSE,
    REHEARSE_GENERATED,
    ENGINE_ROOT,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the user asked for, parsed once; None and empty mean: what the spec says."""

    skills: tuple[str, ...]
    agents: tuple[str, ...]
    models: tuple[str, ...]
    arms: tuple[str, ...]
    cases: tuple[str, ...]
    repeats: int | None
    sandbox: str
    random_seed: int | None
    results: Path
    resume: Path | None
    max_cost: float
    """USD."""
    max_cost_said: bool
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


def add_options(parser: pytest.Parser) -> None:
    """Declare all options and their ini twins."""
    group = parser.getgroup("skilleval", "evaluation of agent skills")
    for option in OPTIONS:
        note = f"{option.help} ini: {option.ini}"
        if option.kind == "switch":
            group.addoption(option.flag, action="store_true", default=None, dest=option.dest, help=note)
            parser.addini(option.ini, option.help, type="bool", default=False)
        else:
            action = "append" if option.kind == "list" else "store"
            group.addoption(option.flag, action=action, default=None, dest=option.dest, metavar=option.metavar, help=note)
            parser.addini(option.ini, option.help, default=None)
    parser.addini(SPECS_INI, "Folder with the specs, relative to the root folder.", default="specs")


def specs_folder(config: pytest.Config) -> Path:
    """The folder in which spec files are looked for."""
    return config.rootpath / str(config.getini(SPECS_INI))


def is_evaluation(config: pytest.Config) -> bool:
    """Whether this session evaluates skills at all."""
    return bool(_list(config, EVAL) or _text(config, RESUME))


def is_dry_run(config: pytest.Config) -> bool:
    """Whether this session only prints what it would do."""
    return is_evaluation(config) and _switch(config, DRY_RUN)


def without_workers(config: pytest.Config) -> None:
    """No xdist workers in this session, whatever -n says; to be called before xdist looks."""
    if hasattr(config.option, "dist"):
        config.option.dist, config.option.numprocesses, config.option.tx = "no", 0, []


def settings_of(config: pytest.Config) -> Settings:
    """All options of the session, command line first, then ini files, then defaults.

    Raises
    ------
    pytest.UsageError
        A value that can't be meant; the text names the option or ini key.
    """
    return Settings(
        skills=_list(config, EVAL),
        agents=_list(config, AGENT),
        models=_list(config, MODEL),
        arms=_list(config, ARMS),
        cases=_list(config, CASE),
        repeats=_number(config, REPEATS, int, lowest=1),
        sandbox=_text(config, SANDBOX) or "auto",
        random_seed=_number(config, RANDOM_SEED, int, lowest=0),
        results=_path(config, RESULTS) or config.rootpath / "skill-results",
        resume=_path(config, RESUME),
        max_cost=20.0 if (cost := _number(config, MAX_COST, float, lowest=0)) is None else cost,
        max_cost_said=_text(config, MAX_COST) is not None,
        turn_timeout=_number(config, TURN_TIMEOUT, float, lowest=0.001),
        run_timeout=_number(config, RUN_TIMEOUT, float, lowest=0.001),
        judge=_one_of(config, JUDGE, ("off", "api", "sandboxed")),
        keep_sandbox=_one_of(config, KEEP_SANDBOX, ("never", "failed", "always")),
        gate=_switch(config, GATE),
        strict=_switch(config, STRICT),
        release=_switch(config, RELEASE),
        dry_run=_switch(config, DRY_RUN),
        rehearse=_switch(config, REHEARSE),
        rehearse_generated=_generated(config),
        engine_root=_one_of(config, ENGINE_ROOT, ("tree", "host")),
    )


def _text(config: pytest.Config, option: Option) -> str | None:
    given = config.getoption(option.dest)
    value = config.getini(option.ini) if given is None else given
    return None if value is None else str(value).strip()


def _list(config: pytest.Config, option: Option) -> tuple[str, ...]:
    given = config.getoption(option.dest)
    value = [config.getini(option.ini) or ""] if given is None else given
    return tuple(dict.fromkeys(name.strip() for text in value for name in str(text).split(",") if name.strip()))


def _switch(config: pytest.Config, option: Option) -> bool:
    return bool(config.getoption(option.dest) or config.getini(option.ini))


def _path(config: pytest.Config, option: Option) -> Path | None:
    """A path: on the command line relative to where pytest was called, in an ini file to the root folder."""
    text = _text(config, option)
    if not text:
        return None
    start = config.rootpath if config.getoption(option.dest) is None else config.invocation_params.dir
    return start / Path(text).expanduser()


def _number(config: pytest.Config, option: Option, kind: Callable[[str], T], *, lowest: float) -> T | None:
    text = _text(config, option)
    if text is None:
        return None
    try:
        number = kind(text)
        if not lowest <= float(text) < float("inf"):
            raise ValueError  # noqa: TRY301 -- told in the same words as text that is no number
    except ValueError:
        whole = "a whole number" if kind is int else "a number"
        raise pytest.UsageError(f"{_origin(config, option)}: {text!r} is not {whole} of at least {lowest:g}") from None
    return number


def _generated(config: pytest.Config) -> int | None:
    """How many generated rehearsals a case gets; None: all. They are part of a rehearsal only."""
    wanted = None if _text(config, REHEARSE_GENERATED) == "all" else _number(config, REHEARSE_GENERATED, int, lowest=0) or 0
    if wanted != 0 and config.getoption(REHEARSE_GENERATED.dest) is not None and not _switch(config, REHEARSE):
        raise pytest.UsageError(f"{REHEARSE_GENERATED.flag} needs {REHEARSE.flag}; add it")
    return wanted


def _one_of(config: pytest.Config, option: Option, allowed: tuple[T, ...]) -> T:
    """One of `allowed`, the first of them when nothing is said."""
    text = _text(config, option)
    if text is None:
        return allowed[0]
    for value in allowed:
        if value == text:
            return value
    raise pytest.UsageError(f"{_origin(config, option)}: {text!r} is none of {', '.join(map(str, allowed))}")


def _origin(config: pytest.Config, option: Option) -> str:
    return option.flag if config.getoption(option.dest) is not None else f"ini {option.ini}"
