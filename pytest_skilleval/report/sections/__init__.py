"""What stands in report.md and report.html: sections of sentences and tables, without any markup."""

from __future__ import annotations

from dataclasses import replace

from pytest_skilleval.report.sections.change import change, reliability
from pytest_skilleval.report.sections.cost import cost
from pytest_skilleval.report.sections.design import EXPLORATORY, design
from pytest_skilleval.report.sections.harm import harm, ledger
from pytest_skilleval.report.sections.loading import loading
from pytest_skilleval.report.sections.reading import reading
from pytest_skilleval.report.sections.shapes import Column, Section, Span, Table, without_column
from pytest_skilleval.report.sections.state import gate, provenance, runs, unmeasured, warnings
from pytest_skilleval.report.values import Document

__all__ = ["Column", "Section", "Span", "Table", "sections"]

PARTS = (change, loading, harm, ledger, cost, reliability, unmeasured, gate, warnings, design, provenance, runs, reading)
DESCRIBED = (loading, ledger, cost, reliability)
"""Nothing in these is tested."""


def sections(document: Document) -> list[Section]:
    """All sections that have something to say, in reading order; without a column for agents where there is only one."""
    found = [_stamped(section, part in DESCRIBED) for part in PARTS if (section := part(document)) is not None]
    several = len({(run.agent, run.model) for run in document.runs}) > 1
    return found if several else [without_column(section, "agent") for section in found]


def _stamped(section: Section, described: bool) -> Section:
    return replace(section, sentences=(EXPLORATORY, *section.sentences)) if described else section
