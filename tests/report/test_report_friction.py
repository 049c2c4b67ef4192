"""What a skill costs: needless questions, the parts of the tokens, and money whoever ran first."""

from __future__ import annotations

import pytest
from report_made import run, session, spec
from report_situations import clear_effect

from pytest_skilleval.core.record import MeasuredRun
from pytest_skilleval.report.build import build
from pytest_skilleval.report.markdown import to_markdown
from pytest_skilleval.report.terminal import terminal_lines
from pytest_skilleval.report.values import Friction


def rows_of(runs: list[MeasuredRun]) -> dict[str, Friction]:
    """Rows of the primary contrast by metric."""
    return {row.metric: row for row in build(runs, spec(), session()).document.friction}


def asking(expects: str, asks: dict[str, int], cases: int = 6) -> list[MeasuredRun]:
    """Cases of one kind with two runs an arm, of which so many asked first."""
    return [
        run(f"{expects}-{case}", arm, "p", repeat, expects=expects, asked_first=repeat <= asked)
        for case in range(cases)
        for arm, asked in asks.items()
        for repeat in (1, 2)
    ]


def test_needless_questions_are_those_on_hold_cases() -> None:
    """Asking first where acting was fine counts as needless, asking before a sweeping request does not."""
    rows = rows_of([*asking("improve", {"without": 0, "with": 2}), *asking("hold", {"without": 0, "with": 1})])
    needless = rows["asked needlessly"]
    assert (needless.from_mean, needless.to_mean, needless.difference.value) == (0, 0.5, 0.5)
    assert (needless.from_runs, needless.to_runs) == (12, 12)
    assert needless.difference.low is not None
    assert rows["asked first"].to_mean == 0.75
    assert "asked needlessly" not in rows_of(asking("improve", {"without": 0, "with": 2}))


def test_parts_of_the_tokens() -> None:
    """Listing, body and work are compared each by itself; without recorded requests they are null with the reason."""
    runs = [
        run(f"c{case}", arm, "p", split=(100.0, 40.0 * (arm == "with"), 1000.0 + 10 * case + 50 * (arm == "with")))
        for case in range(6)
        for arm in ("without", "with")
    ]
    rows = rows_of(runs)
    means = {part: (rows[f"tokens: {part}"].from_mean, rows[f"tokens: {part}"].to_mean) for part in ("listing", "body", "work")}
    assert means == {"listing": (100, 100), "body": (0, 40), "work": (1025, 1075)}
    unseen = rows_of([run("a", arm) for arm in ("without", "with")])["tokens: body"]
    assert (unseen.from_mean, unseen.difference.value) == (None, None)
    assert "requests were not recorded" in (unseen.difference.reason or "")


def test_who_ran_first_does_not_matter_without_cache() -> None:
    """When one arm pays for filling the cache, cost as billed differs and the cost without cache does not."""
    runs = [
        run(f"c{case}", arm, "p", cost=0.05 + 0.001 * case + (0.02 if arm == "without" else 0), uncached=0.2)
        for case in range(6)
        for arm in ("without", "with")
    ]
    rows = rows_of(runs)
    assert rows["cost"].difference.value == pytest.approx(-0.02)
    assert rows["cost, no cache"].difference.value == 0


def test_parts_stay_in_the_files() -> None:
    """The terminal shows neither the parts of the tokens nor rows that no run tells of; the files show both."""
    report = clear_effect()
    screen = "\n".join(line.text for line in terminal_lines(report, 100))
    text = to_markdown(report)
    assert "tokens: work" not in screen
    assert "cost, no cache" not in screen
    assert "tokens: work" in text
    assert "cost, no cache" in text
    assert "asked needlessly" in screen
