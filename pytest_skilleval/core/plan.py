"""The plan: options + specs + random seed -> ordered rows. A pure value, made once, before anything runs."""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from pytest_skilleval.core.statistics.sequential import Look


class Row(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One run to be made: one sandbox, one transcript, one pytest item."""

    index: int
    """Place in the order in which runs are started, over all specs of the session."""
    run_id: str
    """``<case>.<arm>.<agent>.<model slug>.r<n>``; folder name. A rehearsal's ends in its id."""
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
    rehearsal: str | None = None
    """Id of the rehearsal to be played, whatever the arm shows; None: an ordinary run."""

    @property
    def label(self) -> str:
        """What tells the runs of one case apart, for people: ``<arm>-<agent>-<model slug>-r<n>``."""
        slug_and_repeat = self.run_id.removeprefix(f"{self.case}.{self.arm}.{self.agent}.")
        slug, mark, rest = slug_and_repeat.partition(f".r{self.repeat}")
        return f"{self.arm}-{self.agent}-{slug}-{mark[1:]}{rest}"

    @property
    def key(self) -> tuple[str, str]:
        """What tells it apart from every other row of the session: skill and run id."""
        return self.skill, self.run_id


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """All runs of a session (or, by `of`, of one spec), in the order in which they start: ``plan.json``."""

    format: int = 1
    random_seed: int
    seed_origin: str
    """Where the random seed is from: an option, pytest-randomly, or derived from the specs."""
    rows: tuple[Row, ...]
    locks: dict[str, str]
    """Skill -> SHA-256 of its spec and all files that belong to it."""
    contrasts: dict[str, tuple[tuple[str, str], ...]] = {}
    """Skill -> its primary contrasts (from, to): locked with the spec."""
    looks: tuple[Look, ...] = ()
    """Planned looks, the last of them after all repeats; none: one look at the end."""
    stopped: dict[str, int] = {}
    """Skill -> number of the look, from 1, after which no further run of it was started."""
    stopped_why: dict[str, str] = {}
    """Skill -> ``changed`` or ``futile``."""
    rehearsal: bool = False
    release: bool = False
    """Made for a release: held-out cases run, too, and the gate takes the stricter interval."""
    warnings: tuple[str, ...] = ()

    @property
    def selected(self) -> tuple[Row, ...]:
        """The rows that are to be run."""
        return tuple(row for row in self.rows if row.selected)

    @property
    def partial(self) -> bool:
        """Whether rows were left out otherwise than by a planned look: no effect verdict and no gate then."""
        return any(not row.selected and not self.beyond(row) for row in self.rows)

    def beyond(self, row: Row) -> bool:
        """Whether a planned look ended the skill's runs before this one."""
        number = self.stopped.get(row.skill)
        return number is not None and row.repeat > self.looks[number - 1].repeats

    @property
    def skills(self) -> tuple[str, ...]:
        """The skills under test, in alphabetical order."""
        return tuple(sorted(self.locks))

    def of(self, skill: str) -> Plan:
        """The part of one spec; rows keep the index that they have in the session."""
        rows = tuple(row for row in self.rows if row.skill == skill)
        own = {
            name: {skill: found[skill]} if skill in found else {}
            for name, found in (
                ("locks", self.locks),
                ("contrasts", self.contrasts),
                ("stopped", self.stopped),
                ("stopped_why", self.stopped_why),
            )
        }
        return msgspec.structs.replace(self, rows=rows, **own)

    def stop(self, skill: str, number: int, why: str = "changed") -> Plan:
        """The same plan, with the skill's rows beyond a look marked as not selected."""
        told = {**self.stopped_why, skill: why}
        ended = msgspec.structs.replace(self, stopped={**self.stopped, skill: number}, stopped_why=told)
        beyond = {row.key for row in self.rows if row.skill == skill and ended.beyond(row)}
        return ended.keep({row.key for row in self.rows} - beyond, f"stopped at look {number}")

    def keep(self, keys: Collection[tuple[str, str]], reason: str) -> Plan:
        """The same plan with every other row marked as not selected, for `reason`; earlier reasons stay."""
        rows = tuple(
            row if row.key in keys or not row.selected else msgspec.structs.replace(row, selected=False, reason=reason) for row in self.rows
        )
        return msgspec.structs.replace(self, rows=rows)
