"""One screen for a busy person: what the results say, in plain words. No names of methods."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pytest_skilleval.report import calibration, words
from pytest_skilleval.report.design import told
from pytest_skilleval.report.values import BANNER, Document, Effect, Friction, Harm, HarmEffect, Rate, Report, Rung, Trigger

MOST_ROWS = 6
"""Rows of one table; the rest is in the files."""
MOST_EFFECTS = 4
MOST_TRIGGERS = 2
MOST_LADDERS = 2
MOST_WARNINGS = 4
MOST_DETAILS = 2
LONGEST_DETAIL = 110

Markup = Mapping[str, bool]
PLAIN: Markup = {}
BOLD: Markup = {"bold": True}
DIM: Markup = {"light": True}
WARN: Markup = {"yellow": True}
GOOD: Markup = {"green": True, "bold": True}
BAD: Markup = {"red": True, "bold": True}


class Line(NamedTuple):
    """One line, without line end, and how pytest's terminal writer shall mark it up."""

    text: str
    markup: Markup = PLAIN


def terminal_lines(report: Report, width: int = 80) -> list[Line]:
    """The report on one screen.

    Parameters
    ----------
    width
        Columns of the terminal; no line is longer (at least 60 are assumed).
    """
    width = max(60, width)
    lines = [line for raw in _lines(report) for line in _fitted(raw, width)]
    return [*lines, _ending(report, width)]


def _lines(report: Report) -> Iterator[Line]:
    document = report.document
    if document.simulated:
        yield Line(BANNER, {**WARN, **BOLD})
    yield Line(document.headline.sentence, _headline_markup(document))
    yield Line(f"{document.skill}: {_size(document)}; in [ ]: 95 % limits on these cases", DIM)
    if (ended := told(document.design)) is not None:
        yield Line(ended)
    yield from _section("Does it change what the agent does?", [*_rates(document), *_effects(document), *_triggers(document)])
    yield from _section("At what harm? (irreversible losses outside the request)", _harm(document))
    yield from _section("At what cost?", _cost(document.friction))
    yield from _section("What could not be measured, and what to know", _unmeasured(document))
    if document.gate.decision and not document.simulated:
        yield Line(f"Gate: {document.gate.decision.replace('_', ' ')}: {document.gate.reason}", BOLD)
    if document.headline.next_step:
        yield Line(f"Next: {document.headline.next_step}", BOLD)
    if report.folder:
        yield Line(f"Files: {report.folder}: report.html, report.md, report.json")
    if document.simulated:
        yield Line(BANNER, {**WARN, **BOLD})


def _ending(report: Report, width: int) -> Line:
    """The last line, always one line: the whole reason stands above it and in the files."""
    text = textwrap.shorten(f"Exit {report.exit_code}: {report.exit_reason}", width, placeholder=" ...")
    return Line(text, BOLD if report.exit_code == 0 else BAD)


def _size(document: Document) -> str:
    cases = len({run.case for run in document.runs})
    agents = dict.fromkeys(words.group(run.agent, run.model) for run in document.runs)
    return f"{words.plural(cases, 'case')}, {words.plural(len(document.runs), 'run')}, {words.listing(list(agents)) or 'no agent'}"


def _section(title: str, body: Iterable[Line]) -> Iterator[Line]:
    lines = list(body)
    if lines:
        yield Line(title, BOLD)
        yield from lines


def _headline_markup(document: Document) -> Markup:
    if "WORSE" in document.headline.sentence:
        return BAD
    return GOOD if (document.headline.verdict or "").startswith(("shown", "changed")) else BOLD


def _rates(document: Document) -> Iterator[Line]:
    chosen = [rate for rate in document.rates if rate.kind == "outcome"] or list(document.rates)
    names = [words.arm(document, rate.arm, rate.agent, rate.model) for rate in chosen[:MOST_ROWS]]
    broad = max(map(len, names), default=0)
    for name, rate in zip(names, chosen, strict=False):
        yield Line(f"  {name:<{broad}}  {_rate(rate)}")
    yield from _more(len(chosen), "arm")
    yield from _ladder(document)


def _ladder(document: Document) -> Iterator[Line]:
    """Arms in the order of what they deliver, on one line for each of the first agents; two arms need no order."""
    groups = dict.fromkeys((rung.agent, rung.model) for rung in document.ladder)
    for group in list(groups)[:MOST_LADDERS]:
        rungs = [rung for rung in document.ladder if (rung.agent, rung.model) == group]
        if len(rungs) > 2:
            where = f" ({words.group(*group)})" if len(groups) > 1 else ""
            yield Line(f"  least to most{where}: {', '.join(map(_rung, rungs))}", DIM)


def _rung(rung: Rung) -> str:
    asked = f" (a human asked in {words.percent(rung.human_asked.value)})" if rung.human_asked else ""
    return f"{rung.arm} {words.percent(rung.these_cases.value)}{asked}"


def _rate(rate: Rate) -> str:
    if rate.rate is None:
        return f"no rate: {rate.reason}; it may lie anywhere in {words.percent_span(rate.bounds)}"
    return f"{words.size(rate):>9} right: {words.percent(rate.rate):>5}  {words.percent_span(rate.wilson)}"


def _effects(document: Document) -> Iterator[Line]:
    """With several agents only the primary ones: the others are in the files."""
    several = len({(effect.agent, effect.model) for effect in document.effects}) > 1
    told = [effect for effect in words.distinct(document.effects) if effect.kind == "outcome" and effect.difference is not None]
    shown = [effect for effect in told if effect.primary or not several] or told
    for effect in shown[:MOST_EFFECTS]:
        yield Line(f"  {_effect(document, effect)}")
    yield from (Line(f"  {calibration.told(effect)}", DIM) for effect in list(calibration.null_effects(document))[:MOST_TRIGGERS])
    yield from _more(len(told) if several else len(shown), "comparison", min(MOST_EFFECTS, len(shown)))


def _effect(document: Document, effect: Effect) -> str:
    to = words.arm(document, effect.to, effect.agent, effect.model)
    what = f"{effect.from_} -> {to}" + ("" if effect.expects == "all" else f", cases to {effect.expects}")
    if effect.lost:
        return f"{what}: no figure, too many runs are lost"
    new = words.points_span(effect.new_cases) or "nothing known"
    moved = f"{effect.up} better, {effect.down} worse, {effect.same} same"
    here = f"{words.points(effect.difference)} {words.points_span(effect.these_cases)} on these cases"
    return f"{what}: {here}, {new} on new ones; {moved}"


def _triggers(document: Document) -> Iterator[Line]:
    shown = [trigger for trigger in document.trigger if trigger.applicable]
    for trigger in shown[:MOST_TRIGGERS]:
        yield Line(f"  {_trigger(document, trigger)}")
    yield from _more(len(shown), "arm", MOST_TRIGGERS)


def _trigger(document: Document, trigger: Trigger) -> str:
    where = words.arm(document, trigger.arm, trigger.agent, trigger.model)
    return (
        f"{where}: skill loaded when it should be: {words.share(trigger.sensitivity)}; left alone when it should be: "
        f"{words.share(trigger.specificity)}"
    )


def _harm(document: Document) -> Iterator[Line]:
    for one in document.harm[:MOST_ROWS]:
        name = words.arm(document, one.arm, one.agent, one.model)
        yield Line(f"  {name}: {_losses(one)}", BAD if one.runs_hit else PLAIN)
    yield from _more(len(document.harm), "arm")
    claims = [one for one in document.harm_effects if one.claim and one.claim != "not shown"]
    yield from (Line(f"  {_harm_claim(document, effect)}") for effect in claims[:MOST_TRIGGERS])


def _harm_claim(document: Document, effect: HarmEffect) -> str:
    to = words.arm(document, effect.to, effect.agent, effect.model)
    limits = effect.new_cases if effect.claim and effect.claim.endswith("new cases") else effect.these_cases
    claim = (effect.claim or "").replace("irreversible ", "")
    return f"{effect.from_} -> {to}: {claim}: {words.points(effect.difference)} {words.points_span(limits)}"


def _losses(harm: Harm) -> str:
    if not harm.runs:
        return "no run was measured"
    many = words.plural(harm.runs, "run")
    if not harm.runs_hit:
        return f"none seen in {many}; up to {words.percent(harm.irreversible.high)} can't be ruled out"
    silent = f"; {harm.consent['silent']} of {words.plural(len(harm.ledger), 'object')} silently" if harm.consent.get("silent") else ""
    return f"in {harm.runs_hit} of {many}: {words.share(harm.irreversible)}{silent}"


def _cost(friction: Sequence[Friction]) -> Iterator[Line]:
    """The first comparison; the parts of the tokens are in the files."""
    rows = [row for row in friction if _comparison(row) == _comparison(friction[0]) and row.from_mean is not None and ":" not in row.metric]
    if rows:
        yield Line(f"  {'per run':<16}{rows[0].from_:>10}{rows[0].to:>10}  difference, typical new case", DIM)
    for row in rows:
        before, after = words.amount(row.from_mean, row.unit), words.amount(row.to_mean, row.unit)
        yield Line(f"  {row.metric:<16}{before:>10}{after:>10}  {words.difference(row.difference, row.unit)}")


def _comparison(row: Friction) -> tuple[str, str, str, str]:
    return row.from_, row.to, row.agent, row.model


def _unmeasured(document: Document) -> Iterator[Line]:
    lost = Counter((run.arm, run.blame or "") for run in document.runs if run.status != "scored")
    if lost:
        yield Line(f"  {lost.total()} of {words.plural(len(document.runs), 'run')} lost: {_by_arm(lost)}", WARN)
        yield from _details(document)
    undecided = Counter((run.arm, run.reason) for run in document.runs if run.verdict == "undecided")
    if undecided:
        yield Line(f"  {undecided.total()} undecided: {_by_arm(undecided)}", WARN)
    for warning in document.warnings[:MOST_WARNINGS]:
        yield Line(f"  {warning}", WARN)
    yield from _more(len(document.warnings), "warning", MOST_WARNINGS)


def _details(document: Document) -> Iterator[Line]:
    """What most lost runs died of."""
    found = Counter((run.blame or "", run.reason) for run in document.runs if run.status != "scored" and run.reason)
    for (blame, reason), count in found.most_common(MOST_DETAILS):
        yield Line(f"    {blame} {count}: {textwrap.shorten(reason, LONGEST_DETAIL, placeholder=' ...')}")


def _by_arm(found: Counter[tuple[str, str]]) -> str:
    """Numbers by arm, and in brackets by reason: "with 3 (sandbox 2, agent_api 1)"."""
    arms = dict.fromkeys(arm for arm, _ in found)
    parts = []
    for arm in arms:
        reasons = {reason: count for (other, reason), count in found.items() if other == arm}
        each = list(reasons) if len(reasons) == 1 else [f"{reason} {count}" for reason, count in reasons.items()]
        parts.append(f"{arm} {sum(reasons.values())} ({words.listing(each)})")
    return ", ".join(parts)


def _more(total: int, noun: str, most: int = MOST_ROWS) -> Iterator[Line]:
    if total > most:
        yield Line(f"  ... and {words.plural(total - most, noun)} more in the files", DIM)


def _fitted(line: Line, width: int) -> list[Line]:
    """A long line broken at spaces, the rest indented."""
    indent = len(line.text) - len(line.text.lstrip())
    parts = textwrap.wrap(line.text, width, subsequent_indent=" " * (indent + 2), break_on_hyphens=False) or [""]
    return [Line(part, line.markup) for part in parts]
