"""The verdict in words: one rule, one test."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stat_writing import written

from pytest_skilleval.core.statistics.missing import Loss, loss
from pytest_skilleval.core.statistics.planning import Price
from pytest_skilleval.core.statistics.values import PairedCounts
from pytest_skilleval.core.statistics.verdict import Contrast, Verdict, Word, verdicts

Pairs = tuple[PairedCounts, ...]
NONE_LOST = loss(0, 24, 0, 24)


def _pairs(without: list[int], with_: list[int], repeats: int, undecided1: int = 0, family: str | None = None) -> Pairs:
    rows = enumerate(zip(without, with_, strict=True))
    return tuple(PairedCounts(f"case-{i}", a, repeats, b, repeats, family, 0, undecided1) for i, (a, b) in rows)


def _one(cases: Pairs, lost: Loss = NONE_LOST, price: Price | None = None) -> Verdict:
    return verdicts([Contrast("with - without", cases, lost)], price=price)[0]


def test_data_a_changed_these_cases_only(data_a: Pairs) -> None:
    """Four of eight cases moved: clear on these, nothing about new ones."""
    verdict = _one(data_a)
    assert verdict.word is Word.CHANGED
    assert (verdict.direction, verdict.these_cases, verdict.new_cases) == ("better", "changed", "not shown")
    assert "4 of 8 cases moved" in verdict.reasons


def test_data_b_is_shown_for_new_cases(data_b: Pairs) -> None:
    """All eight cases moved far: shown for cases of this kind."""
    assert _one(data_b).word is Word.SHOWN


def test_a_loss_is_told_as_worse() -> None:
    """The same strength of evidence in the other direction is the same word with the other direction."""
    verdict = _one(_pairs([5] * 8, [1] * 8, 5))
    assert (verdict.word, verdict.direction) == (Word.SHOWN, "worse")


@pytest.mark.parametrize(
    ("without", "with_", "repeats", "word"),
    [
        ([3] * 8, [3] * 8, 3, Word.CEILING),
        ([0] * 8, [0] * 8, 3, Word.CEILING),
        ([3] * 7 + [2], [3] * 8, 3, Word.CEILING),
        ([1] * 8, [1] * 8, 3, Word.NOT_SHOWN),
        ([2, 1] * 4, [1, 2] * 4, 3, Word.NOT_SHOWN),
        ([0, 0], [2, 2], 2, Word.TOO_FEW),
        ([0], [3], 3, Word.TOO_FEW),
        ([1] * 5, [2] * 5, 3, Word.TOO_FEW),
        ([], [], 3, Word.TOO_FEW),
        ([0] * 3, [3] * 3, 3, Word.CHANGED),
        ([0], [4], 4, Word.CHANGED),
    ],
)
def test_the_word_for_degenerate_data(without: list[int], with_: list[int], repeats: int, word: Word) -> None:
    """Ceilings, floors, ties and tiny sets each get their own word, never an effect."""
    verdict = _one(_pairs(without, with_, repeats))
    assert verdict.word is word
    assert verdict.reasons


def test_too_many_lost_runs_forbid_a_verdict(data_b: Pairs) -> None:
    """However clear the data, lost runs come first, and the next step is to repeat them."""
    verdict = _one(data_b, loss(5, 40, 0, 40), Price(0.5))
    assert (verdict.word, verdict.these_cases, verdict.new_cases) == (Word.LOST, "no verdict", "no verdict")
    assert verdict.next_step.bill is not None
    assert (verdict.next_step.bill.runs, verdict.next_step.bill.money) == (5, 2.5)


def test_undecided_runs_that_could_undo_an_effect_forbid_it() -> None:
    """An effect is told only if it holds whatever the undecided runs were."""
    clear, doubtful = _pairs([0] * 8, [3] * 8, 3), _pairs([0] * 8, [3] * 8, 3, undecided1=9)
    assert _one(clear).word is Word.SHOWN
    assert _one(doubtful).word is not Word.SHOWN
    assert "undecided runs could change the verdict" in _one(doubtful).reasons
    assert "undecided" in _one(doubtful).next_step.text


def test_lost_runs_that_could_undo_an_effect_forbid_it() -> None:
    """However few are lost: an effect is told only if it holds whatever they would have shown; the next step is to repeat them, priced."""
    whole = [PairedCounts(str(place), 0, 3, 1, 3) for place in range(8)]
    one_lost = [replace(case, lost1=1) if case.case == "0" else case for case in whole]
    (clear,) = verdicts([Contrast("", tuple(whole), loss(0, 24, 0, 24))])
    (doubtful,) = verdicts([Contrast("", tuple(one_lost), loss(0, 24, 1, 25))], price=Price(0.5))
    assert (clear.word, doubtful.word) == (Word.SHOWN, Word.CHANGED)
    assert doubtful.reasons[-1] == "lost runs could change the verdict"
    assert doubtful.next_step.text == "repeat the lost run: the verdict hangs on it"
    assert doubtful.next_step.bill is not None
    assert doubtful.next_step.bill.money == 0.5


def test_one_family_is_no_evidence_for_new_cases() -> None:
    """Eight prompts of one runbook entry may change these cases and show nothing about others."""
    verdict = _one(_pairs([0] * 8, [3] * 8, 3, family="prune"))
    assert (verdict.word, verdict.new_cases) == (Word.CHANGED, "too few cases")


def test_more_contrasts_make_each_stricter(data_a: Pairs) -> None:
    """Holm over the contrasts: p .0069 survives seven contrasts and not eight."""
    null = Contrast("null", _pairs([1] * 8, [1] * 8, 3), NONE_LOST)
    assert verdicts([Contrast("a", data_a, NONE_LOST), *[null] * 6])[0].word is Word.CHANGED
    assert verdicts([Contrast("a", data_a, NONE_LOST), *[null] * 7])[0].word is Word.NOT_SHOWN


def test_contrasts_without_verdict_adjust_nothing(data_a: Pairs) -> None:
    """A contrast that lost too many runs does not make the others stricter, and the order is kept."""
    lost = Contrast("lost", data_a, loss(20, 24, 0, 24))
    judged = verdicts([lost, Contrast("a", data_a, NONE_LOST), lost])
    assert [verdict.word for verdict in judged] == [Word.LOST, Word.CHANGED, Word.LOST]
    assert judged[1].these_cases_p == pytest.approx(0.00694)


def test_unequal_repeats_make_no_claim_against_the_rows() -> None:
    """Where the pooled test and the mean of the rows disagree in direction, nothing is claimed."""
    cases = (PairedCounts("a", 0, 1, 1, 1), PairedCounts("b", 0, 1, 1, 1), PairedCounts("c", 40, 40, 30, 40))
    verdict = _one(cases)
    assert verdict.direction is None
    assert verdict.these_cases == "not shown"


def test_rows_that_cancel_make_no_claim() -> None:
    """A mean of exactly 0 has no direction, however clear the pooled test."""
    verdict = _one((PairedCounts("a", 0, 1, 1, 1), PairedCounts("b", 40, 40, 0, 40)))
    assert verdict.these_cases_p is not None
    assert verdict.these_cases_p < 0.001
    assert (verdict.direction, verdict.these_cases) == (None, "not shown")


def test_the_next_step_is_priced(data_a: Pairs) -> None:
    """Not shown for new cases: so many cases to add, at this price, and what all of them cost together."""
    step = _one(data_a, price=Price(0.25, 90.0, 3)).next_step
    assert step.cases is not None
    added = step.cases - len(data_a)
    assert step.text == f"not enough kinds of case to promise more: add {added} of new kinds"
    assert step.then == f", and run all {step.cases} x 3 repeats anew to show an effect of 0.3"
    for bill, cases in ((step.bill, added), (step.whole, step.cases)):
        assert bill is not None
        assert bill.runs == 2 * 3 * cases
        assert bill.money == pytest.approx(bill.runs * 0.25)
        assert bill.hours == pytest.approx(bill.runs / 3 * 90 / 3600)


def test_the_next_step_names_families_that_hold_several_cases(data_a: Pairs) -> None:
    """Where a family holds several cases, more of it add no kind: it is named, and as many more are needed."""
    apart, step = (
        _one(data_a).next_step,
        _one(tuple(replace(case, family="disk" if n < 4 else None) for n, case in enumerate(data_a))).next_step,
    )
    assert apart.cases is not None
    assert step.cases == apart.cases + 3
    assert step.text.endswith("of new kinds, not more of disk (4 cases), for a family counts once")


def test_enough_kinds_need_no_more_of_them() -> None:
    """With as many kinds as an effect of that size needs, the step is a fresh set, and adds nothing."""
    step = _one(tuple(PairedCounts(f"case-{n}", n % 2, 3, (n + n // 2) % 2, 3) for n in range(60))).next_step
    assert "plan a fresh set of" in step.text
    assert (step.then, step.whole) == ("", None)


def test_two_equal_arms_rarely_get_an_effect() -> None:
    """Of 150 evaluations without any effect, at most 5 % are told to have one."""
    rng = np.random.default_rng(11)
    rates = rng.uniform(0.05, 0.95, size=(150, 8))
    words = [_one(_pairs(rng.binomial(3, p).tolist(), rng.binomial(3, p).tolist(), 3)).word for p in rates]
    assert words.count(Word.CHANGED) + words.count(Word.SHOWN) <= 0.05 * len(words)


COUNTS = st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 1), st.integers(0, 1))


@given(st.lists(COUNTS, max_size=9))
@settings(max_examples=25, deadline=None)
def test_swapping_the_arms_swaps_the_direction(rows: list[tuple[int, int, int, int]]) -> None:
    """A claim about arms 0 and 1 is the opposite claim about 1 and 0; the verdict is strict JSON."""
    one = _one(tuple(PairedCounts(str(i), a, 3, b, 3, None, u, v) for i, (a, b, u, v) in enumerate(rows)))
    other = _one(tuple(PairedCounts(str(i), b, 3, a, 3, None, v, u) for i, (a, b, u, v) in enumerate(rows)))
    opposite = {"better": "worse", "worse": "better", None: None}
    assert other.direction == opposite[one.direction]
    assert (one.these_cases, one.new_cases) == (other.these_cases, other.new_cases)
    written(one)
