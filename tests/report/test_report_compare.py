"""Two reports: what changed beyond noise."""

from __future__ import annotations

import pytest
from report_made import DATA_A, DATA_B, grid, session, spec

from pytest_skilleval.core.errors import UsageProblem
from pytest_skilleval.report.build import build
from pytest_skilleval.report.compare import compare, comparison_lines
from pytest_skilleval.report.values import Document


def document(data: dict[str, list[str]], **more: object) -> Document:
    """A report's document."""
    return build(grid(data, **more), spec(), session()).document


def test_equal_reports_show_no_change() -> None:
    """A report compared with itself has no change beyond noise and no difference in how it was made."""
    changes = compare(document(DATA_A), document(DATA_A))
    assert [change.difference for change in changes.changes] == [0.0, 0.0]
    assert not any(change.beyond_noise for change in changes.changes)
    assert (changes.only_old, changes.only_new, changes.made_differently) == ((), (), ())


def test_a_real_change_is_seen() -> None:
    """An arm that turned from failing to passing is a change beyond noise, the other arm is not."""
    old = {"without": ["pff"] * 8, "with": ["pff"] * 8}
    new = {"without": ["pff"] * 8, "with": ["ppp"] * 8}
    changes = compare(document(old), document(new))
    assert [(change.arm.arm, change.beyond_noise) for change in changes.changes] == [("without", False), ("with", True)]
    lines = comparison_lines(changes)
    assert any("+67 points" in line and line.rstrip(")").endswith("p < 0.0001") for line in lines)


def test_swap_mirrors() -> None:
    """Comparing the other way round mirrors the differences."""
    there, back = compare(document(DATA_A), document(DATA_B)), compare(document(DATA_B), document(DATA_A))
    assert [one.difference for one in there.changes] == pytest.approx([-(one.difference or 0) for one in back.changes])


def test_what_stands_in_one_report_only_is_listed() -> None:
    """Cases and arms of one report alone are named, and only common cases are compared."""
    changes = compare(document({"without": ["ppp"] * 3, "with": ["ppp"] * 3}), document({"with": ["ppp"] * 2, "rules": ["ppp"]}))
    assert changes.only_old == ("case-02", "without")
    assert changes.only_new == ("rules",)
    assert [(change.arm.arm, change.cases) for change in changes.changes] == [("with", 2)]


def test_other_versions_are_told() -> None:
    """Reports made by different versions say so."""
    changes = compare(document(DATA_A, provenance={"cli_version": "1"}), document(DATA_A, provenance={"cli_version": "2"}))
    assert changes.made_differently == ("cli_version: 1 -> 2",)


def test_simulated_is_not_compared_with_live() -> None:
    """A simulated report is never compared with a live one."""
    with pytest.raises(UsageProblem, match="simulated"):
        compare(document(DATA_A), document(DATA_A, simulated=True))
