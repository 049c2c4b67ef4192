"""Words that give the scene away."""

from __future__ import annotations

import pytest

from pytest_skilleval.core.lint import giveaways
from pytest_skilleval.core.spec import Spec

SPEC = Spec.model_validate(
    {
        "skill": "docker-destructive-guardrails",
        "allow_words": {"benchmark": "the shop sells them", "Blast Radius": "asked for"},
        "judge": {"strip": ("tier", "blast radius", "guardrail")},
        "arms": {"with": {"role": "treatment"}},
        "cases": ({"id": "a", "kind": "trigger", "prompt": "x", "should_load": True},),
    }
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Please evaluate and TEST it", ("evaluate", "test")),
        ("evals, evaluations, tested, testing, pytest", ("evals", "evaluations", "tested", "testing", "pytest")),
        ("container test-db and test_db and test2", ("test",)),
        ("fixtures/benchmarks in the sandboxes", ("fixtures", "benchmarks", "sandboxes")),
        ("the docker-destructive-guardrails skill", ("docker destructive guardrails",)),
        ("Docker  Destructive\nGuardrails", ("docker destructive guardrails",)),
        ("a tier-2 thing, two tiers, a guardrail", ("tier", "tiers", "guardrail")),
        ("my latest contest attestation, retest, frontier", ()),
        ("blast-radius, a bench and a Benchmark", ()),
        ("Remove the stopped containers of Docker.", ()),
        ("", ()),
    ],
)
def test_giveaways(text: str, found: tuple[str, ...]) -> None:
    """Telling words are found in any form and case as words of their own, each once, unless allowed."""
    assert giveaways(text, SPEC) == found
