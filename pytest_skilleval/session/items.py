"""The rows of a spec as plain `pytest.Function` items.

pytest is asked once a spec file, about the first row, and the items of all rows are made like its answer: the test
functions of a spec differ in name, line and rows only, and asking about each costs more than all else of an item. Where
somebody may answer differently (see `_one_like_all`), pytest is asked about every case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any

import pytest

from pytest_skilleval.session.outcomes import Recorder, assess

if TYPE_CHECKING:
    from pytest_skilleval.core.plan import Row
    from pytest_skilleval.core.record import MeasuredRun
    from pytest_skilleval.core.spec import Rehearsal

Cases = Mapping[str, Sequence["Row"]]
"""Case -> its rows, at least one each."""
ROW = "skill_row"
"""The fixture by which items are parametrised."""


def items_of(collector: pytest.Module, cases: Cases, lines: Mapping[str, int]) -> Iterator[pytest.Item | pytest.Collector]:
    """One item a row, case by case; `lines` tells where the cases stand in the file of `collector`."""
    model = _one_like_all(collector, cases, lines)
    for case, rows in cases.items():
        function = make_test(case, path=collector.path, line=lines[case])
        if model is None:
            yield from _asked(collector, case, function, rows)
        else:
            setattr(collector.obj, case, function)
            yield from _made_like(model, case, function, rows)


def make_test(case: str, *, path: Path, line: int) -> Callable[..., None]:
    """A test function for one case; errors and ``item.location`` point at the case's line in the YAML."""

    def run(
        skill_row: Row,  # named here because every item is parametrised by it  # noqa: ARG001
        skill_measured: MeasuredRun,
        skill_strict: bool,
        skill_rehearsal: Rehearsal | None,
        skill_note: Recorder,
    ) -> None:
        assess(skill_measured, skill_note, strict=skill_strict, rehearsal=skill_rehearsal)

    code = run.__code__.replace(co_filename=str(path), co_firstlineno=line, co_name=case, co_qualname=case)
    function = FunctionType(code, run.__globals__, case)
    function.__test__ = True  # type: ignore[attr-defined]  # lets any name through python_functions
    return function


def told(row: Row) -> dict[str, Any]:
    """``case=, kind=, arm=, agent=, model=, repeat=``: what the marker ``skill_run`` tells of a row, for ``-m`` to select by."""
    return {"case": row.case, "kind": row.kind, "arm": row.arm, "agent": row.agent, "model": row.model, "repeat": row.repeat}


def _asked(
    collector: pytest.Module, case: str, function: Callable[..., None], rows: Sequence[Row]
) -> Sequence[pytest.Item | pytest.Collector]:
    """What pytest makes of a test function that is parametrised by `rows`."""
    parameters = [pytest.param(row, id=row.label, marks=pytest.mark.skill_run(**told(row))) for row in rows]
    parametrised = pytest.mark.parametrize(ROW, parameters)(function)
    setattr(collector.obj, case, parametrised)
    made: Sequence[pytest.Item | pytest.Collector] | None = collector.ihook.pytest_pycollect_makeitem(
        collector=collector, name=case, obj=parametrised
    )
    return made or ()


def _one_like_all(collector: pytest.Module, cases: Cases, lines: Mapping[str, int]) -> pytest.Function | None:
    """The item of the first row, if all others are like it.

    None where a hook of the project itself may look at a case's name, and where pytest's answer is not simply one
    function with its row: a plugin or an autouse fixture multiplies, marks or replaces the items then.
    """
    hooks = (collector.ihook.pytest_pycollect_makeitem, collector.ihook.pytest_generate_tests)
    known = {id(plugin) for plugin, _ in collector.config.pluginmanager.list_plugin_distinfo()}
    if not cases or any(
        id(hook.plugin) not in known and not _is_pytests(hook.plugin) for caller in hooks for hook in caller.get_hookimpls()
    ):
        return None
    case, rows = next(iter(cases.items()))
    made = _asked(collector, case, make_test(case, path=collector.path, line=lines[case]), rows[:1])
    if len(made) != 1 or type(made[0]) is not pytest.Function:
        return None
    plain = set(made[0].callspec.params) == {ROW} and [mark.name for mark in made[0].own_markers] == ["parametrize", "skill_run"]
    return made[0] if plain else None


def _is_pytests(plugin: object) -> bool:
    return getattr(plugin, "__name__", type(plugin).__module__).startswith("_pytest.")


def _made_like(model: pytest.Function, case: str, function: Callable[..., None], rows: Sequence[Row]) -> Iterator[pytest.Function]:
    """The items of one case, as pytest would make them one by one."""
    common: dict[str, Any] = {"callobj": function, "originalname": case, "fixtureinfo": model._fixtureinfo}  # noqa: SLF001  # as pytest does
    for index, row in enumerate(rows):
        label = row.label
        mark = pytest.Mark("skill_run", (), told(row), _ispytest=True)  # without the decorators around it, which take most of the time
        call = replace(model.callspec, params={ROW: row}, indices={ROW: index}, _idlist=(label,), marks=[mark])
        yield pytest.Function.from_parent(model.parent, name=f"{case}[{label}]", callspec=call, keywords={label: True}, **common)
