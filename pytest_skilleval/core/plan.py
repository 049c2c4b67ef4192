"""The plan: options + specs + random seed -> ordered rows. A pure value, made once, before anything runs."""

from __future__ import annotations

import msgspec


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One run to be made: one sandbox, one transcript, one pytest item."""

    index: int
    """Place in the order in which runs are started."""
    run_id: str
    """``<case>.<arm>.<agent>.<model slug>.r<n>``; folder name."""
    skill: str
    case: str
    kind: str
    arm: str
    agent: str
    model: str
    repeat: int
    block: int
    """Number of the block (one repeat of one case over all arms); its arms share all that follows."""
    paraphrases: tuple[int, ...] = ()
    """Index of the paraphrase drawn for each turn."""
    skin: int = 0
    selected: bool = True
    reason: str | None = None
    """Why it is not selected, when it isn't."""
