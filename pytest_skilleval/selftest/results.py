"""Over many sessions of one standard: bias, coverage, false claims, and whether what is promised was kept."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pytest_skilleval.core.statistics.proportions import clopper_pearson
from pytest_skilleval.core.statistics.verdict import Word
from pytest_skilleval.selftest.findings import Answer, Found
from pytest_skilleval.selftest.standards import QUESTIONS, Question, Standard

State = Literal["kept", "open", "broken"]

LEAST_COVERAGE = 0.93
MOST_FALSE = 0.05
MOST_BIAS = 4.0
"""In standard errors of the mean: by chance once in 16,000."""
FEWEST_FOR_BIAS = 30
"""Sessions from which on a bias is said not to be there."""
LEVELS = (0.01, 0.05, 0.1, 0.25, 0.5)


@dataclass(frozen=True, slots=True)
class Rate:
    """`count` of `n` sessions with exact limits, each of which holds with 95 % by itself."""

    count: int
    n: int

    @property
    def value(self) -> float | None:
        """The share; None of nothing."""
        return self.count / self.n if self.n else None

    @property
    def limits(self) -> tuple[float, float]:
        """Lower and upper 95 % limit; everything is possible where nothing was seen."""
        if not self.n:
            return 0.0, 1.0
        found = clopper_pearson(self.count, self.n, 0.9)
        assert found.low is not None
        assert found.high is not None
        return found.low, found.high

    def to_json(self) -> dict[str, Any]:
        """As ``--json`` prints it."""
        low, high = self.limits
        return {"count": self.count, "n": self.n, "value": self.value, "low": low, "high": high}


@dataclass(frozen=True, slots=True)
class Promise:
    """One promise. ``open``: not broken for all one knows, and more sessions are needed to be sure."""

    text: str
    state: State


@dataclass(frozen=True, slots=True)
class Calibration:
    """Of a null: the share of sessions whose p is at most each of `LEVELS`. An honest test keeps each share at or below its level."""

    shares: tuple[Rate, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """All figures of one standard.

    ``bias`` and its standard error are those of the difference found against the true one of the same session. ``calls``
    is the number of model calls for each right claim of an effect, None where there is no effect or no claim.
    """

    standard: Standard
    sessions: int
    found: float | None
    bias: float | None
    bias_error: float | None
    covered: dict[Question, Rate]
    claimed: dict[Question, Rate]
    false: dict[Question, Rate]
    lost: Rate
    verdicts: dict[str, int]
    calls: float | None
    calibration: dict[Question, Calibration]
    promises: tuple[Promise, ...]

    @property
    def state(self) -> State:
        """The worst of its promises."""
        states = {promise.state for promise in self.promises}
        return "broken" if "broken" in states else "open" if "open" in states else "kept"

    def to_json(self) -> dict[str, Any]:
        """As ``--json`` prints it."""
        rates = {name: {of: rate.to_json() for of, rate in getattr(self, name).items()} for name in ("covered", "claimed", "false")}
        curves = {
            of: {str(level): rate.to_json() for level, rate in zip(LEVELS, curve.shares, strict=True)}
            for of, curve in self.calibration.items()
        }
        return {
            "standard": self.standard.name,
            "sessions": self.sessions,
            "truth": self.standard.effect,
            "found": self.found,
            "bias": self.bias,
            "bias_error": self.bias_error,
            **rates,
            "lost": self.lost.to_json(),
            "verdicts": self.verdicts,
            "calls_per_claim": self.calls,
            "calibration": curves,
            "promises": [{"text": promise.text, "state": promise.state} for promise in self.promises],
            "state": self.state,
        }


def result(standard: Standard, sessions: Sequence[Found]) -> Result:
    """Sum up the sessions of one standard."""
    bias, error = _bias(sessions)
    differences = [one.difference for one in sessions if one.difference is not None]
    covered = {question: coverage(sessions, question) for question in QUESTIONS}
    false = {question: share([answer.false for answer in _answers(sessions, question)]) for question in QUESTIONS}
    return Result(
        standard=standard,
        sessions=len(sessions),
        found=math.fsum(differences) / len(differences) if differences else None,
        bias=bias,
        bias_error=error,
        covered=covered,
        claimed={question: share([answer.claim != 0 for answer in _answers(sessions, question)]) for question in QUESTIONS},
        false=false,
        lost=share([one.verdict == Word.LOST for one in sessions]),
        verdicts=dict(sorted(Counter(one.verdict or "none" for one in sessions).items())),
        calls=_calls(sessions),
        calibration=_calibrations(standard, sessions),
        promises=(*_false_promises(false), *(_fair_promises(covered, bias, error, len(differences)) if standard.fair else ())),
    )


def _false_promises(false: dict[Question, Rate]) -> list[Promise]:
    return [
        Promise(f"false claims on {question} cases: at most {MOST_FALSE:g}", _state(rate.limits, at_most=MOST_FALSE))
        for question, rate in false.items()
    ]


def _fair_promises(covered: dict[Question, Rate], bias: float | None, error: float | None, sessions: int) -> list[Promise]:
    return [
        *(
            Promise(f"coverage on {question} cases: at least {LEAST_COVERAGE:g}", _flipped(rate.limits, LEAST_COVERAGE))
            for question, rate in covered.items()
        ),
        Promise(f"bias: within {MOST_BIAS:g} standard errors of 0", _unbiased(bias, error, sessions)),
    ]


def _unbiased(bias: float | None, error: float | None, sessions: int) -> State:
    """As improbable as so many standard errors are where the error itself is known; a few sessions can't show that there is none."""
    from scipy import stats

    if bias is None or error is None:
        return "open"
    if abs(bias) > stats.t.isf(stats.norm.sf(MOST_BIAS), sessions - 1) * error + 1e-9:
        return "broken"
    return "kept" if sessions >= FEWEST_FOR_BIAS else "open"


def _state(limits: tuple[float, float], *, at_most: float) -> State:
    low, high = limits
    return "kept" if high <= at_most else "broken" if low > at_most else "open"


def _flipped(limits: tuple[float, float], at_least: float) -> State:
    low, high = limits
    return _state((1 - high, 1 - low), at_most=1 - at_least)


def _answers(sessions: Sequence[Found], question: Question) -> list[Answer]:
    return [one.answer(question) for one in sessions]


def coverage(sessions: Sequence[Found], question: Question) -> Rate:
    """Of the sessions with an interval, those in which it holds the truth."""
    return share([answer.covered for answer in _answers(sessions, question) if answer.covered is not None])


def share(flags: Sequence[bool]) -> Rate:
    """How many are true."""
    return Rate(sum(flags), len(flags))


def _bias(sessions: Sequence[Found]) -> tuple[float | None, float | None]:
    errors = [one.difference - one.these.truth for one in sessions if one.difference is not None]
    if len(errors) < 2:
        return None, None
    mean = math.fsum(errors) / len(errors)
    variance = math.fsum((error - mean) ** 2 for error in errors) / (len(errors) - 1)
    return mean, math.sqrt(variance / len(errors))


def _calls(sessions: Sequence[Found]) -> float | None:
    right = sum(any(answer.claim and not answer.false for answer in (one.these, one.new)) for one in sessions)
    null = all(one.new.truth == 0 for one in sessions)
    return None if null or not right else sum(one.calls for one in sessions) / right


def _calibrations(standard: Standard, sessions: Sequence[Found]) -> dict[Question, Calibration]:
    """Of the questions that are null in every session."""
    questions = [question for question in QUESTIONS if all(one.answer(question).truth == 0 for one in sessions)]
    return {question: _calibration(_answers(sessions, question)) for question in questions if standard.null}


def _calibration(answers: Sequence[Answer]) -> Calibration:
    known = [answer.p for answer in answers if answer.p is not None]
    return Calibration(tuple(Rate(sum(p <= level + 1e-12 for p in known), len(known)) for level in LEVELS))
