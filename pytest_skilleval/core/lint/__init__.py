"""Rules that relate the values of a spec to each other, and to the catalogue, runbook and skins beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pytest_skilleval.core.errors import Fault
from pytest_skilleval.core.lint.arms import arm_problems
from pytest_skilleval.core.lint.cases import case_problems, case_warnings
from pytest_skilleval.core.lint.checks import check_problems
from pytest_skilleval.core.lint.context import Context, Problem
from pytest_skilleval.core.lint.rehearsals import rehearsal_problems, rehearsal_warnings, unproven
from pytest_skilleval.core.lint.seeds import seed_problems
from pytest_skilleval.core.lint.skill import skill_problems
from pytest_skilleval.core.lint.words import giveaways, word_problems

__all__ = ["Context", "Linted", "giveaways", "lint"]

_RULES = (skill_problems, arm_problems, case_problems, check_problems, rehearsal_problems, seed_problems, word_problems)


@dataclass(frozen=True, slots=True)
class Linted:
    """What the rules found: faults that make a spec unusable, warnings, and checks without proof (warnings too)."""

    faults: tuple[Fault, ...]
    warnings: tuple[Fault, ...]
    unproven: tuple[Fault, ...]


def lint(context: Context) -> Linted:
    """Apply every rule."""
    faults = _placed(context, (problem for rule in _RULES for problem in rule(context)))
    if context.cuts.places:
        return Linted(faults, (), ())
    proofs = _placed(context, unproven(context))
    others = _placed(context, [*case_warnings(context), *rehearsal_warnings(context)])
    return Linted(faults, (*others, *proofs), proofs)


def _placed(context: Context, problems: Iterable[Problem]) -> tuple[Fault, ...]:
    return tuple(dict.fromkeys(_faults(context, problems)))


def _faults(context: Context, problems: Iterable[Problem]) -> Iterator[Fault]:
    for problem in problems:
        where = context.cuts.original(problem.where)
        if not context.cuts.directly(where):
            yield context.document.fault(where, problem.message)
