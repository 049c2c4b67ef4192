"""What to do next: a step in words, with its size and price."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_skilleval.core.statistics.planning import Bill, Price, bill
from pytest_skilleval.core.statistics.values import PairedCounts

MOST_NAMED = 2
"""Families that are named as having several cases."""


@dataclass(frozen=True, slots=True)
class NextStep:
    """What would move the question on: fresh cases (in all, not in addition), runs, and their bill; None where nothing is to buy.

    ``then`` goes on where the first part of a step has a price of its own: the rest of the sentence, and what `whole` costs.
    """

    text: str
    cases: int | None = None
    bill: Bill | None = None
    then: str = ""
    whole: Bill | None = None


def kinds_unknown(cases: Sequence[PairedCounts]) -> str:
    """Which kinds of run without a verdict there are, in words."""
    undecided, lost = _sums(cases)
    return " or ".join([*(["undecided"] if undecided else []), *(["lost"] if lost else [])])


def settle(cases: Sequence[PairedCounts], price: Price | None) -> NextStep:
    """Find out what the runs without a verdict would have shown; only lost ones cost anything."""
    undecided, lost = _sums(cases)
    what = [*([f"decide {these(undecided, 'undecided')}"] if undecided else []), *([f"repeat {these(lost, 'lost')}"] if lost else [])]
    return NextStep(f"{' and '.join(what)}: the verdict hangs on it", None, bill(lost, price) if lost else None)


def more_kinds(pairs: Sequence[PairedCounts], wanted: float, needed: int, repeats: int, price: Price | None) -> NextStep | None:
    """Cases of further families to add; None when there are as many families as are needed.

    Those that are there run anew together with the added ones: runs that were looked at before more are planned are tested by no rule.
    """
    families = Counter(case.family for case in pairs if case.family is not None)
    add = needed - len(families) - sum(case.family is None for case in pairs)
    if add <= 0:
        return None
    crowded = [f"{name} ({many} cases)" for name, many in families.most_common(MOST_NAMED) if many > 1]
    beside = f", not more of {' or '.join(crowded)}, for a family counts once" if crowded else ""
    more = f"add {add} of {'a new kind' if add == 1 else 'new kinds'}{beside}"
    cases = len(pairs) + add
    then = f", and run all {cases} x {repeats} repeats anew to show an effect of {wanted:g}"
    added, whole = (bill(2 * many * repeats, price) for many in (add, cases))
    return NextStep(f"not enough kinds of case to promise more: {more}", cases, added, then, whole)


def these(runs: int, kind: str) -> str:
    """Some runs, as the object of a sentence."""
    return f"the {kind} run" if runs == 1 else f"the {runs} {kind} runs"


def _sums(cases: Sequence[PairedCounts]) -> tuple[int, int]:
    return sum(case.undecided0 + case.undecided1 for case in cases), sum(case.lost0 + case.lost1 for case in cases)
