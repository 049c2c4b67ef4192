"""A baseline twice: what the instrument makes of chance is told, and decides nothing."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from report_made import DATA_B, grid, names, session, spec

from pytest_skilleval.core.contrasts import null_contrasts
from pytest_skilleval.core.spec import Spec
from pytest_skilleval.report.build import build
from pytest_skilleval.report.calibration import null_effects, strip, told
from pytest_skilleval.report.facts import ArmFacts, GateFacts, SpecFacts
from pytest_skilleval.report.markdown import to_markdown
from pytest_skilleval.report.page import to_html
from pytest_skilleval.report.sections.harm import harm
from pytest_skilleval.report.terminal import terminal_lines

LABEL = "null contrast (calibration), never a gate"
TWICE = {**DATA_B, "again": ["fffff", *DATA_B["without"][1:]]}


def _facts(**more: Any) -> SpecFacts:
    made = spec(names(DATA_B), **more)
    return replace(made, arms={**made.arms, "again": ArmFacts(role="baseline", installs=False)}, null=(("without", "again"),))


@pytest.mark.parametrize("simulated", [False, True])
def test_the_null_contrast_is_told_under_its_name(simulated: bool) -> None:
    """Its row bears its label and p, no verdict, and stands behind the primary contrast."""
    report = build(grid(TWICE, simulated=simulated), _facts(), session())
    document = report.document
    [null] = [effect for effect in document.effects if effect.to == "again" and effect.expects == "improve"]
    assert document.effects[0].to == "with"
    assert (null.primary, null.verdict, null.next_step) == (False, None, None)
    assert null.verdict_reason.startswith(LABEL)
    assert null.these_cases.p == pytest.approx(1)
    assert LABEL in to_markdown(report)
    [losses] = [table for table in harm(document).tables if table.caption.startswith("Difference")]
    assert {row[0]: row[-1] for row in losses.rows}["without → again"].startswith(LABEL)


def test_the_null_contrast_decides_nothing() -> None:
    """Gate, verdict and corrected p of the primary contrast are the same with it and without it."""
    gate = GateFacts(improve_at_least=0.2, hold_no_worse_than=0.1, loss_at_most=0.9)
    alone = build(grid(DATA_B), spec(names(DATA_B), gate=gate), session(gate=True))
    beside = build(grid(TWICE), _facts(gate=gate), session(gate=True))
    assert beside.document.gate == alone.document.gate
    assert beside.document.effects[0] == alone.document.effects[0]
    assert beside.exit_code == alone.exit_code


def test_only_baselines_that_are_declared_alike_make_one() -> None:
    """A baseline of another revision is another condition; two treatments are no null contrast."""
    arms = {
        "without": {"role": "baseline", "exclude": ["x"]},
        "again": {"role": "baseline", "exclude": ["x"]},
        "before": {"role": "baseline", "revision": "HEAD~1"},
        "with": {"role": "treatment"},
        "with-too": {"role": "treatment"},
    }
    made = Spec.model_validate({"skill": "x", "arms": arms, "cases": [{"id": "a", "kind": "outcome"}]}, strict=False)
    assert null_contrasts(made) == (("without", "again"),)


def test_the_null_contrast_is_a_picture_of_its_cases() -> None:
    """The page draws one dot a case and where chance puts it; Markdown and terminal tell the same in a sentence; it is no gate."""
    report = build(grid(TWICE), _facts(), session())
    page, cases = to_html(report), len(names(DATA_B))
    [drawing] = re.findall(r'<svg class="strip".*?</svg>', page, re.DOTALL)
    assert drawing.count("<circle") == cases
    assert drawing.count('class="reach"') == cases
    assert "Calibration, never a gate" in drawing
    sentence = rf"declared alike \(claude-code\); seen .*; 0 of {cases} cases outside where chance alone puts 95 of 100"
    for text in (to_markdown(report).replace("\\", ""), " ".join(line.text.strip() for line in terminal_lines(report, 400))):
        assert re.search(sentence, text)
    assert 'class="strip"' not in to_html(build(grid(DATA_B), spec(names(DATA_B)), session()))


@pytest.mark.parametrize(
    ("before", "after", "low", "high"),
    [("ppppp", "fffff", -0.6, 0.6), ("ffff", "ffff", 0, 0), ("pppppppppp", "ffffffffff", -0.4, 0.4), ("pff", "ppf", -1, 1)],
)
def test_where_chance_puts_a_case(before: str, after: str, low: float, high: float) -> None:
    """Given all passes of a case, the central 95 % of a hypergeometric number; a case that never varies can't differ."""
    facts = replace(_facts(), cases=spec(["a"]).cases)
    document = build(grid({"without": [before], "again": [after], "with": [before]}), facts, session()).document
    [effect] = null_effects(document)
    [mark] = strip(effect).marks
    assert (mark.low, mark.high) == pytest.approx((low, high))
    outside = not low <= mark.value <= high
    assert f"{int(outside)} of 1 case outside" in told(effect)
