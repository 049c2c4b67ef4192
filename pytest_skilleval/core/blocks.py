"""Blocks -> rows: their order, and what each block draws.

All randomness is a hash of the random seed and of what is drawn for, so adding a case, an arm or an agent
changes no draw and no relative order of the others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_skilleval.core.choosing import slugs
from pytest_skilleval.core.plan import Row
from pytest_skilleval.core.statistics.sequential import Look, look_number

if TYPE_CHECKING:
    from pytest_skilleval.core.loaded import LoadedSpec
    from pytest_skilleval.core.spec import Case


@dataclass(frozen=True, slots=True)
class Block:
    """One repeat of one case (or one rehearsal of it) for one agent and model, over all its arms."""

    loaded: LoadedSpec
    case: Case
    arms: tuple[str, ...]
    agent: str
    model: str
    repeat: int
    rehearsal: str | None = None

    @property
    def identity(self) -> tuple[str, ...]:
        """What its draws are named by."""
        return (self.loaded.spec.skill, self.case.id, self.agent, self.model, str(self.repeat), self.rehearsal or "")


def rank(random_seed: int, *parts: str) -> int:
    """A number drawn for `parts`, uniform over 64 bits and the same on every machine and Python."""
    return int.from_bytes(hashlib.sha256("\0".join((str(random_seed), *parts)).encode()).digest()[:8], "big")


def rows(blocks: Sequence[Block], random_seed: int, looks: Sequence[Look]) -> Iterator[Row]:
    """Rows of all blocks in random order; with looks, all of one look before the next."""
    models = slugs(block.model for block in blocks)
    index = 0
    for number, block in enumerate(
        sorted(blocks, key=lambda block: (look_number(looks, block.repeat), rank(random_seed, "block", *block.identity)))
    ):
        skill, identity = block.loaded.spec.skill, block.identity
        paraphrases = _paraphrases(block, random_seed)
        skin = _draw(len(block.loaded.skins), block.repeat, random_seed, "skin", skill, block.case.id)
        for arm in sorted(block.arms, key=lambda arm: rank(random_seed, "arm", *identity, arm)):
            run_id = f"{block.case.id}.{arm}.{block.agent}.{models[block.model]}.r{block.repeat}"
            yield Row(
                index=index,
                run_id=f"{run_id}.{block.rehearsal}" if block.rehearsal else run_id,
                skill=skill,
                case=block.case.id,
                kind=block.case.kind,
                arm=arm,
                agent=block.agent,
                model=block.model,
                repeat=block.repeat,
                block=number,
                paraphrases=paraphrases,
                skin=skin,
                rehearsal=block.rehearsal,
            )
            index += 1


def _paraphrases(block: Block, random_seed: int) -> tuple[int, ...]:
    skill, case = block.loaded.spec.skill, block.case
    return tuple(
        _draw(len(turn.paraphrases), block.repeat, random_seed, "paraphrase", skill, case.id, str(number))
        for number, turn in enumerate(case.all_turns, start=1)
    )


def _draw(size: int, repeat: int, random_seed: int, *parts: str) -> int:
    """One of `size` things; every thing once before any thing twice over the repeats."""
    if size == 1:
        return 0
    turn, place = divmod(repeat - 1, size)
    return sorted(range(size), key=lambda thing: rank(random_seed, *parts, str(turn), str(thing)))[place]
