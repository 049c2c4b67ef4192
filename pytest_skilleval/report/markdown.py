"""report.md: the sections as GitHub-flavoured Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_skilleval.report.sections import Section, Span, Table, sections
from pytest_skilleval.report.values import BANNER, Report


def to_markdown(report: Report) -> str:
    """The report as Markdown; the same text for the same results."""
    document = report.document
    lines = [f"# {escaped(document.skill)}", ""]
    if document.simulated:
        lines += [f"> **{BANNER}**", ""]
    lines += [f"**{escaped(document.headline.sentence)}**", ""]
    if document.headline.next_step:
        lines += [f"Next: {escaped(document.headline.next_step)}", ""]
    for section in sections(document):
        lines += _section(section)
    if document.simulated:
        lines += [f"> **{BANNER}**", ""]
    return "\n".join(lines)


def escaped(text: str) -> str:
    """Text that Markdown shows as it is, on one line, also inside a table."""
    for sign in "\\`*_[]<>|#":
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.split())


def _section(section: Section) -> Iterator[str]:
    yield from (f"## {section.title}", "")
    for sentence in section.sentences:
        yield f"- {escaped(sentence)}"
    if section.sentences:
        yield ""
    for table in section.tables:
        yield from _table(table)


def _table(table: Table) -> Iterator[str]:
    if table.caption:
        yield from (f"### {escaped(table.caption)}", "")
    yield _row([escaped(column.title) for column in table.columns])
    yield _row(["---:" if column.number else "---" for column in table.columns])
    for row in table.rows:
        yield _row([escaped(cell.text if isinstance(cell, Span) else cell) for cell in row])
    yield ""


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
