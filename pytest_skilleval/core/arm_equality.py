"""Between the arms of a block, first requests differ by what the arms declare and by nothing else.

Pure: from the recorded first requests, and what each run recorded of its arm. Every request is taken apart into *facts*
(the text that no arm declares, each listed skill, the CLI's own skills); a fact that several arms of a block should share
is held against the others'. The many tell who deviates; where half stands against half, nobody can tell, and no run of the
block that has the fact is as declared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from pytest_skilleval.core.declared import Declared, InstalledSkill
from pytest_skilleval.core.first_requests import differing, undeclared_part
from pytest_skilleval.core.model_requests import Body, Shown, ShownSkill, shown

Facts = Mapping[str, Hashable]

TEXT = "what no arm declares"
PERMISSIONS = "what the agent says of permissions: "
OWN = "the agent's own skill "
CUT_MARKS = ("\u2026", "...")
MOST_REASONS, MOST_LINES, LONGEST_LINE = 3, 3, 160


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """One run of a block: its arm's declaration and its first request."""

    run_id: str
    arm: str
    declared: Declared
    body: Body


class Unequal(msgspec.Struct, frozen=True, kw_only=True):
    """A run whose first request differs from those of its block by more than its arm declares."""

    run_id: str
    reason: str


class BlockFinding(msgspec.Struct, frozen=True, kw_only=True):
    """What comparing one block found. `recut`: skills that all arms have and that not all show whole."""

    unequal: tuple[Unequal, ...] = ()
    recut: tuple[str, ...] = ()


def compare(sides: Sequence[Side]) -> BlockFinding:
    """Hold the first requests of one block against each other."""
    block = [(side, shown(side.body)) for side in sides]
    catalogue = tuple(dict.fromkeys(skill for side in sides for skill in side.declared.skills))
    own = _own_skills(block)
    facts = {side.run_id: {**_of_catalogue(side.declared, seen, catalogue), **_of_agent(side, seen, own)} for side, seen in block}
    arms = {side.run_id: side.arm for side in sides}
    reasons: dict[str, list[str]] = {}
    for fact in dict.fromkeys(fact for one in facts.values() for fact in one):
        for run_id, reason in _deviating(fact, {run_id: one[fact] for run_id, one in facts.items() if fact in one}, arms):
            reasons.setdefault(run_id, []).append(reason)
    return BlockFinding(
        unequal=tuple(Unequal(run_id=run_id, reason="; ".join(found[:MOST_REASONS])) for run_id, found in reasons.items()),
        recut=tuple(_recut(block)),
    )


def _of_catalogue(arm: Declared, seen: Shown, catalogue: Iterable[str]) -> Facts:
    """Each skill that the arm does not leave out: what was installed, and how its entry differs from that."""
    listed = {one.name: one for one in seen.skills}
    facts: dict[str, Hashable] = {}
    for skill in catalogue:
        treatment, installed = arm.treatment(skill), arm.skills.get(skill)
        entry = listed.get(installed.name) if installed else None
        if treatment is not None:
            facts[f"skill {skill} ({treatment})"] = (installed, *_beyond(entry, installed)) if installed and entry else (installed,)
    return facts


def _of_agent(side: Side, seen: Shown, own: Mapping[str, Sequence[str]]) -> Facts:
    """What the agent shows whatever the arm: its own skills, its texts, and its word on permissions where they are the same."""
    text, permissions = undeclared_part(side.body, side.declared.instructions)
    listed = {one.name: _plain(one.description) for one in seen.skills}
    installed = _installed_names(side)
    skills = {f"{OWN}{name}": _whole(listed.get(name), told) for name, told in own.items() if name not in installed}
    return {TEXT: text, f"{PERMISSIONS}{side.declared.permissions}": permissions, **skills}


def _plain(text: str) -> str:
    return " ".join(text.split())


def _is_cut(told: str, whole: str) -> bool:
    """Whether a description is `whole` or the beginning of it, as agents cut it when their listing is full."""
    return whole.startswith(told.rstrip("\u2026."))


def _beyond(entry: ShownSkill, installed: InstalledSkill) -> tuple[str, str | None]:
    """What an entry says beyond the description, and from where; a shortened description says nothing more."""
    told, wanted = _plain(entry.description), _plain(installed.description)
    if told.startswith(wanted):
        return told[len(wanted) :], entry.path
    return "" if _is_cut(told, wanted) else told, entry.path


def _installed_names(side: Side) -> frozenset[str]:
    return frozenset(one.name for one in side.declared.skills.values())


def _own_skills(block: Iterable[tuple[Side, Shown]]) -> dict[str, list[str]]:
    """Name -> descriptions, longest first, of the skills that a run lists and its arm did not install."""
    found: dict[str, set[str]] = {}
    for side, seen in block:
        for one in seen.skills:
            if one.name not in _installed_names(side):
                found.setdefault(one.name, set()).add(_plain(one.description))
    return {name: sorted(told, key=len, reverse=True) for name, told in found.items()}


def _whole(told: str | None, longest_first: Iterable[str]) -> str | None:
    """The description of which `told` is a cut, if any was seen; a text that merely goes on is no other's whole."""
    if told is None or (told and not told.endswith(CUT_MARKS)):
        return told
    return next(one for one in longest_first if _is_cut(told, one))


def _deviating(fact: str, values: Mapping[str, Hashable], arms: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The runs whose value of a fact is not what most have, and in what it differs."""
    counts = Counter(values.values())
    if len(counts) < 2:
        return
    (usual, most), (_, second) = counts.most_common(2)
    for run_id, value in values.items():
        if value == usual and most > second:
            continue
        other = usual if value != usual else next(one for one in counts if one != usual)
        against = next(arms[one] for one in values if values[one] == other)
        undecided = "" if most > second else " (which of the arms is not as declared can't be told)"
        yield run_id, f"{_told(fact, other, value)}, against the arm {against}{undecided}"


def _told(fact: str, usual: Any, value: Any) -> str:
    """In what two values of a fact differ, in words."""
    if fact.startswith(("skill ", OWN)):
        return f"{fact} is {_presence(value)} and elsewhere {_presence(usual)}"
    found = differing(usual, value)
    lines = [f"{'+' if one.added else '-'} {one.line.strip()[:LONGEST_LINE]!r} in {one.where}" for one in found]
    more = f" and {len(lines) - MOST_LINES} lines more" if len(lines) > MOST_LINES else ""
    return f"{fact} differs: {', '.join(lines[:MOST_LINES])}{more}"


def _presence(value: Any) -> str:
    if not value or value == (None,):
        return "missing"
    told = value if isinstance(value, str) else f"{value[0].description}{''.join(map(str, value[1:2]))}"
    return f"{told[:LONGEST_LINE]!r}" + ("" if isinstance(value, str) else f" (files {value[0].sha256[:8]})")


def _recut(block: Sequence[tuple[Side, Shown]]) -> Iterator[str]:
    """Skills that are shown in different lengths though they are the same."""
    told: dict[tuple[str, str | None], set[str]] = {}
    for side, seen in block:
        ids = {one.name: skill for skill, one in side.declared.skills.items()}
        for one in seen.skills:
            treatment = side.declared.treatment(ids[one.name]) if one.name in ids else None
            told.setdefault((one.name, treatment), set()).add(_plain(one.description))
    yield from dict.fromkeys(name for (name, _), found in told.items() if len(found) > 1)
