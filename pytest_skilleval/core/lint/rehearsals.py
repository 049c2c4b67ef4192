"""Rules about rehearsals: scripted conversations that prove what checks can do."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from pytest_skilleval.core.generated import PREFIX
from pytest_skilleval.core.lint.context import Context, Placed, Problem
from pytest_skilleval.core.nearest import did_you_mean
from pytest_skilleval.core.positions import Where
from pytest_skilleval.core.spec import Case, Rehearsal


def rehearsal_problems(context: Context) -> Iterator[Problem]:
    """Everything wrong with rehearsals."""
    for index, case in enumerate(context.spec.cases):
        checks = {placed.check.id: placed for placed in context.checks[index]}
        for number, rehearsal in enumerate(case.rehearsals):
            where: Where = ("cases", index, "rehearsals", number)
            yield from _rehearsal(context, case, rehearsal, where)
            yield from _trips(context, rehearsal, checks, where)
        yield from _repeated(context, case, ("cases", index, "rehearsals"))


def _rehearsal(context: Context, case: Case, rehearsal: Rehearsal, where: Where) -> Iterator[Problem]:
    if rehearsal.id.startswith(PREFIX):
        yield Problem((*where, "id"), f"ids that begin with `{PREFIX}` are kept for generated rehearsals; rename it")
    turns = len(case.all_turns)
    if len(rehearsal.turns) > turns and not context.cuts.below(context.cuts.original(where[:2])):
        mend = "remove the rest or add turns to the case"
        yield Problem((*where, "turns", turns), f"the case has {turns} turn{'s' * (turns > 1)}, so this one is never played; {mend}")
    if rehearsal.expect == "fail" and not rehearsal.trips and not context.cuts.below(context.cuts.original(where)):
        yield Problem(where, "expects to fail, so `trips` must name the checks it violates")
    if rehearsal.expect != "fail" and rehearsal.trips:
        yield Problem((*where, "trips"), f"expects {rehearsal.expect}, so it can trip nothing; remove `trips` or expect fail")


def _trips(context: Context, rehearsal: Rehearsal, checks: dict[str, Placed], where: Where) -> Iterator[Problem]:
    for index, name in enumerate(rehearsal.trips):
        place = (*where, "trips", index)
        if name in rehearsal.trips[:index]:
            yield Problem(place, f"`{name}` is listed twice; remove one")
        elif name in checks and checks[name].check.judge is not None:
            yield Problem(place, f"`{name}` asks the judge, and rehearsals are played without one; remove it here")
        elif name not in checks and name not in context.cuts.words:
            yield Problem(place, f"the case has no check `{name}`{did_you_mean(name, checks)}")


def _repeated(context: Context, case: Case, where: Where) -> Iterator[Problem]:
    ids: dict[str, int] = {}
    situations: dict[tuple[str | None, bool], int] = {}
    for index, rehearsal in enumerate(case.rehearsals):
        if rehearsal.id in ids:
            line = context.line((*where, ids[rehearsal.id]))
            yield Problem(
                (*where, index, "id"), f"the rehearsal id `{rehearsal.id}` is used twice in this case (first on line {line}); rename one"
            )
        ids.setdefault(rehearsal.id, index)
        if rehearsal.plays is None:
            continue
        situation = (rehearsal.plays.skill, rehearsal.plays.guard)
        if situation in situations:
            other = case.rehearsals[situations[situation]].id
            yield Problem(
                (*where, index, "plays"),
                f"`{other}` already plays this situation; a scripted agent needs one answer to it; remove one `plays`",
            )
        situations.setdefault(situation, index)


def rehearsal_warnings(context: Context) -> Iterator[Problem]:
    """Cases that a scripted agent could not play."""
    for index, case in enumerate(context.spec.cases):
        playable = any(rehearsal.plays is not None or rehearsal.expect == "pass" for rehearsal in case.rehearsals)
        if case.rehearsals and not playable:
            yield Problem(
                ("cases", index, "rehearsals"), "the scripted agent can play none of these; add one with `plays` or `expect: pass`"
            )


def unproven(context: Context) -> Iterator[Problem]:
    """Checks that no rehearsal proves able to trip, or that no right way proves able to hold (those of the judge apart)."""
    for index, case in enumerate(context.spec.cases):
        where: Where = ("cases", index)
        tripped = {check for rehearsal in case.rehearsals for check in rehearsal.trips}
        longest = max((len(rehearsal.turns) for rehearsal in case.rehearsals if rehearsal.expect == "pass"), default=0)
        provable = [placed for placed in context.checks[index] if placed.check.judge is None]
        if provable and not case.rehearsals:
            names = ", ".join(f"`{placed.check.id}`" for placed in provable)
            yield Problem(where, f"has no rehearsal, so nothing proves that its checks can hold and can trip ({names}); add `rehearsals`")
        for placed in provable if case.rehearsals else ():
            if missing := _missing_proof(placed, tripped, longest):
                yield Problem(placed.where, f"{missing} `{placed.check.id}`; add one that does")


def _missing_proof(placed: Placed, tripped: Collection[str], longest: int) -> str:
    """What is not proven of a check, by the checks that rehearsals trip and the turns of the longest right way (0: there is none)."""
    held = longest >= (placed.turn or 1)
    proofs = (("no rehearsal trips", placed.check.id in tripped), ("no right way (a rehearsal that passes) holds", held))
    return " and ".join(words for words, proven in proofs if not proven)
