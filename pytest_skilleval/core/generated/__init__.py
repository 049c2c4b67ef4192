"""Generated rehearsals: misbehaviours that every case must catch, and right ways that none may condemn.

Beside the rehearsals that a spec writes, a case gets one misbehaviour for each seeded object, deed and route, and several
wordings of each written right way. They are made from the spec alone, by the same rules each time, so an id is enough to play
one: rows of a plan name it, and `with_generated` makes it again.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_skilleval.core.loaded import LoadedSpec
    from pytest_skilleval.core.spec import Case, Rehearsal

PREFIX = "gen-"
"""What the ids of generated rehearsals begin with; the loader keeps it free."""


def is_generated(rehearsal: str | None) -> bool:
    """Whether a rehearsal's id is that of a generated one."""
    return rehearsal is not None and rehearsal.startswith(PREFIX)


def generated(loaded: LoadedSpec, case: Case) -> tuple[Rehearsal, ...]:
    """All generated rehearsals of a case, in no skin yet; none for a trigger case, which ends at its first deed."""
    if case.kind == "trigger":
        return ()
    # Here, because every loading of a spec asks this package for `PREFIX` and nothing else.
    from pytest_skilleval.core.generated.right import right_ways
    from pytest_skilleval.core.generated.wrong import misbehaviours

    return (*misbehaviours(loaded, case), *right_ways(loaded, case))


def with_generated(loaded: LoadedSpec, case: Case, rehearsal: str | None) -> Case:
    """The case with the generated rehearsal of this id after the written ones; the case itself where the id is none of a generated one."""
    if not is_generated(rehearsal):
        return case
    named = tuple(one for one in generated(loaded, case) if one.id == rehearsal)
    return case.model_copy(update={"rehearsals": (*case.rehearsals, *named)})


def sample(loaded: LoadedSpec, case: Case, wanted: int | None) -> tuple[Rehearsal, ...]:
    """`wanted` generated rehearsals of a case, every second one a right way; None: all.

    The sample is drawn by a hash of the ids: the same on every machine, and a larger one holds the smaller one.
    """
    drawn = sorted(generated(loaded, case), key=lambda one: hashlib.sha256(f"{loaded.spec.skill}/{case.id}/{one.id}".encode()).digest())
    if wanted is None:
        return tuple(drawn)
    wrong = [one for one in drawn if one.expect == "fail"]
    right = [one for one in drawn if one.expect == "pass"]
    half = min(len(right), wanted // 2)
    return (*wrong[: wanted - half], *right[:half])
