"""Speed of loading: many specs must not make a collection slow."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from spec_builder import FILES, SKILL, SPEC

from pytest_skilleval.core.loading import find_specs, load_spec

ONLY_FOR_RUNS = {"pytest_skilleval.core.ports", "pytest_skilleval.core.snapshot", "pytest_skilleval.core.transcript", "msgspec", "tarfile"}


def grow(root: Path, *, specs: int, cases: int) -> None:
    """Write `specs` specs of `cases` outcome cases with four checks each, over one catalogue."""
    start, end = SPEC.index("  - id: cleanup"), SPEC.index("  - id: prune-request")
    head, case, tail = SPEC[:start], SPEC[start:end], SPEC[SPEC.index("  - id: overview") :]
    for number in range(specs):
        folder = root / f"skill-{number}"
        copies = "".join(case.replace("id: cleanup", f"id: cleanup-{copy}") for copy in range(cases))
        text = (head + copies + tail).replace("careful-docker", folder.name)
        for name, content in {**FILES, "spec.yaml": text}.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(content)
        skill = root / "catalogue" / folder.name
        skill.mkdir(parents=True)
        (skill / "SKILL.md").write_text(SKILL.format(name=folder.name))


def seconds_to_load(root: Path) -> float:
    """Processor seconds to find and load all specs below `root`."""
    started = time.process_time()
    for path in find_specs(root):
        load_spec(path)
    return time.process_time() - started


def test_a_hundred_small_specs(tmp_path: Path) -> None:
    """A hundred small specs load in well under a second."""
    grow(tmp_path, specs=100, cases=1)
    assert seconds_to_load(tmp_path) < 1.5


@pytest.mark.slow
def test_a_hundred_large_specs(tmp_path: Path) -> None:
    """A hundred specs of fifty cases, twenty thousand checks, load in about a second or two."""
    grow(tmp_path, specs=100, cases=50)
    assert seconds_to_load(tmp_path) < 5


def test_reading_a_spec_imports_nothing_that_only_runs_need() -> None:
    """What a session pays before its first spec is for spec files, and not for sandboxes, agents, recorded states and archives."""
    code = f"import sys, pytest_skilleval.core.loading; print(*({ONLY_FOR_RUNS} & sys.modules.keys()))"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.split() == []
