"""report.html: one file, no script, nothing loaded from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from pytest_skilleval.report import words
from pytest_skilleval.report.drawing import drawn
from pytest_skilleval.report.sections import Column, Section, Span, Table, sections
from pytest_skilleval.report.style import STYLE
from pytest_skilleval.report.values import BANNER, Document, Effect, Report

WIDTH, HEIGHT = 132, 14


def to_html(report: Report) -> str:
    """The report as a page; the same text for the same results."""
    document = report.document
    title = escape(f"{document.skill}: skill evaluation")
    banner = f'<p class="banner">{escape(BANNER)}</p>' if document.simulated else ""
    return "\n".join(
        [
            "<!doctype html>",
            f'<html lang="en"><head><meta charset="utf-8"><title>{title}</title>',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<style>{STYLE}</style></head><body><main>",
            banner,
            *_header(document),
            *(line for section in sections(document) for line in _section(section)),
            f"<footer>{banner}All numbers with their limits, methods and every check: report.json beside this file.</footer>",
            "</main></body></html>",
            "",
        ]
    )


def _header(document: Document) -> Iterator[str]:
    yield f'<header><p class="skill">{escape(_made_of(document))}</p><h1>{escape(document.headline.sentence)}</h1>'
    if document.headline.next_step:
        yield f'<p class="next"><b>Next:</b> {escape(document.headline.next_step)}</p>'
    cards = "".join(_card(*card) for card in _cards(document))
    yield f'<div class="cards">{cards}</div></header>'


def _made_of(document: Document) -> str:
    agents = ", ".join(dict.fromkeys(words.group(run.agent, run.model) for run in document.runs)) or "no agent"
    return f"{document.skill}: {words.plural(len(document.runs), 'run')}, {agents}"


def _card(name: str, value: str, note: str) -> str:
    return f'<div class="card"><span>{escape(name)}</span><b>{escape(value)}</b><span>{escape(note)}</span></div>'


def _cards(document: Document) -> Iterator[tuple[str, str, str]]:
    """The few numbers a busy reader wants: name, value, note."""
    if document.effects:
        yield from _compared(document, document.effects[0])
    else:
        for rate in [rate for rate in document.rates if rate.kind == "outcome"][:2]:
            name = f"{words.arm(document, rate.arm, rate.agent, rate.model)}: passed"
            yield name, words.percent(rate.rate), f"{words.percent_span(rate.wilson)} {words.size(rate)}"
    lost = sum(run.status != "scored" for run in document.runs)
    yield "runs measured", f"{len(document.runs) - lost} of {len(document.runs)}", f"{lost} lost"


def _compared(document: Document, effect: Effect) -> Iterator[tuple[str, str, str]]:
    """The difference, both arms over the cases that it is of, and the losses of the second one; all of one agent and model."""
    pair = words.arm(document, f"{effect.from_} → {effect.to}", effect.agent, effect.model)
    which = f"cases to {effect.expects}" if effect.expects != "all" else "these cases"
    note = "too many runs are lost" if effect.lost else f"{words.points_span(effect.these_cases)} on {which}"
    yield pair, "no figure" if effect.lost else words.points(effect.difference), note
    group = (effect.agent, effect.model)
    rungs = {rung.arm: rung for rung in document.ladder if (rung.agent, rung.model) == group}
    for rung in [rungs[arm] for arm in (effect.from_, effect.to) if arm in rungs and effect.kind == "outcome"]:
        name = f"{words.arm(document, rung.arm, *group)}: passed"
        yield name, words.percent(rung.these_cases.value), f"{words.percent_span(rung.these_cases)} {rung.passed} of {rung.scored}, {which}"
    for harm in document.harm:
        if (harm.arm, harm.agent, harm.model) == (effect.to, *group):
            upper, seen = words.percent(harm.irreversible.high), words.percent(harm.irreversible.value)
            yield f"{words.arm(document, harm.arm, *group)}: irreversible loss", f"≤ {upper}", f"of runs; seen {seen}"


def _section(section: Section) -> Iterator[str]:
    yield f"<details><summary>{escape(section.title)}</summary>" if section.folded else f"<section><h2>{escape(section.title)}</h2>"
    if len(section.sentences) == 1:
        yield f"<p>{escape(section.sentences[0])}</p>"
    elif section.sentences:
        yield f"<ul>{''.join(f'<li>{escape(sentence)}</li>' for sentence in section.sentences)}</ul>"
    for table in section.tables:
        yield from _table(table)
    for strip in section.strips:
        yield from drawn(strip)
    yield "</details>" if section.folded else "</section>"


def _table(table: Table) -> Iterator[str]:
    if table.caption:
        yield f"<h3>{escape(table.caption)}</h3>"
    heads = "".join(f"<th{_class(column)}>{escape(column.title)}</th>" for column in table.columns)
    yield f'<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>'
    for row in table.rows:
        yield f"<tr>{''.join(_cell(cell, column) for cell, column in zip(row, table.columns, strict=True))}</tr>"
    yield "</tbody></table></div>"


def _cell(cell: str | Span, column: Column) -> str:
    if isinstance(cell, Span):
        return f'<td class="span">{escape(cell.text)}{_drawn(cell)}</td>'
    return f"<td{_class(column)}>{escape(cell)}</td>"


def _class(column: Column) -> str:
    return ' class="number"' if column.number else ""


def _drawn(span: Span) -> str:
    """A number line: the limits as a bar, the value as a dot, zero dashed where the scale crosses it."""
    if span.low is None or span.high is None:
        return ""
    low, high = _place(span.low, span), _place(span.high, span)
    zero = f'<line class="zero" x1="{_place(0, span)}" x2="{_place(0, span)}" y1="1" y2="13"/>' if span.scale[0] < 0 else ""
    dot = f'<circle cx="{_place(span.value, span)}" cy="7" r="4"/>' if span.value is not None else ""
    return (
        f'<svg class="span" viewBox="0 0 {WIDTH} {HEIGHT}" aria-hidden="true"><line class="axis" x1="6" x2="{WIDTH - 6}" y1="7" y2="7"/>'
        f'{zero}<line class="reach" x1="{low}" x2="{high}" y1="7" y2="7"/>{dot}</svg>'
    )


def _place(value: float, span: Span) -> str:
    first, last = span.scale
    share = (min(max(value, first), last) - first) / (last - first)
    return f"{6 + share * (WIDTH - 12):.1f}"
