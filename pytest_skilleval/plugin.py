"""The pytest11 module: one call a hook. Everything heavier than the options is imported when it is needed.

The hooks of an evaluation itself are in :mod:`pytest_skilleval.session.lifecycle`, registered only when there is one.
"""

from __future__ import annotations

import atexit
import gc
from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_skilleval import hookspecs, options
from pytest_skilleval.session import PLANNED, WEAK

MARKER = "skill_run(case, kind, arm, agent, model, repeat): a run of a skill's spec; select with -m \"skill_run(arm='with')\""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options."""
    options.add_options(parser)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Declare the hooks of this plugin."""
    pluginmanager.add_hookspecs(hookspecs)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker, and the fixtures where they can be used or asked for; a dry run needs no workers."""
    config.addinivalue_line("markers", MARKER)
    if options.is_evaluation(config) or config.option.showfixtures or config.option.show_fixtures_per_test:
        from pytest_skilleval import fixtures

        config.pluginmanager.register(fixtures, "skilleval-fixtures")
    if options.is_dry_run(config):
        options.without_workers(config)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Make the plan, before any worker exists."""
    config = session.config
    if options.is_evaluation(config):
        from pytest_skilleval import terminal
        from pytest_skilleval.session import lifecycle

        lifecycle.start(config)
        terminal.attach(config)
    elif config.getoption("collectonly") and not config.getoption("file_or_dir"):
        from pytest_skilleval import collection

        collection.show_specs(config)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect spec files."""
    if file_path.name != options.SPEC_NAME:
        return None
    from pytest_skilleval import collection

    return collection.spec_collector(file_path, parent)


def pytest_collect_directory(path: Path, parent: pytest.Collector) -> None:
    """Collect nothing, but tell of a spec that pytest passes over since it is no plain file."""
    if path.parent == options.specs_folder(parent.config):
        from pytest_skilleval import collection

        collection.tell_overlooked(path, parent)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without an evaluation, runs are only there to be looked at."""
    if options.is_evaluation(config) or config.getoption("collectonly") or not any(item.path.name == options.SPEC_NAME for item in items):
        return
    from pytest_skilleval import collection

    collection.deselect_runs(config, items)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """A dry run prints instead of running."""
    if not options.is_dry_run(session.config):
        return None
    from pytest_skilleval.session import dry_run

    return dry_run.show(session)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Where specs are only validated, tell what leaves them usable but weak."""
    if weak := config.stash.get(WEAK, None):
        from pytest_skilleval import collection

        collection.show_weak(terminalreporter, weak)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Where specs were only listed, the process ends without a last search for garbage, which would take as long as reading them all."""
    if WEAK in config.stash:
        atexit.register(gc.freeze)


def pytest_report_teststatus(
    report: pytest.TestReport | pytest.CollectReport, config: pytest.Config
) -> tuple[str, str, str | tuple[str, Mapping[str, bool]]] | None:
    """Show "not met", and the run of a worker that died as an error."""
    planned = config.stash.get(PLANNED, None)
    if planned is None or planned.row_at(report.nodeid) is None:
        return None
    from pytest_skilleval.session import outcomes

    return outcomes.status(report)
