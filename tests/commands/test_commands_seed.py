"""``skilleval seed SPEC CASE``: a seed run by hand, and a look at what it made."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from commands_project import Skilleval

SPEC = Path(__file__).parents[2] / "specs" / "docker-compose-patterns" / "spec.yaml"
NAMES = "docker ps -a --format {{.Names}}"
RUNNING = {"inventory-db-1", "inventory-api-1", "inventory-cache-1", "inventory-legacy-1", "billing-api-1"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([SPEC], "give SPEC and CASE to look at a seed"),
        ([SPEC, "out-nothing"], "no case 'out-nothing'"),
        ([SPEC, "out-one-service", "--skin", "1"], "there is no skin 1; "),
        ([SPEC, "out-one-service", "--skin", "-1"], "there is no skin -1; "),
    ],
)
def test_what_is_not_there_is_told(skilleval: Skilleval, arguments: list[str | Path], said: str) -> None:
    """A call without a case, and a case or a skin that the spec does not have, are usage errors that say what there is."""
    code, _, error = skilleval("seed", *arguments)

    assert code == 4
    assert said in error


@pytest.mark.engine
def test_a_command_runs_in_the_seeded_world(skilleval: Skilleval) -> None:
    """--run gives the command's output and exit code."""
    code, told, _ = skilleval("seed", SPEC, "out-one-service", "--run", f"{NAMES}; exit 7")

    assert (code, set(told.split())) == (7, RUNNING)


@pytest.mark.engine
def test_the_sandbox_stays_open_until_somebody_has_looked() -> None:
    """It says how to look inside; the way in leads to what the seed made, and to nothing any more once Enter was pressed."""
    command = [sys.executable, "-m", "pytest_skilleval", "seed", str(SPEC), "out-one-service"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as seed:
        assert seed.stdin is not None
        assert seed.stdout is not None
        way_in = next(line for line in seed.stdout if line.startswith("  ")).split()
        look = [*way_in, "-c", NAMES]
        inside = subprocess.run(look, capture_output=True, text=True, timeout=60, check=True)
        seed.communicate("\n", timeout=60)

    assert set(inside.stdout.split()) == RUNNING
    assert seed.returncode == 0
    assert subprocess.run(look, capture_output=True, timeout=60, check=False).returncode != 0
