"""What a session's plan locked before its first run, and how another spec differs from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytest_skilleval.core.contrasts import primary_contrasts
from pytest_skilleval.core.errors import UsageProblem

if TYPE_CHECKING:
    from pytest_skilleval.core.loaded import LoadedSpec
    from pytest_skilleval.core.plan import Plan
    from pytest_skilleval.core.spec import Case

PARTS = ("turns", "final", "expects", "family", "kind", "seed", "rehearsals")
"""Parts of a case that are named when they differ; others are "other settings"."""
SHORT = 12
"""Digits of a hash that are shown."""


class OtherSpec(UsageProblem):
    """A verdict or a gate is asked for by another spec than the one that the plan locked."""


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


def refusal(plan: Plan, now: LoadedSpec, changed: Sequence[str], made: Mapping[str, Any]) -> str:
    """What differs, by which hashes, and how to have again what was locked.

    Parameters
    ----------
    changed
        How the spec departs, as :func:`departures` tells.
    made
        Facts of the session that made the plan; a clean commit among them is named.
    """
    locked = plan.locks[now.spec.skill]
    differs = f"locked {locked[:SHORT]}, now {now.text_hash[:SHORT]}" if locked != now.text_hash else "the same text"
    return (
        f"plan.json locked another spec of {now.spec.skill} before the first run ({differs}); what differs: {'; '.join(changed)}. "
        f"Nothing is tested, and no gate decided, by another spec: {_restored(made)}"
    )


def _restored(made: Mapping[str, Any]) -> str:
    commit = made.get("repository.commit", "unknown")
    if commit == "unknown" or made.get("repository.dirty") != "no":
        return "put back the spec that was locked"
    return f"put back the spec that was locked, that of commit {commit[:SHORT]}"


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
