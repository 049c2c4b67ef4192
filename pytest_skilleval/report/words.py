"""Numbers as people read them: one way of writing for terminal, Markdown and HTML."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_skilleval.report.cells import Group
from pytest_skilleval.report.values import Bounds, Document, Effect, Figure, Limits, Rate

UNKNOWN = "not known"

DELIVERED = {
    "bare": "no skills at all",
    "without": "the other skills",
    "sham": "a stand-in",
    "with": "the skill",
    "rules": "its text as instructions",
    "guard": "permission rules, no text",
    "prompted": "the skill, and a human at the prompt",
    "other": "something else",
}


def percent(value: float | None) -> str:
    """0.875 -> "88 %"; near 0 and 1 with a digit more, so that nothing rare reads as never."""
    return UNKNOWN if value is None else f"{_percent(value)} %"


def percent_span(limits: Limits | Bounds) -> str:
    """Limits of a share: "[69, 96]"; empty when there are none."""
    if limits.low is None or limits.high is None:
        return ""
    return f"[{_percent(limits.low)}, {_percent(limits.high)}]"


def points(value: float | None) -> str:
    """0.375 -> "+38 points"."""
    return UNKNOWN if value is None else f"{_signed(value)} points"


def points_span(limits: Limits | Bounds) -> str:
    """Limits of a difference of shares: "[+11, +58]"; empty when there are none."""
    if limits.low is None or limits.high is None:
        return ""
    return f"[{_signed(limits.low)}, {_signed(limits.high)}]"


def share(figure: Figure) -> str:
    """A share of runs or cases with its limits: "88 % [69, 96]"."""
    return f"{percent(figure.value)} {percent_span(figure)}".strip()


def number(value: float | None, unit: str = "") -> str:
    """An amount with three significant digits: "$0.051", "41.3 s", "1,240"."""
    if value is None:
        return UNKNOWN
    if unit == "$":
        return f"{'-' if value < 0 else ''}${_money(abs(value))}"
    text = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{text} {unit}".strip()


def amount(value: float | None, unit: str) -> str:
    """One amount in its unit; shares as percent."""
    return percent(value) if unit == "share" else number(value, unit)


def difference(figure: Figure, unit: str) -> str:
    """A difference of amounts with its limits, or why there is none."""
    if unit == "share":
        return f"{points(figure.value)} {points_span(figure) or f'({figure.reason})'}"
    change = number(figure.value, unit) if figure.value is None or figure.value < 0 else f"+{number(figure.value, unit)}"
    if figure.low is None or figure.high is None:
        return f"{change} ({figure.reason})"
    return f"{change} [{number(figure.low, unit)}, {number(figure.high, unit)}]"


def p_value(p: float | None) -> str:
    """A p value as text, never as 0."""
    if p is None:
        return "no p"
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.4f}" if p < 0.001 else f"p = {p:.3f}"


def group(agent: str, model: str) -> str:
    """An agent with its model."""
    return agent if model == "default" else f"{agent} {model}"


def arm(document: Document, name: str, agent: str, model: str) -> str:
    """An arm, with agent and model where the report has several."""
    several = len({(rate.agent, rate.model) for rate in document.rates}) > 1
    return f"{name} ({group(agent, model)})" if several else name


def named(one: Group) -> str:
    """A group's name."""
    return group(one.agent, one.model)


def plural(count: int, noun: str) -> str:
    """A count with its noun."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def size(rate: Rate) -> str:
    """How many runs passed: "21 of 24"."""
    return f"{rate.passed} of {rate.scored}"


def per_case_runs(effect: Effect) -> str:
    """Cases times repeats: "8 cases x 3", "8 cases x 2-3"."""
    runs = [one.scored for row in effect.per_case if row.difference is not None for one in (row.from_, row.to)]
    return f"{plural(effect.cases, 'case')} x {between(min(runs, default=0), max(runs, default=0))}"


def between(fewest: int, most: int) -> str:
    """A number of repeats that may vary: "3", "2-3"."""
    return str(most) if fewest == most else f"{fewest}-{most}"


def listing(items: Sequence[str], limit: int = 3) -> str:
    """Up to `limit` items, then how many more."""
    shown = ", ".join(items[:limit])
    return shown if len(items) <= limit else f"{shown} and {len(items) - limit} more"


def distinct(effects: Sequence[Effect]) -> list[Effect]:
    """Effects without those over "all" cases where strata tell more."""
    split = {_who(effect) for effect in effects if effect.expects != "all"}
    return [effect for effect in effects if effect.expects != "all" or _who(effect) not in split]


def _who(effect: Effect) -> tuple[str, str, str, str, str]:
    return effect.from_, effect.to, effect.agent, effect.model, effect.kind


def _money(value: float) -> str:
    return f"{value:,.2f}" if value >= 0.1 or not value else f"{value:.3f}"


def _percent(value: float) -> str:
    return f"{100 * value:.1f}" if 0 < value < 0.01 or 0.99 < value < 1 else f"{100 * value:.0f}"


def _signed(value: float) -> str:
    return f"{round(100 * value):+d}" if round(100 * value) else "0"
