"""What a session's plan locked before its first run, and how another spec differs from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pytest_skilleval.core.arms import primary_contrasts

if TYPE_CHECKING:
    from pytest_skilleval.core.loaded import LoadedSpec
    from pytest_skilleval.core.plan import Plan
    from pytest_skilleval.core.spec import Case

PARTS = ("turns", "final", "expects", "family", "kind", "seed", "rehearsals")
"""Parts of a case that are named when they differ; others are "other settings"."""


def departures(plan: Plan, locked: LoadedSpec, now: LoadedSpec) -> tuple[str, ...]:
    """How `now` departs from what `plan` locked (hash of the spec and its files, primary contrasts); empty: it does not.

    Parameters
    ----------
    locked
        The spec as recorded with the session; it tells what changed, the plan whether anything did.
    """
    skill = locked.spec.skill
    told = list(_contrasts(plan, now))
    if now.text_hash != plan.locks[skill]:
        told += _differences(locked, now) or ["only comments, or files that the spec refers to"]
    return tuple(dict.fromkeys(told))


def _contrasts(plan: Plan, now: LoadedSpec) -> Iterator[str]:
    locked = plan.contrasts.get(now.spec.skill)
    if locked is not None and locked != primary_contrasts(now.spec):
        yield "the primary contrasts"


def _differences(locked: LoadedSpec, now: LoadedSpec) -> list[str]:
    was, is_ = ({case.id: case for case in one.spec.cases} for one in (locked, now))
    told = [f"case {name} is new" for name in is_ if name not in was]
    told += [f"case {name} is gone" for name in was if name not in is_]
    for name in was:
        changed = _parts(was[name], is_[name]) if name in is_ else []
        if changed:
            told.append(f"case {name}: {', '.join(changed)}")
    before, after = (one.spec.model_dump(mode="json", by_alias=True, exclude={"cases"}) for one in (locked, now))
    return told + [key for key in before if before[key] != after[key]]


def _parts(was: Case, is_: Case) -> list[str]:
    before, after = was.model_dump(mode="json"), is_.model_dump(mode="json")
    changed = [key for key in before if before[key] != after[key]]
    named = [key for key in changed if key in PARTS]
    return named + (["other settings"] if len(named) < len(changed) else [])
