"""Planned looks during a session: the controller decides at each whether the rest is started; all processes obey."""

from __future__ import annotations

import time
from collections import defaultdict
from typing import TYPE_CHECKING

from pytest_skilleval.core.statistics.sequential import look_number
from pytest_skilleval.rescoring import look_ends
from pytest_skilleval.session.control import Control

if TYPE_CHECKING:
    from pytest_skilleval.core.plan import Plan, Row
    from pytest_skilleval.session.evaluation import Evaluation

PAUSE = 0.05
"""Seconds between two questions whether a look is decided."""


def held_back(row: Row, plan: Plan, control: Control, *, may_wait: bool) -> bool:
    """Whether a planned look ended the session before `row`; a worker waits until the looks before it are decided."""
    for number in range(1, look_number(plan.looks, row.repeat)):
        while (stops := control.look(row.skill, number)) is None:
            if not may_wait or control.stopped():
                return False
            time.sleep(PAUSE)
        if stops:
            return True
    return False


class Looking:
    """The looks of one session, on its controller.

    A look is decided when every run that it counts has been made. A partial session goes on at every look: it can't claim
    anything, so there is nothing to stop for.
    """

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation
        self._open: defaultdict[tuple[str, int], set[tuple[str, str]]] = defaultdict(set)
        self._decided: dict[str, int] = {}

    def begin(self) -> None:
        """The selection is known: note what each look waits for. A resumed session keeps to what was decided before."""
        plan, done = self._evaluation.plan, self._evaluation.planned.done
        self._decided = dict.fromkeys(plan.skills, 0)
        for row in plan.selected:
            number = look_number(plan.looks, row.repeat)
            if row.key not in done:
                self._open[row.skill, number].add(row.key)
            else:
                self._pass(row.skill, number - 1)
        for skill, number in plan.stopped.items():
            self._pass(skill, number - 1)
            self._say(skill, number, stops=True)
        for skill in plan.skills:
            self._look(skill)

    def finished(self, row: Row) -> None:
        """A run was made, or lost."""
        self._open[row.skill, look_number(self._evaluation.plan.looks, row.repeat)].discard(row.key)
        if not self._evaluation.control.stopped():
            self._look(row.skill)

    def give_up(self) -> None:
        """A worker died, and its runs may now be queued behind ones that wait for them: the next look is not held.

        To leave a look out is always sound: its alpha is simply not spent.
        """
        for skill, number in self._decided.items():
            self._pass(skill, number + 1)

    def _look(self, skill: str) -> None:
        """Decide every look that is due; the last one is the report's."""
        plan = self._evaluation.plan
        for number in range(self._decided.get(skill, 0) + 1, len(plan.looks)):
            if skill in plan.stopped or self._open[skill, number]:
                return
            why = None if plan.partial else look_ends(self._evaluation.archive(skill), self._evaluation.spec(skill), plan, number)
            if why is not None:
                self._evaluation.stop_at(skill, number, why)
            self._say(skill, number, stops=why is not None)

    def _pass(self, skill: str, number: int) -> None:
        """Go on past every look up to `number` that is not decided."""
        for passed in range(self._decided[skill] + 1, number + 1):
            self._say(skill, passed, stops=False)

    def _say(self, skill: str, number: int, *, stops: bool) -> None:
        self._decided[skill] = number
        self._evaluation.control.decide(skill, number, stops=stops)
