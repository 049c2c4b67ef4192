"""A baseline twice: what the instrument makes of chance is told, and decides nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest
from report_made import DATA_B, grid, names, session, spec

from pytest_skilleval.core.arms import null_contrasts
from pytest_skilleval.core.spec import Spec
from pytest_skilleval.report.build import build
from pytest_skilleval.report.facts import ArmFacts, GateFacts
from pytest_skilleval.report.markdown import to_markdown

LABEL = "null contrast (calibration), never a gate"
TWICE = {**DATA_B, "again": ["fffff", *DATA_B["without"][1:]]}


def _facts(**more: object) -> object:
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
