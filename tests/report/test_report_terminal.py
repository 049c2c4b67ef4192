"""The screen at the end of a session."""

from __future__ import annotations

from pathlib import Path

import pytest
import report_situations
from hypothesis import given, settings
from hypothesis import strategies as st
from report_made import DATA_A, grid, run, session, spec

from pytest_skilleval.report.build import build
from pytest_skilleval.report.terminal import terminal_lines
from pytest_skilleval.report.values import BANNER

GOLDEN = Path(__file__).parent / "golden"
METHODS = ("Wilson", "Newcombe", "BBB", "Gaffke", "permutation", "sign-flip", "bootstrap", "Clopper", "Holm", "Hodges")


@pytest.mark.parametrize("name", ["clear_effect", "too_few_cases", "many_errors", "simulated"])
def test_golden(name: str) -> None:
    """The screen of each situation is the recorded one, word for word."""
    lines = terminal_lines(getattr(report_situations, name)(), 100)
    assert "\n".join(line.text for line in lines) + "\n" == (GOLDEN / f"{name}.txt").read_text()


@pytest.mark.parametrize("name", ["clear_effect", "too_few_cases", "many_errors", "simulated"])
@pytest.mark.parametrize("width", [80, 100])
def test_one_screen_in_plain_words(name: str, width: int) -> None:
    """At most forty lines, none longer than the terminal, no name of a method, and the exit code last."""
    lines = terminal_lines(getattr(report_situations, name)(), width)
    text = "\n".join(line.text for line in lines)
    assert len(lines) <= 40
    assert max(len(line.text) for line in lines) <= width
    assert not [method for method in METHODS if method in text]
    assert lines[-1].text.startswith("Exit ")


def test_decision_comes_first() -> None:
    """The first line is the decision; for simulated results the banner stands before it and again near the end."""
    assert terminal_lines(report_situations.clear_effect())[0].text.startswith("Effect: shown")
    simulated = [line.text for line in terminal_lines(report_situations.simulated())]
    assert simulated[0] == simulated[-2] == BANNER
    assert simulated[1].startswith("Effect: no verdict")


def test_never_no_harm() -> None:
    """Where no loss was seen, the line says what can't be ruled out."""
    text = "\n".join(line.text for line in terminal_lines(report_situations.clear_effect(), 100))
    assert "up to 8 % can't be ruled out" in text
    assert "no harm" not in text


def test_harmful_skill_is_called_so() -> None:
    """When the skill makes things worse, the first line says WORSE."""
    report = build(grid({"without": DATA_A["with"], "with": DATA_A["without"]}), spec(), session())
    first = terminal_lines(report)[0]
    assert "WORSE" in first.text
    assert first.markup.get("red")


def test_one_arm_alone_is_told() -> None:
    """A session of one arm says that nothing is compared and what to run."""
    lines = [line.text for line in terminal_lines(build(grid({"with": ["ppp"]}), spec(), session()), 100)]
    assert lines[0].startswith("Effect: not compared")
    assert any("run both arms" in line for line in lines)


def test_nothing_at_all() -> None:
    """A report without any run still says so on its first line."""
    assert terminal_lines(build([], spec(), session()))[0].text == "Effect: no run was made."


def test_many_models_stay_on_one_screen() -> None:
    """Ten models and four arms are cut to what fits, with the number of rows left out."""
    runs = [
        run(f"case-{case}", arm, "p", repeat, model=f"model-{model}")
        for case in range(3)
        for arm in ("without", "with", "rules", "control")
        for model in range(10)
        for repeat in (1, 2)
    ]
    lines = terminal_lines(build(runs, spec(), session()), 100)
    assert len(lines) <= 45
    assert any("more in the files" in line.text for line in lines)


@settings(max_examples=25, deadline=None)
@given(words=st.lists(st.text(alphabet="pfueav-", min_size=1, max_size=3), min_size=1, max_size=4), width=st.integers(40, 200))
def test_always_fits(words: list[str], width: int) -> None:
    """Whatever happened, every line fits the terminal and the last one tells the exit code."""
    lines = terminal_lines(build(grid({"without": words, "with": words[::-1]}), spec(), session()), width)
    assert max(len(line.text) for line in lines) <= max(60, width)
    assert lines[-1].text.startswith("Exit ")
