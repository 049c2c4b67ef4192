"""``skilleval doctor``: what this machine can do, and what it would take to do the rest."""

from __future__ import annotations

import argparse
import platform
import sys

HELP = "Tell which sandboxes and agents can run here, and what is missing for the others."


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--engine-root", choices=("tree", "host"), default="tree", help="what the engine sandbox runs on")


def run(options: argparse.Namespace) -> int:
    """Print one line for each sandbox and agent; 0 when at least one sandbox works."""
    usable = 0
    _say("python", True, platform.python_version())
    for name, available, told in _sandboxes(options.engine_root):
        usable += available
        _say(f"sandbox {name}", available, told)
    _say("gateway", *_gateway())
    for name, available, told in _agents():
        _say(f"agent {name}", available, told)
    return 0 if usable else 1


def _say(what: str, good: bool, told: str) -> None:
    sys.stdout.write(f"{'ok' if good else '--':3} {what:20} {told}\n")


def _sandboxes(engine_root: str) -> list[tuple[str, bool, str]]:
    from pytest_skilleval.sandboxes import NAMES, backend

    rows = []
    for name in NAMES:
        probe = backend(name, engine_root=engine_root).probe()
        rows.append((name, probe.available, probe.reason))
    return rows


def _gateway() -> tuple[bool, str]:
    try:
        import pytest_skilleval.gateway.server  # noqa: F401 - whether its packages are here
    except ImportError as error:
        return False, f"real agents reach their model through it, and it needs {error.name}: pip install 'pytest-skilleval[agents]'"
    return True, "between real agents and their models"


def _agents() -> list[tuple[str, bool, str]]:
    from pytest_skilleval.agents import AGENT_NAMES, agent
    from pytest_skilleval.core.errors import SkillEvalError

    rows = []
    for name in AGENT_NAMES:
        try:
            folders = agent(name).host_program()
        except (SkillEvalError, ImportError) as problem:
            rows.append((name, False, str(problem)))
        else:
            rows.append((name, True, ", ".join(map(str, folders)) or "needs nothing"))
    return rows
