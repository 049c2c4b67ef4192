"""Does the skill change what the agent does, does it load when it should, and how reliably."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_skilleval.report import words
from pytest_skilleval.report.sections.shapes import Cell, Section, Table, columns, figure_span, points_span, share_span
from pytest_skilleval.report.values import ArmCount, Confusion, Document, Effect, Rate

LEVEL = "[95 %]"


def change(document: Document) -> Section | None:
    """Pass rates of the arms, their differences, and the cases behind the first one."""
    tables = [*_rates(document), *_effects(document), *_pooled(document)]
    if document.effects:
        tables.append(_cases(document.effects[0]))
    sentences = (f"{effect.from_} → {effect.to}: {effect.sentence}" for effect in document.effects[1:] if effect.primary)
    return Section("Does it change what the agent does?", tuple(dict.fromkeys(sentences)), tuple(tables)) if tables else None


def loading(document: Document) -> Section | None:
    """Trigger and fidelity."""
    tables = [table for table in (_chain(document), _trigger(document), *_confusion(document), _fidelity(document)) if table.rows]
    return Section("Is it loaded when it should be, and followed?", (), tuple(tables)) if tables else None


def reliability(document: Document) -> Section | None:
    """pass^k under its two names."""
    if not document.pass_hat_k:
        return None
    rows = tuple(
        (row.arm, words.group(row.agent, row.model), row.name, str(row.k or "unequal"), f"{row.cases} of {row.given}", figure_span(row))
        for row in document.pass_hat_k
    )
    return Section(
        "How reliably?",
        ("Compare only rows of one name and one k.",),
        (Table(columns("arm", "agent", "figure", "#k", "#cases", "share [95 %]"), rows),),
        folded=True,
    )


def _rates(document: Document) -> Iterator[Table]:
    for kind in dict.fromkeys(rate.kind for rate in document.rates):
        rows = tuple(_rate(rate) for rate in document.rates if rate.kind == kind)
        yield Table(
            columns("arm", "agent", "#passed", "#undecided", "#lost", f"on these cases {LEVEL}", f"on new cases {LEVEL}", "worst to best"),
            rows,
            f"Pass rate, {kind} cases",
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
        words.p_value(effect.these_cases.p) if effect.primary else "",
        points_span(effect.new_cases.difference, effect.new_cases),
        words.p_value(effect.new_cases.sign_flip_p) if effect.primary else "",
        effect.verdict or effect.verdict_reason.partition(":")[0],
    )


def _pooled(document: Document) -> Iterator[Table]:
    for one in document.pooled:
        rows: list[tuple[Cell, ...]] = [("average of all", points_span(one.average.difference, one.average))]
        rows += [(words.group(model.agent, model.model), points_span(model.value, model)) for model in one.models]
        caption = f"{one.from_} → {one.to} under several models: {words.plural(one.cases, 'common case')}, each drawn towards the average"
        yield Table(columns("agent and model", f"difference on new cases {LEVEL}"), tuple(rows), caption)


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


def _chain(document: Document) -> Table:
    rows = tuple(
        (
            f"{one.from_} → {one.to}",
            words.group(one.agent, one.model),
            f"{one.offered} > {one.loaded} > {one.passed_loaded}",
            points_span(one.as_assigned.value, one.as_assigned),
            points_span(one.as_loaded.value, one.as_loaded),
            points_span(one.of_loading.value, one.of_loading),
        )
        for one in document.loading
    )
    titles = columns(
        "comparison", "agent", "#offered > loaded > passed", "as assigned [95 %]", "as loaded (confounded)", "effect of loading [95 %]"
    )
    return Table(titles, rows, "How far the effect goes through loading (new cases)")


def _trigger(document: Document) -> Table:
    rows = tuple(
        (
            trigger.arm,
            words.group(trigger.agent, trigger.model),
            figure_span(trigger.sensitivity) if trigger.applicable else f"not applicable: {trigger.reason}",
            figure_span(trigger.sensitivity_new_cases) if trigger.applicable else "",
            figure_span(trigger.specificity) if trigger.applicable else "",
            figure_span(trigger.specificity_new_cases) if trigger.applicable else "",
        )
        for trigger in document.trigger
    )
    return Table(
        columns(
            "arm", "agent", f"loaded when it should be {LEVEL}", "on new cases", f"left alone when it should be {LEVEL}", "on new cases"
        ),
        rows,
        "Trigger",
    )


def _confusion(document: Document) -> Iterator[Table]:
    for trigger in document.trigger:
        if trigger.confusion:
            rows = tuple((row.owner, _loaded(row), str(row.runs)) for row in trigger.confusion)
            caption = f"What was loaded for whose request: {trigger.arm} ({words.group(trigger.agent, trigger.model)})"
            yield Table(columns("owner of the request", "loaded", "#runs"), rows, caption)


def _loaded(row: Confusion) -> str:
    return " + ".join(row.loaded) or "nothing"


def _fidelity(document: Document) -> Table:
    rows = tuple(
        (
            row.arm,
            words.group(row.agent, row.model),
            f"{row.loaded} of {row.runs}",
            f"{row.passed} of {row.scored}",
            figure_span(row.these_cases),
            figure_span(row.new_cases),
        )
        for row in document.fidelity
    )
    titles = columns("arm", "agent", "#loaded", "#followed once loaded", "on these cases [95 %]", "on new cases [95 %]")
    return Table(titles, rows, "Fidelity")
