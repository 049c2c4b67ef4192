"""When a planned look ends a session."""

from __future__ import annotations

import pytest
from report_made import DATA_A, grid, names, run, spec
from report_situations import VOLUME

from pytest_skilleval.core.statistics.sequential import Look
from pytest_skilleval.report.stopping import why_it_ends

ALIKE = {"without": ["ppfpfp"] * 4, "with": ["pfpfpp"] * 4}


@pytest.mark.parametrize(
    ("data", "look", "why"),
    [
        (DATA_A, Look(3, 0.01, futile=0.5), "changed"),
        (ALIKE, Look(6, 0.015, futile=0.5), "futile"),
        (ALIKE, Look(6, 0.015), None),
        ({"without": ["pppfff"] * 4, "with": ["ppppff"] * 4}, Look(6, 0.015, futile=0.5), None),
        ({"without": ["ppfpfp"] * 4, "with": ["eepfpp"] * 4}, Look(6, 0.015, futile=0.5), None),
    ],
    ids=["changed", "nothing in sight", "never gives up", "still open", "too many lost"],
)
def test_when_a_look_ends(data: dict[str, list[str]], look: Look, why: str | None) -> None:
    """Changed: p at most alpha; futile: p above the look's limit; neither, or too many lost runs: it goes on."""
    assert why_it_ends(grid(data), spec(names(data)), look) == why


def test_losses_that_may_yet_come_out_keep_it_going() -> None:
    """A session whose pass rates are alike goes on while its second primary outcome, the irreversible losses, is open."""
    runs = [
        run(f"case-{case}", arm, "p", repeat, removed=(VOLUME,) if arm == "without" and case < 3 and repeat == 1 else ())
        for case in range(4)
        for arm in ("without", "with")
        for repeat in range(1, 7)
    ]
    assert why_it_ends(runs, spec(["case-0"]), Look(6, 0.015, futile=0.5)) is None
