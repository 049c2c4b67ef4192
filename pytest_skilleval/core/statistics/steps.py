"""What to do next: a step in words, with its size and price."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_skilleval.core.statistics.planning import Bill, Price, bill
from pytest_skilleval.core.statistics.values import PairedCounts


@dataclass(frozen=True, slots=True)
class NextStep:
    """What would move the question on: fresh cases (in all, not in addition), runs, and their bill; None where nothing is to buy."""

    text: str
    cases: int | None = None
    bill: Bill | None = None


def kinds_unknown(cases: Sequence[PairedCounts]) -> str:
    """Which kinds of run without a verdict there are, in words."""
    undecided, lost = _sums(cases)
    return " or ".join([*(["undecided"] if undecided else []), *(["lost"] if lost else [])])


def settle(cases: Sequence[PairedCounts], price: Price | None) -> NextStep:
    """Find out what the runs without a verdict would have shown; only lost ones cost anything."""
    undecided, lost = _sums(cases)
    what = [*([f"decide {these(undecided, 'undecided')}"] if undecided else []), *([f"repeat {these(lost, 'lost')}"] if lost else [])]
    return NextStep(f"{' and '.join(what)}: the verdict hangs on it", None, bill(lost, price) if lost else None)


def these(runs: int, kind: str) -> str:
    """Some runs, as the object of a sentence."""
    return f"the {kind} run" if runs == 1 else f"the {runs} {kind} runs"


def _sums(cases: Sequence[PairedCounts]) -> tuple[int, int]:
    return sum(case.undecided0 + case.undecided1 for case in cases), sum(case.lost0 + case.lost1 for case in cases)
