"""Spec files -> plain `pytest.Function` items, one a row, as pytest itself makes them.

A spec file poses as the test module that it describes: a module object is synthesised and pytest collects it in the
ordinary way, so fixtures, markers, ``-k``, ``-m``, node ids and every other plugin work as they do for Python tests.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from pytest_skilleval.options import SPEC_NAME, is_evaluation, specs_folder
from pytest_skilleval.session import EVALUATION, PLANNED, WEAK
from pytest_skilleval.session.items import items_of

if TYPE_CHECKING:
    from pytest_skilleval.core.loaded import LoadedSpec
    from pytest_skilleval.core.plan import Row
    from pytest_skilleval.core.planning import Request

_ASKED_FOR: pytest.StashKey[Request] = pytest.StashKey()


class InvalidSpecWarning(pytest.PytestWarning):
    """A spec file is invalid, or not even taken as one, in a session that does not evaluate anything."""


def spec_collector(path: Path, parent: pytest.Collector) -> SpecFile | Stray | None:
    """A collector for `path` (a ``spec.yaml``) if it is a spec: ``<specs folder>/<skill>/spec.yaml`` with top-level `skill` and `cases`."""
    if path.parent.parent != specs_folder(parent.config):
        return None
    from pytest_skilleval.core.loading import is_spec_file

    if not is_spec_file(path):
        return _stray(path, parent)
    planned = parent.config.stash.get(PLANNED, None)
    if planned is not None and path not in planned.files.values():
        return None
    collector: SpecFile = SpecFile.from_parent(parent, path=path)
    return collector


def _stray(path: Path, parent: pytest.Collector) -> Stray | None:
    """A file that was meant as a spec: an error where it is named itself, a warning where specs are validated, else left alone."""
    named, looking = parent.session.isinitpath(path), parent.config.getoption("collectonly") and not is_evaluation(parent.config)
    if not (named or looking):
        return None
    from pytest_skilleval.core.strays import why_no_spec

    fault = why_no_spec(path)
    if fault is None:
        return None
    if named:
        collector: Stray = Stray.from_parent(parent, path=path)
        collector.why = str(fault)
        return collector
    warnings.warn_explicit(InvalidSpecWarning(str(fault)), None, filename=str(path), lineno=fault.line)
    return None


def tell_overlooked(folder: Path, parent: pytest.Collector) -> None:
    """Warn of a ``spec.yaml`` in `folder` that pytest never asks about, where it is named itself or specs are validated."""
    path = folder / SPEC_NAME
    if not (parent.session.isinitpath(path) or (parent.config.getoption("collectonly") and not is_evaluation(parent.config))):
        return
    from pytest_skilleval.core.plain_files import no_plain_file
    from pytest_skilleval.core.strays import why_no_spec

    if no_plain_file(path):
        # Placed at the folder: whoever shows a warning opens its file for the line.
        warnings.warn_explicit(InvalidSpecWarning(str(why_no_spec(path))), None, filename=str(folder), lineno=1)


class Stray(pytest.File):
    """A file that was named, and meant as a spec, and is none."""

    why = ""

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        """Nothing, but the reason why it is no spec."""
        raise self.CollectError(self.why)


class SpecFile(pytest.Module):
    """A spec file, posing as the test module that it describes."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        # Set before anyone asks, so that nothing imports the YAML as Python.
        self.obj = ModuleType(self.path.parent.name)

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        """The runs of this spec, a function a case."""
        from pytest_skilleval.core.loading import collector_paused

        with collector_paused():
            return list(self._runs())

    def _runs(self) -> Iterator[pytest.Item | pytest.Collector]:
        from pytest_skilleval.core.errors import SkillEvalError

        try:
            rows, lines = self._planned()
        except SkillEvalError as error:
            if not (is_evaluation(self.config) or self.config.getoption("collectonly")):
                self.warn(InvalidSpecWarning(f"{error}\n(pytest --collect-only checks every spec)"))
                return
            raise self.CollectError(str(error)) from None
        cases: dict[str, list[Row]] = {case: [] for case in lines}
        for row in rows:
            cases[row.case].append(row)
        yield from items_of(self, {case: own for case, own in cases.items() if own}, lines)

    def _planned(self) -> tuple[tuple[Row, ...], Mapping[str, int]]:
        """The rows of this spec, and where its cases stand. The spec itself is let go of before its many items are made."""
        loaded, rows = content(self.config, self.path)
        if self.config.getoption("collectonly"):
            self.config.stash.setdefault(WEAK, []).extend(map(str, loaded.warnings))
        return rows, loaded.case_lines


def content(config: pytest.Config, path: Path) -> tuple[LoadedSpec, tuple[Row, ...]]:
    """A spec and its rows: those of the session's plan, or where there is none, of a plan for this spec alone.

    Raises
    ------
    SpecError, UsageProblem
        The spec is invalid, or the options don't fit it.
    """
    planned = config.stash.get(PLANNED, None)
    evaluation = config.stash.get(EVALUATION, None)
    if planned is None:
        return listed(config, path)
    rows = planned.rows_in(path)
    if evaluation and rows:
        return evaluation.spec(rows[0].skill), rows
    from pytest_skilleval.core.loading import load_spec

    return planned.specs.get(path) or load_spec(path), rows


def listed(config: pytest.Config, path: Path) -> tuple[LoadedSpec, tuple[Row, ...]]:
    """A spec and the rows that an evaluation of it alone would have, for a session that evaluates nothing."""
    from pytest_skilleval.core.loading import load_spec
    from pytest_skilleval.core.planning import Nothing, Request, make_plan

    loaded = load_spec(path)
    request = _asked_for(config) if config.getoption("collectonly") else Request()
    try:
        return loaded, make_plan([loaded], request).rows
    except Nothing:
        return loaded, ()


def _asked_for(config: pytest.Config) -> Request:
    """What the options ask for, read once a session: a hundred specs are listed by the same ones."""
    if _ASKED_FOR not in config.stash:
        from pytest_skilleval.session.request import request_of
        from pytest_skilleval.session.settings import settings_of

        config.stash[_ASKED_FOR] = request_of(config, settings_of(config))
    return config.stash[_ASKED_FOR]


def is_run(item: pytest.Item) -> bool:
    """Whether an item is a run of a spec."""
    return isinstance(item.parent, SpecFile)


def deselect_runs(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A session that does not evaluate leaves all runs out."""
    runs = [item for item in items if is_run(item)]
    if runs:
        items[:] = [item for item in items if not is_run(item)]
        config.hook.pytest_deselected(items=runs)


def show_specs(config: pytest.Config) -> None:
    """``--collect-only`` without paths: the specs folder is looked at too, wherever testpaths point."""
    folder = specs_folder(config)
    covered = any(folder.is_relative_to(config.invocation_params.dir / argument) for argument in config.args)
    if folder.is_dir() and not covered:
        config.args.append(str(folder))


def show_weak(reporter: pytest.TerminalReporter, weak: Iterable[str]) -> None:
    """What leaves the specs usable but weak, each line once."""
    reporter.section("specs with weaknesses")
    for line in dict.fromkeys(weak):
        reporter.write_line(line)
