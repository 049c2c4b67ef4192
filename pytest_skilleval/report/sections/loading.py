"""Is the skill loaded when it should be, and followed once it is."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_skilleval.report import words
from pytest_skilleval.report.sections.shapes import LEVEL, Section, Table, columns, figure_span, points_span
from pytest_skilleval.report.values import Confusion, Document


def loading(document: Document) -> Section | None:
    """The chain from offer to outcome, listings, trigger and fidelity."""
    tables = [
        table
        for table in (
            _chain(document),
            _through_loading(document),
            _listing(document),
            _trigger(document),
            *_confusion(document),
            _fidelity(document),
        )
        if table.rows
    ]
    return Section("Is it loaded when it should be, and followed?", (), tuple(tables)) if tables else None


def _chain(document: Document) -> Table:
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


def _through_loading(document: Document) -> Table:
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
