"""What the rules look at, and what they say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from pytest_skilleval.core.catalogue import Catalogue
from pytest_skilleval.core.loaded import Skill, Skin
from pytest_skilleval.core.positions import Document, Where
from pytest_skilleval.core.shape import Cuts
from pytest_skilleval.core.spec import Arm, Case, Check, Spec


class Problem(NamedTuple):
    """Something wrong at a place of the spec as it was shaped."""

    where: Where
    message: str


class Placed(NamedTuple):
    """A check of a case and where it stands; `turn` is 1-based, None among the final ones."""

    where: Where
    turn: int | None
    check: Check


@dataclass(frozen=True, kw_only=True)
class Context:
    """A shaped spec with all that its rules relate it to.

    Attributes
    ----------
    folder
        Name of the folder that holds the spec.
    skins
        The skins a block of any case may draw.
    names_known
        False when the skins could not be read: then nothing is said about ``${name}`` references.
    runbook
        Prompt number -> title; None when there is no runbook that could be read.
    """

    spec: Spec
    document: Document
    cuts: Cuts
    folder: str
    catalogue: Catalogue
    skins: tuple[Skin, ...] = (Skin(),)
    names_known: bool = True
    runbook: Mapping[int, str] | None = None

    @cached_property
    def checks(self) -> tuple[tuple[Placed, ...], ...]:
        """Of each case all its checks in order: turn by turn, then the final ones."""
        return tuple(tuple(_checks_of(case, ("cases", index))) for index, case in enumerate(self.spec.cases))

    def line(self, where: Where) -> int:
        """1-based line of a place of the shaped spec."""
        return self.document.line(self.cuts.original(where))

    def damaged(self, where: Where) -> bool:
        """Whether the mapping at a place of the shaped spec lost a key: rules about what it lacks are silent then."""
        return self.cuts.directly(self.cuts.original(where))


def _checks_of(case: Case, where: Where) -> Iterator[Placed]:
    for number, turn in enumerate(case.turns, start=1):
        place = (*where, "turns", number - 1)
        yield from (Placed((*place, "must", index), number, check) for index, check in enumerate(turn.must))
        yield from (Placed((*place, "must_not", index), number, check) for index, check in enumerate(turn.must_not))
    place = (*where, "final")
    yield from (Placed((*place, "must", index), None, check) for index, check in enumerate(case.final.must))
    yield from (Placed((*place, "must_not", index), None, check) for index, check in enumerate(case.final.must_not))


def called(catalogue: Catalogue, name: str) -> list[str]:
    """Ids of the skills that answer to `name`: by their folder or their front-matter."""
    return [skill.id for skill in catalogue.skills.values() if name in (skill.id, skill.name)]


def ambiguous(name: str, ids: list[str]) -> str:
    """What to say of a name to which several skills answer."""
    return f"`{name}` means several skills: {', '.join(ids)}; make folder and front-matter name agree"


def installs(arm: Arm, skill: Skill) -> bool:
    """Whether `arm` shows `skill` to the agent."""
    return arm.exclude != "all" and skill.id not in arm.exclude and (not skill.name or skill.name not in arm.exclude)
