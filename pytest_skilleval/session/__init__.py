"""One evaluation in one process: the plan, the workers, signals, and the way results come together.

Only what light modules need is defined here: the keys under which a session's state is found, and a way to speak.
Everything else is imported when an evaluation really begins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_skilleval.session.evaluation import Evaluation
    from pytest_skilleval.session.planned import Planned

PLANNED: pytest.StashKey[Planned] = pytest.StashKey()
"""The session's plan: with --skill-eval, in every process."""
EVALUATION: pytest.StashKey[Evaluation] = pytest.StashKey()
"""The session's evaluation: with --skill-eval, unless nothing is to be run."""
WEAK: pytest.StashKey[list[str]] = pytest.StashKey()
"""What leaves the specs usable but weak, a line each: with --collect-only."""


def say(config: pytest.Config, *lines: str) -> None:
    """Write lines to pytest's terminal, if this process has one."""
    reporter: pytest.TerminalReporter | None = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        for line in lines:
            reporter.write_line(line)
