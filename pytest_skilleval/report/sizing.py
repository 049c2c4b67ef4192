"""``skilleval plan`` in words: what a spec can show as it stands, and what other sizes could."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_skilleval.core.statistics.planning import Bill, Outlook, Price, bill
from pytest_skilleval.core.statistics.sizes import Sizing
from pytest_skilleval.report import words
from pytest_skilleval.report.values import BANNER

if TYPE_CHECKING:
    from pytest_skilleval.core.spec import Spec

WANTED = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """The size of a spec's evaluation and the outlook at it.

    ``cases`` are those that the headline is about, in ``families`` families; ``all_runs`` counts every run of the session,
    at the price ``whole``.
    """

    skill: str
    cases: int
    families: int
    arms: int
    agents: tuple[tuple[str, str], ...]
    all_runs: int
    whole: Price
    priced_by: str
    simulated: bool
    notes: tuple[str, ...]
    effect: float
    sizing: Sizing


def families(spec: Spec, cases: Sequence[str]) -> int:
    """What counts as one for new cases: families, and cases without one."""
    return len({spec.case(case).family or ("", case) for case in cases})


def sizing_lines(size: Size) -> Iterator[str]:
    """The plan for a terminal."""
    if size.simulated:
        yield f"{BANNER}: the pilot's rates are those of a script"
    yield from _head(size)
    yield from _present(size)
    yield from _needs(size)
    yield from _table(size)
    yield size.priced_by


def _head(size: Size) -> Iterator[str]:
    present = size.sizing.present
    who = words.listing([words.group(*one) for one in size.agents])
    families = "1 family" if size.families == 1 else f"{size.families} families"
    yield (
        f"{size.skill}: {words.plural(size.cases, 'case')} to improve in {families} x "
        f"{words.plural(present.repeats, 'repeat')} x {words.plural(size.arms, 'arm')}, {who}"
    )
    yield f"  as it stands: {words.plural(size.all_runs, 'run')} with all other cases, {cost(bill(size.all_runs, size.whole))}"
    spread = size.sizing.spread
    yield f"  assumed: {words.percent(spread.rate0)} pass without the skill ({spread.source})"
    if size.families < size.cases:
        yield f"  for new cases a family counts as one case, so this looks at {size.families}; on these cases it errs on the low side"
    yield from (f"  note: {note}" for note in size.notes)


def _present(size: Size) -> Iterator[str]:
    present, wanted = size.sizing.present, words.points(size.effect)
    here, further = size.sizing.width_here, present.expected_width
    yield f"If the skill changes pass rates by {wanted}, this size"
    yield f"  shows a change on these cases with a chance of {words.percent(present.power_these_cases)}"
    yield f"  shows the effect for new cases with a chance of {words.percent(present.power_new_cases)}"
    yield f"  ends in 'too few cases' (fewer than six move) with a chance of {words.percent(present.too_few)}"
    yield f"  gives 95 % limits about {_width(here)} wide on these cases, {_width(further)} on new ones"
    if present.detectable_effect is None:
        yield "  can show no effect for new cases in 4 of 5 evaluations: below 8 kinds of case, none is large enough"
    else:
        yield f"  shows for new cases, in 4 of 5 evaluations, an effect of {words.points(present.detectable_effect)} or more"


def _needs(size: Size) -> Iterator[str]:
    yield f"To show {words.points(size.effect)} for new cases in 4 of 5 evaluations"
    for need in size.sizing.needs:
        yield f"  {need.cases:>4} cases x {need.repeats:<2}  {words.plural(need.bill.runs, 'run')}, {cost(need.bill)}"


def _table(size: Size) -> Iterator[str]:
    table = size.sizing.table
    repeats = sorted({one.repeats for one in table})
    yield f"Chance to show {words.points(size.effect)}, for new cases / on these cases (* from 80 % for new cases), and money"
    yield "  cases" + "".join(f"{words.plural(many, 'repeat'):>17}" for many in repeats)
    for cases in sorted({one.cases for one in table}):
        yield f"  {cases:>5}" + "".join(f"{_cell(size.sizing.at(cases, many)):>17}" for many in repeats)


def _cell(one: Outlook) -> str:
    star = "*" if one.power_new_cases >= WANTED else ""
    money = f" {words.number(round(one.bill.money), '$').removesuffix('.00')}" if one.bill.money else ""
    return f"{star}{100 * one.power_new_cases:.0f}/{100 * one.power_these_cases:.0f} %{money}"


def cost(one: Bill) -> str:
    """``about $14.40 and 2.1 h``."""
    parts = [words.number(one.money, "$")] if one.money else []
    parts += [f"{one.hours:.1f} h" if one.hours >= 1 else f"{60 * one.hours:.0f} min"] if one.hours is not None else []
    return f"about {' and '.join(parts)}" if parts else "price not known"


def _width(width: float | None) -> str:
    return words.UNKNOWN if width is None else f"{100 * width:.0f} points"
