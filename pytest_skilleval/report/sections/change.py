"""Does the skill change what the agent does, and how reliably."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_skilleval.report import calibration, words
from pytest_skilleval.report.sections.shapes import (
    LEVEL,
    Cell,
    Section,
    Span,
    Table,
    columns,
    figure_points,
    figure_span,
    points_span,
    share_span,
)
from pytest_skilleval.report.values import ArmCount, Document, Effect, Figure, Rate, Rung
from pytest_skilleval.report.verdicts import NULL


def change(document: Document) -> Section | None:
    """Pass rates of the arms, their differences, and the cases behind the first one."""
    tables = [*_rates(document), *_effects(document), *_pooled(document), *_ladder(document)]
    if document.effects:
        tables.append(_cases(document.effects[0]))
    sentences = list(_said(document))
    null = list(calibration.null_effects(document))
    sentences += [f"{told[0].upper()}{told[1:]}." for told in map(calibration.told, null)]
    strips = tuple(map(calibration.strip, null))
    title = "Does it change what the agent does?"
    return Section(title, tuple(dict.fromkeys(sentences)), tuple(tables), strips=strips) if tables else None


def reliability(document: Document) -> Section | None:
    """pass^k under its two names."""
    if not document.pass_hat_k:
        return None
    rows = tuple(
        (
            row.arm,
            words.group(row.agent, row.model),
            row.name,
            str(row.k or "unequal"),
            words.between(row.fewest_runs, row.most_runs),
            f"{row.cases} of {row.given}",
            figure_span(row),
        )
        for row in document.pass_hat_k
    )
    return Section(
        "How reliably?",
        ("Compare only rows of one name and one k. n: runs of a case.",),
        (Table(columns("arm", "agent", "figure", "#k", "#n", "#cases", f"share, on new cases {LEVEL}"), rows),),
        folded=True,
    )


def _said(document: Document) -> Iterator[str]:
    """What the primary comparisons say, but for one that is the headline alone; under several models each is named."""
    primary = [effect for effect in document.effects if effect.primary]
    several = len({(effect.agent, effect.model) for effect in primary}) > 1
    for effect in primary if several else primary[1:]:
        who = f" ({words.group(effect.agent, effect.model)})" if several else ""
        yield f"{effect.from_} → {effect.to}{who}: {effect.sentence}"


def _rates(document: Document) -> Iterator[Table]:
    for kind in dict.fromkeys(rate.kind for rate in document.rates):
        rows = tuple(_rate(rate) for rate in document.rates if rate.kind == kind)
        yield Table(
            columns("arm", "agent", "#passed", "#undecided", "#lost", f"on these cases {LEVEL}", f"on new cases {LEVEL}", "worst to best"),
            rows,
            f"Pass rate, {kind} cases (exploratory)",
        )


def _rate(rate: Rate) -> tuple[Cell, ...]:
    return (
        rate.arm,
        words.group(rate.agent, rate.model),
        words.size(rate),
        str(rate.undecided),
        str(rate.errors + rate.void),
        share_span(rate.rate, rate.wilson),
        share_span(rate.rate, rate.new_cases),
        f"{words.percent_span(rate.bounds)} %" if rate.runs > rate.scored else "",
    )


def _effects(document: Document) -> Iterator[Table]:
    if document.effects:
        yield Table(
            columns(
                "comparison",
                "agent",
                "cases",
                "#up/down/same",
                f"on these cases {LEVEL}",
                "#p",
                f"on new cases {LEVEL}",
                "#p",
                "in words",
            ),
            tuple(_effect(effect) for effect in document.effects),
            "Difference in pass rate",
        )


def _effect(effect: Effect) -> tuple[Cell, ...]:
    which = "" if effect.expects == "all" else f", {effect.expects}"
    return (
        f"{effect.from_} → {effect.to}{'' if effect.primary else ' (exploratory)'}",
        words.group(effect.agent, effect.model),
        f"{words.per_case_runs(effect)}, {effect.kind}{which}",
        f"{effect.up} / {effect.down} / {effect.same}",
        points_span(effect.difference, effect.these_cases),
        _p(effect, effect.these_cases.p, effect.holm_p),
        points_span(effect.new_cases.difference, effect.new_cases),
        _p(effect, effect.new_cases.sign_flip_p, effect.holm_sign_flip_p),
        effect.verdict or effect.verdict_reason.partition(":")[0],
    )


def _p(effect: Effect, alone: float | None, corrected: float | None) -> str:
    """The p of a test, and the corrected one that decides, where it is another."""
    if not (effect.primary or effect.verdict_reason == NULL):
        return ""
    told = words.p_value(alone)
    return told if corrected in (None, alone) else f"{told}, corrected {words.p_value(corrected)}"


def _pooled(document: Document) -> Iterator[Table]:
    for one in document.pooled:
        rows: list[tuple[Cell, ...]] = [("average of all", points_span(one.average.difference, one.average))]
        rows += [(words.group(model.agent, model.model), _of_model(model)) for model in one.models]
        drawn = "" if one.between is None else ", drawn to their mean"
        caption = f"{one.from_} → {one.to} under several models, exploratory: {words.plural(one.cases, 'common case')}{drawn}"
        yield Table(columns("agent and model", f"difference on new cases {LEVEL}"), tuple(rows), caption)


def _of_model(model: Figure) -> Cell:
    """The mean over cases where nothing can be pooled."""
    span = points_span(model.value, model)
    return span if isinstance(span, Span) or model.value is None else f"{words.points(model.value)} ({span})"


def _ladder(document: Document) -> Iterator[Table]:
    """Only where there is more to order than a baseline and a treatment."""
    if len({rung.arm for rung in document.ladder}) > 2:
        titles = columns(
            "arm",
            "agent",
            "delivers",
            f"on these cases {LEVEL}",
            f"on new cases {LEVEL}",
            f"against the baseline, on these cases {LEVEL}",
            f"against the baseline, on new cases {LEVEL}",
            f"asks, on these cases {LEVEL}",
        )
        which = "" if document.ladder[0].expects == "all" else f" (cases to {document.ladder[0].expects})"
        yield Table(titles, tuple(map(_rung, document.ladder)), f"Delivery ladder: the same policy delivered otherwise; exploratory{which}")


def _rung(rung: Rung) -> tuple[Cell, ...]:
    asked = rung.asked_first if rung.human_asked is None else rung.human_asked
    return (
        rung.arm,
        words.group(rung.agent, rung.model),
        f"{words.DELIVERED[rung.delivers]}{f' ({rung.detail})' if rung.detail else ''}",
        figure_span(rung.these_cases),
        figure_span(rung.new_cases),
        "baseline" if rung.arm == rung.baseline else "" if rung.difference is None else figure_points(rung.difference),
        "" if rung.difference_new_cases is None else figure_points(rung.difference_new_cases),
        f"{'the agent asked first' if rung.human_asked is None else 'a human would have been asked'}: {words.share(asked)}",
    )


def _cases(effect: Effect) -> Table:
    rows = tuple(
        (row.case, row.family or "-", _arm(row.from_), _arm(row.to), "no pair" if row.difference is None else words.points(row.difference))
        for row in effect.per_case
    )
    caption = f"The cases behind {effect.from_} → {effect.to} ({effect.kind}, {effect.expects}; {words.group(effect.agent, effect.model)})"
    return Table(columns("case", "family", f"#{effect.from_}", f"#{effect.to}", "#difference"), rows, caption)


def _arm(count: ArmCount) -> str:
    rest = [f"{number} {what}" for number, what in ((count.undecided, "undecided"), (count.lost, "lost")) if number]
    return f"{count.passed} of {count.scored}" + (f" ({', '.join(rest)})" if rest else "")
