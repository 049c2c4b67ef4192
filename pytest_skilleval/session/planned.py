"""Items and rows: each is found by the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

    from pytest_skilleval.core.loaded import LoadedSpec
    from pytest_skilleval.core.plan import Plan, Row


class Planned:
    """A plan and the spec files that it was made from: what collection turns into items, and items back into rows.

    `done` are the keys of rows that an earlier session measured: they are part of the plan and no items. `specs` are what this
    process made the plan from, by file; a worker is told the plan and loads them itself.
    """

    def __init__(
        self,
        plan: Plan,
        files: Mapping[str, Path],
        root: Path,
        *,
        done: frozenset[tuple[str, str]] = frozenset(),
        specs: Iterable[LoadedSpec] = (),
    ) -> None:
        self.plan, self.files, self.root, self.done = plan, files, root, done
        self.specs: Mapping[Path, LoadedSpec] = {loaded.path: loaded for loaded in specs}
        self._rows: dict[Path, dict[str, Row]] = {path: {} for path in files.values()}
        for row in plan.rows:
            self._rows[files[row.skill]][f"{row.case}[{row.label}]"] = row

    def rows_in(self, path: Path) -> tuple[Row, ...]:
        """The rows of one spec file that are to be made, in the plan's order."""
        return tuple(row for row in self._rows.get(path, {}).values() if row.key not in self.done)

    def row(self, path: Path, name: str) -> Row | None:
        """The row behind the item called `name` in the spec file `path`."""
        return self._rows.get(path, {}).get(name)

    def row_at(self, nodeid: str) -> Row | None:
        """The row behind a node id (the controller has no items under xdist)."""
        path, _, name = nodeid.partition("::")
        return self.row(self.root / path, name)

    def rows_of(self, items: Iterable[pytest.Item]) -> tuple[Row, ...]:
        """The rows behind `items`; other tests have none."""
        rows = (self.row(item.path, item.name) for item in items)
        return tuple(row for row in rows if row is not None)

    def sort(self, items: list[pytest.Item]) -> None:
        """Put the runs among `items` in the plan's order, in place; other tests keep theirs."""
        index = {item: row.index for item in items if (row := self.row(item.path, item.name))}
        ordered = iter(sorted(index, key=lambda item: index[item]))
        items[:] = [next(ordered) if item in index else item for item in items]
