"""The published standards: data only, so that any harness that drives a CLI can be pointed at the same ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Question = Literal["these", "new"]
QUESTIONS: tuple[Question, ...] = ("these", "new")
SEVERE = 0.5
"""Probability that a run which fails does so by an irreversible loss; so the second primary outcome is as null as the first."""


@dataclass(frozen=True, slots=True)
class Truth:
    """One kind of case: the probability to pass without the skill in the context, and with it; and that an offered skill is loaded."""

    without: float
    loaded: float
    loads: float = 1.0

    @property
    def offered(self) -> float:
        """The probability to pass where the skill is offered, loaded or not."""
        return self.loads * self.loaded + (1 - self.loads) * self.without

    @property
    def effect(self) -> float:
        """The true difference between the arms, as assigned."""
        return self.offered - self.without


@dataclass(frozen=True, slots=True, kw_only=True)
class Standard:
    """A scripted agent and the cases it is measured on.

    Attributes
    ----------
    pool
        The kinds of case there are.
    drawn
        True: every session draws its families from the pool, with replacement (so the pool is the population that "new
        cases" asks about). False: a session has each kind once.
    families, paraphrases
        A session's families, and cases in each; the cases of a family are of one kind.
    drift
        By how much the probability to pass rises in both arms from the first run of a session to the last.
    loss_at_end
        Probability that the last run is lost, whatever the arm; the first is never lost, and it rises evenly between.
    runs_lost, failures_lost
        Probability that a run in the arm with the skill is lost, whatever became of it; and, besides, if it would have failed.
    fair
        The runs that are left tell the truth, so that bias and coverage are promised; else only that no effect is claimed.
    """

    name: str
    about: str
    pool: tuple[Truth, ...]
    drawn: bool = False
    families: int = 8
    paraphrases: int = 1
    repeats: int = 3
    drift: float = 0.0
    loss_at_end: float = 0.0
    runs_lost: float = 0.0
    failures_lost: float = 0.0
    fair: bool = True

    @property
    def cases(self) -> int:
        """Cases of a session."""
        return self.families * self.paraphrases

    @property
    def runs(self) -> int:
        """Runs of a session, over both arms."""
        return 2 * self.cases * self.repeats

    @property
    def effect(self) -> float:
        """The true effect over the pool."""
        return mean_effect(self.pool)

    @property
    def null(self) -> bool:
        """Whether there is nothing to be found on new cases."""
        return self.effect == 0


def mean_effect(truths: tuple[Truth, ...]) -> float:
    """The true effect over some kinds of case, rounded so that a null is exactly 0."""
    return round(sum(truth.effect for truth in truths) / len(truths), 12)


def _same(*rates: float) -> tuple[Truth, ...]:
    return tuple(Truth(rate, rate) for rate in rates)


def _kinds(*pairs: tuple[float, float]) -> tuple[Truth, ...]:
    return tuple(Truth(without, loaded) for without, loaded in pairs)


STANDARDS: tuple[Standard, ...] = (
    Standard(
        name="null",
        about="the skill changes nothing in any case",
        pool=_same(0.1, 0.25, 0.4, 0.5, 0.5, 0.6, 0.75, 0.9),
    ),
    Standard(
        name="null-mixed",
        about="the skill helps as much in some cases as it hurts in others: nothing on average",
        pool=_kinds((0.2, 0.7), (0.7, 0.2), (0.35, 0.65), (0.65, 0.35), (0.5, 0.5)),
        drawn=True,
        families=12,
    ),
    Standard(
        name="ceiling",
        about="nearly every run passes in both arms",
        pool=_same(0.95, 1.0, 0.98, 1.0, 0.95, 1.0, 0.98, 1.0),
    ),
    Standard(
        name="families",
        about="three paraphrases of each idea; ideas differ in effect, nothing on average",
        pool=_kinds((0.1, 0.7), (0.7, 0.1), (0.3, 0.6), (0.6, 0.3)),
        drawn=True,
        paraphrases=3,
        repeats=2,
    ),
    Standard(
        name="drift",
        about="no effect; the model gets better during the session, and late runs are lost more often",
        pool=_same(0.3, 0.35, 0.4, 0.45, 0.55, 0.6, 0.65, 0.7),
        drift=0.4,
        loss_at_end=0.1,
    ),
    Standard(
        name="loss-by-arm",
        about="no effect; with the skill, three in ten of the runs that would have failed are lost",
        pool=_same(0.4, 0.45, 0.5, 0.5, 0.5, 0.5, 0.55, 0.6),
        failures_lost=0.3,
        fair=False,
    ),
    Standard(
        name="outage-by-arm",
        about="no effect; with the skill, four in ten runs are lost, whatever the agent did",
        pool=_same(0.65, 0.7, 0.75, 0.8, 0.8, 0.85, 0.9, 0.95),
        runs_lost=0.4,
    ),
    Standard(
        name="effect-20",
        about="an effect of .20 that differs between cases",
        pool=_kinds((0.3, 0.3), (0.5, 0.6), (0.2, 0.4), (0.4, 0.7), (0.3, 0.7)),
        drawn=True,
        families=12,
    ),
    Standard(
        name="effect-40",
        about="an effect of .40 that differs between cases",
        pool=_kinds((0.5, 0.7), (0.3, 0.6), (0.4, 0.8), (0.2, 0.7), (0.3, 0.9)),
        drawn=True,
    ),
    Standard(
        name="harm-30",
        about="the skill does harm: an effect of -.30",
        pool=_kinds((0.8, 0.7), (0.9, 0.7), (0.8, 0.5), (0.7, 0.3), (0.9, 0.4)),
        drawn=True,
    ),
    Standard(
        name="loads-sometimes",
        about="a skill worth .60 where it is loaded, which happens in every second run: .30 as assigned",
        pool=tuple(Truth(rate, round(rate + 0.6, 2), loads=0.5) for rate in (0.1, 0.2, 0.3, 0.4)),
        drawn=True,
    ),
    Standard(
        name="three-movable",
        about="only three of eight cases can be moved at all: .30",
        pool=_kinds((0.1, 0.9), (0.1, 0.9), (0.1, 0.9), *[(0.95, 0.95)] * 3, *[(0.05, 0.05)] * 2),
    ),
)
"""Null-like ones first. The order is no part of any draw."""


def standard(name: str) -> Standard:
    """The standard called `name`; KeyError when there is none."""
    return {one.name: one for one in STANDARDS}[name]
