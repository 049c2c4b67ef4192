"""The verdict in words, by fixed rules, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction

from pytest_skilleval.core.statistics.missing import Loss, at_best, at_worst
from pytest_skilleval.core.statistics.multiplicity import holm
from pytest_skilleval.core.statistics.paired import FEWEST_CASES, NO_PAIR, TOO_FEW, NewCases, new_cases
from pytest_skilleval.core.statistics.permutation import within_case
from pytest_skilleval.core.statistics.planning import Price, Spread, bill, cases_needed, pilot, stated
from pytest_skilleval.core.statistics.steps import NextStep, kinds_unknown, more_kinds, settle, these
from pytest_skilleval.core.statistics.values import PairedCounts, mean

ALPHA = 0.05
WANTED_EFFECT = 0.3
_EQUAL = 1e-12

PValues = tuple[float | None, float | None]
"""Of one contrast: within cases (these cases), sign-flip (new cases)."""


class Word(StrEnum):
    """All verdicts there are."""

    CHANGED = "changed these cases"
    SHOWN = "shown for new cases"
    NOT_SHOWN = "not shown"
    TOO_FEW = "too few cases"
    CEILING = "ceiling or floor: cannot show an effect"
    LOST = "lost too many runs"


@dataclass(frozen=True, slots=True)
class Contrast:
    """One primary contrast: its cases in both arms, and the runs it lost."""

    name: str
    cases: tuple[PairedCounts, ...]
    loss: Loss


@dataclass(frozen=True, slots=True)
class Verdict:
    """One word with the answers to both questions behind it.

    ``direction`` is "better", "worse" or None. The p values are Holm's over all contrasts judged together.
    """

    name: str
    word: Word
    direction: str | None
    these_cases: str
    new_cases: str
    these_cases_p: float | None
    new_cases_p: float | None
    reasons: tuple[str, ...]
    next_step: NextStep


@dataclass(frozen=True, slots=True)
class Claims:
    """Directions (-1, 0 = no claim, 1) claimed of one data set, with adjusted p values."""

    these: int
    new: int
    these_p: float | None
    new_p: float | None


def verdicts(
    contrasts: Sequence[Contrast],
    *,
    alpha: float = ALPHA,
    wanted_effect: float = WANTED_EFFECT,
    price: Price | None = None,
    beside: Sequence[PValues] = (),
) -> tuple[Verdict, ...]:
    """Judge all primary contrasts of one report together.

    An effect is claimed on these cases iff the within-case p is at most `alpha`; for new cases iff there are 6 families of
    which 6 moved, the BBB interval excludes 0 and the sign-flip p is at most `alpha`; p values adjusted by Holm over the
    contrasts. A claim must hold in the same direction whatever the undecided and lost runs might have been. Contrasts that lost too
    many runs get no verdict and count in no adjustment.

    Parameters
    ----------
    wanted_effect, price
        For the next step only: the effect that new cases should show, and what a run costs.
    beside
        P values (these cases, new cases) of other primary outcomes, which Holm corrects together with the contrasts'.

    Notes
    -----
    Simulated rates of false claims at 5 to 20 cases and 1 to 5 repeats: new cases at most .036, these cases at most .036.
    """
    kept = [contrast for contrast in contrasts if not contrast.loss.too_many]
    doubtful = any(any(case.unknown) for contrast in kept for case in contrast.cases)
    changes = (list, at_worst, at_best) if doubtful else (list,)
    ends = [_claims([list(change(contrast.cases)) for contrast in kept], alpha, beside) for change in changes]
    judged = iter(zip(*ends, strict=True))
    return tuple(
        _lost(contrast, price) if contrast.loss.too_many else _judge(contrast, next(judged), (alpha, wanted_effect, price))
        for contrast in contrasts
    )


def claims(cases: Sequence[PairedCounts], alpha: float = ALPHA) -> Claims:
    """What one contrast alone claims, its undecided runs left out."""
    return _claims([list(cases)], alpha)[0]


def claimed(cases: Sequence[PairedCounts], p: PValues, alpha: float = ALPHA) -> Claims:
    """What one contrast claims at these (adjusted) p values, its undecided runs left out."""
    pairs = [case for case in cases if case.complete]
    return Claims(_these_direction(pairs, p[0], alpha), _new_direction(new_cases(pairs, 1 - alpha), p[1], alpha), *p)


def _claims(data: list[list[PairedCounts]], alpha: float, beside: Sequence[PValues] = ()) -> list[Claims]:
    pairs = [[case for case in cases if case.complete] for cases in data]
    these_p = holm([*(within_case(cases) if cases else None for cases in pairs), *(p for p, _ in beside)])
    new_p = holm([*(new_cases(cases, 1 - alpha).sign_flip_p for cases in pairs), *(p for _, p in beside)])
    return [claimed(cases, (these, new), alpha) for cases, these, new in zip(pairs, these_p, new_p, strict=False)]


def _these_direction(pairs: list[PairedCounts], p: float | None, alpha: float) -> int:
    if p is None or p > alpha + _EQUAL:
        return 0
    shown = _sign(mean([case.difference for case in pairs]))
    tested = _sign(
        sum((case.passed1 - Fraction(case.n1 * (case.passed0 + case.passed1), case.n0 + case.n1) for case in pairs), Fraction(0))
    )
    return shown if shown == tested else 0


def _new_direction(result: NewCases, p: float | None, alpha: float) -> int:
    if p is None or p > alpha + _EQUAL or result.difference is None or result.interval.reason or not result.interval.excludes(0):
        return 0
    return _sign(result.difference)


def _judge(contrast: Contrast, ends: tuple[Claims, ...], rules: tuple[float, float, Price | None]) -> Verdict:
    alpha, wanted_effect, price = rules
    main = ends[0]
    these, new = _same([end.these for end in ends]), _same([end.new for end in ends])
    pairs = [case for case in contrast.cases if case.complete]
    clusters = new_cases(pairs, 1 - alpha).clusters
    word = _word(these, new, clusters, pairs, alpha)
    turned = these != main.these or new != main.new or any((end.these, end.new) != (main.these, main.new) for end in ends)
    reasons = _reasons(word, pairs, clusters) + ((f"{kinds_unknown(contrast.cases)} runs could change the verdict",) if turned else ())
    return Verdict(
        contrast.name,
        word,
        {1: "better", -1: "worse"}.get(new or these),
        "changed" if these else "not shown",
        "shown" if new else "too few cases" if clusters < FEWEST_CASES else "not shown",
        main.these_p,
        main.new_p,
        reasons,
        settle(contrast.cases, price) if turned else _next_step(word, pairs, wanted_effect, price),
    )


def _word(these: int, new: int, clusters: int, pairs: list[PairedCounts], alpha: float) -> Word:
    if new:
        return Word.SHOWN
    if these:
        return Word.CHANGED
    if not _attainable([replace(case, passed0=0, passed1=case.n1) for case in pairs], alpha):
        return Word.TOO_FEW
    if not any(case.passed0 + case.passed1 for case in pairs):
        return Word.CEILING
    if not _attainable([replace(case, passed1=case.n1) for case in pairs], alpha):
        return Word.CEILING
    return Word.TOO_FEW if clusters < FEWEST_CASES else Word.NOT_SHOWN


def _attainable(best: list[PairedCounts], alpha: float) -> bool:
    """Whether even the best outcome with the skill would have been a claim about these cases."""
    return within_case(best) <= alpha + _EQUAL


def _reasons(word: Word, pairs: list[PairedCounts], clusters: int) -> tuple[str, ...]:
    if not pairs:
        return (NO_PAIR,)
    moved = sum(case.difference != 0 for case in pairs)
    told = [f"{moved} of {len(pairs)} cases moved" if moved else "no case moved"]
    if word is Word.CEILING:
        passes = any(case.passed0 + case.passed1 for case in pairs)
        told.append("the baseline passes nearly everything: no room for an effect" if passes else "no run passes in either arm")
    elif word is not Word.SHOWN and min(clusters, moved) < FEWEST_CASES:
        told.append(f"{TOO_FEW}: {FEWEST_CASES} must move")
    return tuple(told)


def _next_step(word: Word, pairs: list[PairedCounts], wanted: float, price: Price | None) -> NextStep:
    if word is Word.SHOWN:
        return NextStep("nothing to add; confirm on held-out cases")
    if word is Word.CEILING:
        return NextStep("use cases that the baseline sometimes passes and sometimes fails; more of the same can show nothing")
    repeats = max((min(case.n0, case.n1) for case in pairs), default=3)
    needed = cases_needed(pilot(pairs) or _guess(wanted), wanted, repeats)
    further = more_kinds(pairs, wanted, needed, repeats, price)
    if further is not None:
        return further
    text = f"to show an effect of {wanted:g} for new cases, plan a fresh set of {needed} cases x {repeats} repeats"
    return NextStep(text, needed, bill(2 * needed * repeats, price))


def _guess(wanted: float) -> Spread:
    return stated(0.5 - wanted / 2, wanted)


def _lost(contrast: Contrast, price: Price | None) -> Verdict:
    lost = contrast.loss.lost0 + contrast.loss.lost1
    step = NextStep(f"mend the cause and repeat {these(lost, 'lost')}", None, bill(lost, price))
    reasons = (contrast.loss.reason or "",)
    return Verdict(contrast.name, Word.LOST, None, "no verdict", "no verdict", None, None, reasons, step)


def _same(directions: list[int]) -> int:
    return directions[0] if len(set(directions)) == 1 else 0


def _sign(value: Fraction) -> int:
    return (value > 0) - (value < 0)
