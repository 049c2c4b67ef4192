"""The evals of other tools as JSON: which skill they are for, and their entries with lines.

Layouts: ``{"skill_name": ..., "evals": [...]}``, ``{"skill": ..., "cases": [...]}``, a bare list; with the keys of the
Agent Skills standard, of skill-creator, and of trigger lists ``[{"query": ..., "should_trigger": ...}]``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_skilleval.core.drafting.draft import Note
from pytest_skilleval.core.drafting.evals_entry import read_entry
from pytest_skilleval.core.drafting.json_lines import lines_of_entries, parse_json
from pytest_skilleval.core.errors import Fault, SpecError
from pytest_skilleval.core.nearest import did_you_mean

_NAMES = ("skill_name", "skill")
_LISTS = ("evals", "cases")


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalsFile:
    """What the top level says. `entries`: (1-based line, the entry, of any type).

    `beside`: the content of each input file that an entry names, or why it can't be had; to be filled in by who can read files.
    """

    file: str
    skill: str | None
    entries: tuple[tuple[int, object], ...]
    notes: tuple[Note, ...] = ()
    beside: Mapping[str, bytes | str] = field(default_factory=dict)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The input files that entries name, as they name them."""
        raw = (entry for _, entry in self.entries if isinstance(entry, dict))
        return tuple(dict.fromkeys(name for entry in raw for name in read_entry(entry, "").files))


def read_evals(text: str, file: str) -> EvalsFile:
    """Read a file of evals.

    Raises
    ------
    SpecError
        It is no JSON, or neither a list of entries nor an object that holds one.
    """
    top = parse_json(text, file)
    if isinstance(top, list):
        return EvalsFile(file=file, skill=None, entries=_with_lines(text, None, top))
    if not isinstance(top, dict):
        raise SpecError((Fault(file, 1, "", "must be a list of evals, or an object with `evals`"),))
    key = next((key for key in _LISTS if isinstance(top.get(key), list)), None)
    if key is None:
        raise SpecError((Fault(file, 1, "", f"has no list under `evals` or `cases`{_hint(top)}"),))
    name = next((top[key] for key in _NAMES if isinstance(top.get(key), str)), None)
    unknown = [other for other in top if other not in (*_NAMES, key)]
    notes = tuple(Note(file, 1, f"left out: `{other}` of the whole file has no place in a spec") for other in unknown)
    return EvalsFile(file=file, skill=name, entries=_with_lines(text, key, top[key]), notes=notes)


def _hint(top: dict[str, object]) -> str:
    near = next((key for key, value in top.items() if isinstance(value, list)), None)
    return did_you_mean(near, _LISTS) if near else ""


def _with_lines(text: str, key: str | None, entries: list[object]) -> tuple[tuple[int, object], ...]:
    return tuple(zip(lines_of_entries(text, key), entries, strict=True))
