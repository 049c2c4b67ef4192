"""Does the skill change what the agent does, does it load when it should, and how reliably."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_skilleval.report import calibration, words
from pytest_skilleval.report.sections.shapes import Cell, Section, Span, Table, columns, figure_points, figure_span, points_span, share_span
from pytest_skilleval.report.values import ArmCount, Confusion, Document, Effect, Figure, Rate, Rung
from pytest_skilleval.report.verdicts import NULL

LEVEL = "[95 %]"


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


def loading(document: Document) -> Section | None:
    """Trigger and fidelity."""
    tables = [
        table
        for table in (
            _links(document),
            _chain(document),
            _listing(document),
            _trigger(document),
            *_confusion(document),
            _fidelity(document),
        )
        if table.rows
    ]
    return Section("Is it loaded when it should be, and followed?", (), tuple(tables)) if tables else None


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


def _links(document: Document) -> Table:
    rows = tuple(
        (
            one.arm,
            words.group(one.agent, one.model),
            f"{one.offered} of {one.runs}" if one.reason is None else f"0 of {one.runs}: {one.reason}",
            str(one.loaded),
            str(one.followed),
            str(one.passed),
            f"{one.passed_all} of {one.runs}",
        )
        for one in document.chain
        if any(link.reason is None for link in document.chain)
    )
    titles = columns("arm", "agent", "offered", "#loaded", "#of these followed", "#of these passed", "#passed of all")
    return Table(titles, rows, "The chain, runs of outcome cases with a verdict (followed: no must-not check tripped)")


def _listing(document: Document) -> Table:
    rows = tuple(
        (
            one.arm,
            words.group(one.agent, one.model),
            one.reason or words.number(one.most_characters),
            words.UNKNOWN if one.budget is None else f"{one.budget:,}",
            one.rule,
            {None: "", True: "no", False: "yes"}[one.over],
            f"{one.shortened_runs} of {one.runs}" if one.shortened_runs else "",
        )
        for one in document.listing
        if any(row.most_characters is not None or row.shortened_runs for row in document.listing)
    )
    titles = columns("arm", "agent", "#characters", "#budget", "by", "fits by itself", "#runs that saw it cut")
    return Table(titles, rows, "Listing of names and descriptions against the agent's budget")


def _chain(document: Document) -> Table:
    rows = tuple(
        (
            f"{one.from_} → {one.to}",
            words.group(one.agent, one.model),
            f"{one.offered} > {one.loaded} > {one.passed_loaded}",
            points_span(one.as_assigned.value, one.as_assigned),
            points_span(one.as_loaded.value, one.as_loaded),
            points_span(one.first_stage.value, one.first_stage),
            points_span(one.of_loading.value, one.of_loading),
        )
        for one in document.loading
    )
    titles = columns(
        "comparison",
        "agent",
        "#offered > loaded > passed",
        "as assigned [95 %]",
        "as loaded (confounded)",
        "first stage: change in loading [95 %]",
        "effect of loading, assignment as instrument [95 %]",
    )
    return Table(titles, rows, "How far the effect goes through loading (new cases; all outcome cases, not only those to improve)")


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
            "arm",
            "agent",
            f"loaded when it should be, on these cases {LEVEL}",
            f"on new cases {LEVEL}",
            f"left alone when it should be, on these cases {LEVEL}",
            f"on new cases {LEVEL}",
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
