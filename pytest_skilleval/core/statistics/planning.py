"""How many cases and repeats an evaluation needs, what it can show, and what it costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, variance

from pytest_skilleval.core.statistics.paired import FEWEST_CASES
from pytest_skilleval.core.statistics.proportions import newcombe
from pytest_skilleval.core.statistics.values import LEVEL, PairedCounts

POWER = 0.8
EXTRA_CASES = 3
"""What the rule for new cases (BBB and sign-flip, six moved cases) needs beyond a t test: 1 to 6 in simulations."""


@dataclass(frozen=True, slots=True)
class Spread:
    """What decides the size of an evaluation.

    ``omega2`` is the variance of the true case effects, ``within`` those of one run of a case in arms 0 and 1.
    """

    rate0: float
    rate1: float
    within: tuple[float, float]
    omega2: float
    source: str

    def variance(self, repeats: int) -> float:
        """Variance of one case difference: omega2 + (within0 + within1) / repeats."""
        return self.omega2 + sum(self.within) / repeats


def stated(rate0: float, effect: float, icc: float = 1 / 3, correlation: float = 0.6) -> Spread:
    """Spread from guesses: the rate without the skill, the effect, and how unlike cases are.

    Parameters
    ----------
    icc
        Share of the variance that lies between cases, in [0, 1).
    correlation
        Between a case's two rates.
    """
    rate1 = rate0 + effect
    if not (0 < rate0 < 1 and 0 <= rate1 <= 1 and 0 <= icc < 1):
        raise ValueError(f"no such rates: {rate0} without, {rate1} with, icc {icc}")
    total0, total1 = rate0 * (1 - rate0), rate1 * (1 - rate1)
    omega2 = icc * (total0 + total1 - 2 * correlation * math.sqrt(total0 * total1))
    return Spread(rate0, rate1, ((1 - icc) * total0, (1 - icc) * total1), omega2, "stated guesses")


def pilot(pairs: Sequence[PairedCounts]) -> Spread | None:
    """Spread measured on recorded runs; None below 6 cases with 2 runs in both arms, or when nothing varied at all.

    omega2 = variance of the case differences less the part that run noise explains (not below 0).
    """
    usable = [case for case in pairs if min(case.n0, case.n1) >= 2]
    if len(usable) < FEWEST_CASES:
        return None
    arms = [[case.arm(which) for case in usable] for which in (0, 1)]
    noise = [[float(arm.share * (1 - arm.share)) / (arm.n - 1) for arm in counts] for counts in arms]
    within0, within1 = (fmean(v * arm.n for v, arm in zip(vs, counts, strict=True)) for vs, counts in zip(noise, arms, strict=True))
    rate0, rate1 = (fmean(float(arm.share) for arm in counts) for counts in arms)
    omega2 = variance(float(case.difference) for case in usable) - fmean(noise[0]) - fmean(noise[1])
    spread = Spread(rate0, rate1, (within0, within1), max(0.0, omega2), f"pilot of {len(usable)} cases")
    return spread if spread.variance(1) > 0 else None


def cases_needed(spread: Spread, effect: float, repeats: int, power: float = POWER, level: float = LEVEL) -> int:
    """Cases for `power` to show `effect` for new cases.

    K = (z_level + z_power)^2 V / effect^2 (1 + .1 / repeats) + 2 + 3, at least 8.

    Notes
    -----
    The first part is Miller's formula with the correction of a t test, the rest was fitted to simulations of the rule:
    against the simulated need in the settings shift, hetero, bimodal, ceiling and near at effects .2, .3, .5 and 1 to 10
    repeats it is off by at most 4 cases.

    References
    ----------
    Miller 2024, arXiv 2411.00640.
    """
    if not effect:
        raise ValueError("an effect of 0 can't be shown by any number of cases")
    needed = _factor(power, level) * spread.variance(repeats) / effect**2 * (1 + 0.1 / repeats)
    return max(FEWEST_CASES + 2, math.ceil(needed + 2 + EXTRA_CASES))


def detectable_effect(spread: Spread, cases: int, repeats: int, power: float = POWER, level: float = LEVEL) -> float | None:
    """The smallest effect that so many cases show with `power`, at this spread; None below 8 cases or above 1."""
    if cases < FEWEST_CASES + 2:
        return None
    variance_ = spread.variance(repeats) * (1 + 0.1 / repeats)
    effect = math.sqrt(_factor(power, level) * variance_ / (cases - 2 - EXTRA_CASES))
    return effect if effect <= 1 else None


def width_here(spread: Spread, effect: float, cases: int, repeats: int, level: float = LEVEL) -> float | None:
    """Width to expect of the interval for these cases: Newcombe's at the rates that `effect` means; None without a run."""
    rate0, rate1, *_ = _shape(spread, effect)
    runs = cases * repeats
    low, high = newcombe(rate1 * runs, runs, rate0 * runs, runs, level).limits
    return None if low is None or high is None else high - low


def expected_width(spread: Spread, cases: int, repeats: int, level: float = LEVEL) -> float | None:
    """Width to expect of the interval for new cases (that of a t interval, which BBB's equals within a few percent); None below 3 cases."""
    if cases < 3:
        return None
    from scipy.stats import t

    return min(2.0, 2 * float(t.ppf((1 + level) / 2, cases - 1)) * math.sqrt(spread.variance(repeats) / cases))


@dataclass(frozen=True, slots=True)
class Price:
    """What one run costs; None where it isn't known. `at_once` runs go on side by side."""

    money: float | None = None
    seconds: float | None = None
    at_once: int = 1


@dataclass(frozen=True, slots=True)
class Bill:
    """Money and hours of a number of runs."""

    runs: int
    money: float | None
    hours: float | None


def bill(runs: int, price: Price | None) -> Bill:
    """What `runs` runs cost."""
    money = None if price is None or price.money is None else runs * price.money
    hours = None if price is None or price.seconds is None else math.ceil(runs / price.at_once) * price.seconds / 3600
    return Bill(runs, money, hours)


@dataclass(frozen=True, slots=True)
class Outlook:
    """What an evaluation of a given size can show of a wanted effect, and its bill.

    ``power_these_cases``, ``power_new_cases`` and ``too_few`` (fewer than six moved cases) are simulated on Beta-distributed cases of this
    spread; the others follow from formulas.
    """

    cases: int
    repeats: int
    effect: float
    source: str
    cases_needed: int
    detectable_effect: float | None
    expected_width: float | None
    power_these_cases: float
    power_new_cases: float
    too_few: float
    bill: Bill


def outlook(
    spread: Spread,
    effect: float,
    *,
    cases: int,
    repeats: int,
    arms: int = 2,
    price: Price | None = None,
    random_seed: int = 1,
    datasets: int = 2000,
) -> Outlook:
    """What `cases` x `repeats` runs per arm can show of `effect`; deterministic for a random seed.

    The chances come from `datasets` simulated evaluations: Monte-Carlo error at most .011 at 2000, .016 at 1000.
    """
    from pytest_skilleval.core.statistics.simulate import beta_population, power

    rate0, rate1, icc, correlation = _shape(spread, effect)
    population = beta_population(rate0, rate1, 1 / icc - 1, correlation)
    chances = power(population, effect, cases=cases, repeats=repeats, random_seed=random_seed, datasets=datasets)
    return Outlook(
        cases=cases,
        repeats=repeats,
        effect=effect,
        source=spread.source,
        cases_needed=cases_needed(spread, effect, repeats),
        detectable_effect=detectable_effect(spread, cases, repeats),
        expected_width=expected_width(spread, cases, repeats),
        power_these_cases=chances.changed_these_cases,
        power_new_cases=chances.shown_for_new_cases,
        too_few=chances.too_few_moved,
        bill=bill(cases * repeats * arms, price),
    )


def _shape(spread: Spread, effect: float) -> tuple[float, float, float, float]:
    """Means, intraclass correlation and correlation of Beta-distributed cases with this spread and effect."""
    rate0 = min(0.97, max(0.03, spread.rate0, 0.03 - effect), 0.97 - effect)
    total = sum(rate * (1 - rate) for rate in (spread.rate0, spread.rate1))
    icc = min(0.95, max(0.02, 1 - sum(spread.within) / total if total else 0.5))
    between = [icc * rate * (1 - rate) for rate in (rate0, rate0 + effect)]
    correlation = (sum(between) - spread.omega2) / (2 * math.sqrt(between[0] * between[1]))
    return rate0, rate0 + effect, icc, min(0.95, max(-0.9, correlation))


def _factor(power: float, level: float) -> float:
    from scipy.stats import norm

    return float((norm.ppf((1 + level) / 2) + norm.ppf(power)) ** 2)
