"""Every option once: flag, ini twin, help.

A plain pytest session pays for the declaration only; values are converted in :mod:`pytest_skilleval.session.settings`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NamedTuple

import pytest

SPEC_NAME = "spec.yaml"
SPECS_INI = "skilleval_specs"
CREDENTIALS_INI = "skilleval_credentials"


class Option(NamedTuple):
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

    def text(self, config: pytest.Config) -> str | None:
        """The value as it was given, on the command line or else in an ini file."""
        given = config.getoption(self.dest)
        value = config.getini(self.ini) if given is None else given
        return None if value is None else str(value).strip()

    def names(self, config: pytest.Config) -> tuple[str, ...]:
        """The names of a list, each once."""
        given = config.getoption(self.dest)
        value = [config.getini(self.ini) or ""] if given is None else given
        return tuple(dict.fromkeys(name.strip() for text in value for name in str(text).split(",") if name.strip()))

    def is_on(self, config: pytest.Config) -> bool:
        """Whether a switch is set."""
        return bool(config.getoption(self.dest) or config.getini(self.ini))

    def origin(self, config: pytest.Config) -> str:
        """Where the value was given, for messages."""
        return self.flag if config.getoption(self.dest) is not None else f"ini {self.ini}"


EVAL = Option("--skill-eval", "Evaluate these skills: ids, comma lists, globs, `all`.", "list", "SKILLS")
AGENT = Option("--skill-agent", "Agents to drive: claude-code, codex, scripted; agent:model (default: the spec's).", "list", "AGENTS")
MODEL = Option("--skill-model", "Models given to the agents; agent:model binds one to an agent (default: the CLI's own).", "list", "MODELS")
ARMS = Option("--skill-arms", "Arms to run (default: the spec's).", "list", "ARMS")
CASE = Option("--skill-case", "Cases to run: globs and ids; an exact id also runs a draft (default: all).", "list", "CASES")
REPEATS = Option("--skill-repeats", "Repeats of every case in every arm (default: the spec's).", metavar="N")
LOOKS = Option("--skill-looks", "Plan 10 repeats with looks after 3, 6 and 10 that may end the session early.", "switch")
SANDBOX = Option("--skill-sandbox", "Where agents run: auto, sbx, docker, engine (default: auto).", metavar="BACKEND")
RANDOM_SEED = Option("--skill-random-seed", "Seed of order and draws (default: pytest-randomly's, else from the specs).", metavar="N")
RESULTS = Option("--skill-results", "Folder for results (default: skill-results).", metavar="FOLDER")
RESUME = Option("--skill-resume", "Go on with a results folder: only runs not measured yet are made.", metavar="FOLDER")
MAX_COST = Option(
    "--skill-max-cost",
    "End the session when this much was spent, in the middle of runs, too (default: 20; must be said under CI).",
    metavar="USD",
)
PRICES = Option("--skill-prices", "Prices of one's own, a JSON file: each comes before the shipped price of its model.", metavar="FILE")
TURN_TIMEOUT = Option("--skill-turn-timeout", "Seconds a turn may take (default: the spec's).", metavar="SECONDS")
RUN_TIMEOUT = Option("--skill-run-timeout", "Seconds all turns of a run may take (default: the spec's).", metavar="SECONDS")
JUDGE = Option("--skill-judge", "Who votes on judge checks: off, api, sandboxed (default: off).", metavar="JUDGE")
KEEP_SANDBOX = Option("--skill-keep-sandbox", "Keep sandboxes for a look inside: never, failed, always (default: never).", metavar="WHEN")
GATE = Option("--skill-gate", "Let the spec's gate decide the exit code: 0 met, 1 not met, 6 can't be decided.", "switch")
STRICT = Option("--skill-strict", "A treatment run that does not meet its checks FAILS.", "switch")
RELEASE = Option("--skill-release", "Run held-out cases too, and hold the gate to the stricter interval for new cases.", "switch")
DRY_RUN = Option(
    "--skill-dry-run", "Print the plan and the exact commands of every run (sandbox, seed, arm, turns), run nothing.", "switch"
)
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
    LOOKS,
    SANDBOX,
    RANDOM_SEED,
    RESULTS,
    RESUME,
    MAX_COST,
    PRICES,
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
    parser.addini(
        CREDENTIALS_INI, "Further variables with secret values, which are masked in everything recorded.", type="args", default=[]
    )
    parser.addini(SPECS_INI, "Folder with the specs, relative to the root folder.", default="specs")


def specs_folder(config: pytest.Config) -> Path:
    """The folder in which spec files are looked for."""
    return config.rootpath / str(config.getini(SPECS_INI))


def is_evaluation(config: pytest.Config) -> bool:
    """Whether this session evaluates skills at all."""
    return bool(EVAL.names(config) or RESUME.text(config) or any(config.getoption(option.dest) is not None for option in (EVAL, RESUME)))


def is_dry_run(config: pytest.Config) -> bool:
    """Whether this session only prints what it would do."""
    return is_evaluation(config) and DRY_RUN.is_on(config)


def without_workers(config: pytest.Config) -> None:
    """No xdist workers in this session, whatever -n says; to be called before xdist looks."""
    if hasattr(config.option, "dist"):
        config.option.dist, config.option.numprocesses, config.option.tx = "no", 0, []
