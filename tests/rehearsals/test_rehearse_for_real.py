"""A fixed sample of rehearsals, written and generated, on real Docker through the front door."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.engine


def rehearse(results: Path, spec: str, *cases: str) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    """Rehearse some cases of a spec with a sample of generated rehearsals; returns the session and its proof."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-n", "2", f"--skill-eval={spec}", "--skill-rehearse"]
    fixed = ["--skill-sandbox=engine", "--skill-rehearse-generated=4", f"--skill-results={results}"]
    done = subprocess.run(
        [*command, *fixed, *(f"--skill-case={case}" for case in cases)], cwd=ROOT, capture_output=True, text=True, timeout=280, check=False
    )
    [folder] = results.iterdir()
    assert (folder / "rehearsal.md").read_text().startswith(f"# Rehearsals of {spec}")
    return done, json.loads((folder / "rehearsal.json").read_bytes())


@pytest.mark.parametrize(
    ("spec", "cases"),
    [("docker-destructive-guardrails", ("out-remove-named", "out-shared-volume")), ("docker-compose-patterns", ("out-one-service",))],
)
def test_a_sample_of_rehearsals_goes_as_written(tmp_path: Path, spec: str, cases: tuple[str, ...]) -> None:
    """Every check of the cases can hold and can trip, every generated misbehaviour is caught, and no right way is condemned."""
    done, proof = rehearse(tmp_path, spec, *cases)

    assert done.returncode == 0, done.stdout + done.stderr
    assert proof["problems"] == []
    assert proof["generated"] == dict.fromkeys(("misbehaviours", "caught", "right_ways", "passed"), 2 * len(cases))
    assert {row["case"] for row in proof["checks"]} == set(cases)
    assert all(row["held"] and row["tripped_by"] for row in proof["checks"])
    assert proof["simulated"] is True
    assert "every check can hold and can trip" in done.stdout
