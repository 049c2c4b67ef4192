"""A verdict in plain words, and what to do next."""

from __future__ import annotations

from pytest_skilleval.core.statistics.planning import Bill
from pytest_skilleval.core.statistics.verdict import Verdict, Word
from pytest_skilleval.report import numbers, verdicts, words
from pytest_skilleval.report.comparisons import Comparison
from pytest_skilleval.report.verdicts import Judgement


def sentence(one: Comparison, judgement: Judgement) -> str:
    """The verdict with its number, limits and size; the limits are those of the cases the sentence speaks of."""
    if judgement.found is None:
        return f"no verdict: {judgement.why_none}.{_seen(one)}"
    return _of_verdict(one, judgement.found)


def next_step(judgement: Judgement) -> str | None:
    """What would bring the answer nearer, with its price where one is known; None for exploratory comparisons."""
    if judgement.found is not None:
        step = judgement.found.next_step
        return f"{step.text}{_price(step.bill)}{step.then}{_price(step.whole)}"
    if judgement.why_none == verdicts.SIMULATED:
        return "run it with a real agent and a live model, for example --skill-agent=claude-code"
    return "run the whole plan: without -k, -m, -x, --lf or node ids" if judgement.why_none == verdicts.PARTIAL else None


def _of_verdict(one: Comparison, found: Verdict) -> str:
    worse = found.direction == "worse"
    match found.word:
        case Word.SHOWN:
            return f"{'WORSE' if worse else 'shown'} for new cases{_here_too(found)}: {_both(one)}."
        case Word.CHANGED:
            return f"{'WORSE on' if worse else 'shown for'} these cases, not for new ones: {_here(one)}."
        case Word.NOT_SHOWN:
            return f"not shown: {_here(one)} may be chance; {found.reasons[0]}."
        case Word.TOO_FEW:
            return f"not shown, there are too few cases to tell: {_here(one)}; {found.reasons[0]}."
        case Word.CEILING:
            return f"these cases can't show one: {'; '.join(found.reasons)}.{_seen(one)}"
        case Word.LOST:
            return f"no verdict, too many runs are lost: {'; '.join(found.reasons)}."


def _seen(one: Comparison) -> str:
    return f" Seen: {_here(one)}." if one.found.cases else " No case has a run with a verdict in both arms."


def _here(one: Comparison) -> str:
    return f"{_points(one)} {words.points_span(numbers.these_cases(one.found))} ({_size(one)})"


def _here_too(found: Verdict) -> str:
    """Small gains in many cases may show an effect for new cases and leave open whether chance made that of these."""
    return " and these" if found.these_cases == "changed" else ", while on these alone it may be chance"


def _both(one: Comparison) -> str:
    """Both questions; the average for new cases counts a family once, so it need not be that of these cases."""
    new = numbers.new_cases(one.found.new_cases)
    further = f"{words.points(new.difference)} {words.points_span(new)} on new ones"
    return f"{further}, {_points(one)} {words.points_span(numbers.these_cases(one.found))} on these ({_size(one)})"


def _points(one: Comparison) -> str:
    return words.points(None if one.found.difference is None else float(one.found.difference))


def _size(one: Comparison) -> str:
    runs = [n for case in one.counts if case.complete for n in (case.n0, case.n1)]
    return f"{words.plural(one.found.cases, 'case')} x {words.between(min(runs, default=0), max(runs, default=0))}"


def _price(bill: Bill | None) -> str:
    if bill is None:
        return ""
    parts = [words.number(bill.money, "$")] if bill.money else []
    if bill.hours:
        parts.append(f"{words.number(bill.hours, 'h')} one after another")
    return f" (about {', '.join(parts)})" if parts else ""
