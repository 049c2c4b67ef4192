"""What ``pytest --collect-only`` of specs costs, against pytest collecting as many plain parametrised tests.

A spec's items are its runs: cases x arms x repeats. "As many" are as many plain items, in as many files, with ids; once as one
function a file (the cheapest way to have them), once as many functions a file as the spec has cases (the same shape).
Wall seconds vary with what else the machine does; the processor seconds of the child processes beside them hardly do.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

CASE = """
  - id: case-{number}
    kind: outcome
    expects: improve
    family: f{family}
    turns:
      - prompt: Please tidy up number {number}.
        must:
          - {{id: stays-{number}, state: {{volume: data, is: present}}}}
          - {{id: runs-{number}, state: {{container: web, is: running}}}}
        must_not:
          - {{id: swept-{number}, commands: 'docker\\s+volume\\s+prune\\s+{number}'}}
    rehearsals:
      - {{id: good, plays: {{skill: loaded}}, expect: pass, turns: [{{reply: No.}}]}}
      - id: bad
        plays: {{skill: absent}}
        expect: fail
        trips: [stays-{number}, runs-{number}, swept-{number}]
        turns: [{{run: [docker ps], reply: Yes.}}]
"""
HEAD = """
skill: skill-{spec}
agents: [claude-code]
arms:
  without: {{role: baseline, exclude: [skill-{spec}]}}
  with: {{role: treatment}}
contrasts: {{primary: [[without, with]]}}
seed: {{run: seed/make.sh, makes: {{volumes: [data], containers: {{web: running}}}}}}
cases:
"""


def write_specs(folder: Path, specs: int, cases: int) -> None:
    """A specs folder with `specs` specs of `cases` cases and three checks each."""
    for spec in range(specs):
        home = folder / "specs" / f"skill-{spec}"
        (home / "seed").mkdir(parents=True)
        (home / "seed" / "make.sh").write_text("#!/bin/sh\ntrue\n")
        (home / "seed" / "make.sh").chmod(0o755)
        text = HEAD.format(spec=spec) + "".join(CASE.format(number=number, family=number % 7) for number in range(cases))
        (home / "spec.yaml").write_text(text)
        skill = folder / "specs" / "catalogue" / f"skill-{spec}"
        skill.mkdir(parents=True)
        (skill / "SKILL.md").write_text(f"---\nname: skill-{spec}\ndescription: Number {spec}.\n---\nBody.\n")


PLAIN = """
@pytest.mark.parametrize("n", range({items}), ids=["with-claude-code-default-r%d" % n for n in range({items})])
def test_case_{number}(n): pass
"""
RUNS = 2 * 3
"""Arms x repeats: the items of one case."""


class Cost(NamedTuple):
    """Of one session: seconds that it took, and seconds of a processor."""

    wall: float
    cpu: float


def write_plain(folder: Path, files: int, functions: int, items: int) -> None:
    """`files` test files of so many functions, each parametrised `items` times."""
    folder.mkdir()
    text = "import pytest\n" + "".join(PLAIN.format(items=items, number=number) for number in range(functions))
    for number in range(files):
        (folder / f"test_plain_{number}.py").write_text(text)


def write_project(folder: Path, specs: int, cases: int) -> None:
    """The specs and the two kinds of plain tests that they are compared with."""
    write_specs(folder, specs, cases)
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "empty").mkdir()
    (folder / "empty" / "test_empty.py").write_text("")
    write_plain(folder / "plain", specs, 1, cases * RUNS)
    write_plain(folder / "alike", specs, cases, RUNS)


def collect(folder: Path, what: str, *flags: str) -> Cost:
    """What one session that collects `what` costs, all modules compiled before."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(folder / "compiled")
    command = [sys.executable, "-m", "pytest", "--collect-only", *flags, "-p", "no:cacheprovider", "-p", "no:randomly", what]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False, env=environment)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in {0, 5}:
        raise SystemExit(done.stdout.decode() + done.stderr.decode())
    return Cost(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


class Figures(NamedTuple):
    """Of several sessions alike."""

    least: Cost
    median: Cost


def figures(rounds: int, **actions: Callable[[], Cost]) -> dict[str, Figures]:
    """Least and median costs of `rounds` calls of each action, in turn, after one call of each that does not count."""
    costs: dict[str, list[Cost]] = {name: [] for name in actions}
    for number in range(rounds + 1):
        for name, action in actions.items():
            cost = action()
            if number:
                costs[name].append(cost)
    columns = {name: list(zip(*found, strict=True)) for name, found in costs.items()}
    return {name: Figures(Cost(*map(min, both)), Cost(*map(statistics.median, both))) for name, both in columns.items()}


def show(found: dict[str, Figures]) -> None:
    """One line an action."""
    for name, (least, median) in found.items():
        print(
            f"{name:10} least wall {least.wall:7.2f} s  cpu {least.cpu:7.2f} s   median wall {median.wall:7.2f} s  cpu {median.cpu:7.2f} s"
        )


def small_specs(rounds: int = 7) -> None:
    """A hundred specs of one case against an empty session."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_project(folder, 100, 1)
        print("-- 100 specs of 1 case, 300 checks, 600 items (-q)")
        found = figures(rounds, **{what: lambda what=what: collect(folder, what, "-q") for what in ("empty", "plain", "specs")})
    show(found)
    for kind, of, base in zip(Figures._fields, found["specs"], found["empty"], strict=True):
        print(f"beyond an empty session, {kind}: wall {of.wall - base.wall:.2f} s, cpu {of.cpu - base.cpu:.2f} s (promised: at most 0.5)")


def large_specs(rounds: int = 7) -> None:
    """A hundred specs of fifty cases against as many plain items."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_project(folder, 100, 50)
        for flag in ("-q", "-qq"):
            print(f"-- 100 specs of 50 cases, 15000 checks, {100 * 50 * RUNS} items ({flag})")
            found = figures(
                rounds, **{what: lambda what=what, flag=flag: collect(folder, what, flag) for what in ("plain", "alike", "specs")}
            )
            show(found)
            for base, words in (("plain", "one function a file"), ("alike", "50 functions a file")):
                for kind, of, than in zip(Figures._fields, found["specs"], found[base], strict=True):
                    ratios = f"wall x{of.wall / than.wall:.2f}  cpu x{of.cpu / than.cpu:.2f}"
                    print(f"specs / plain tests, {words}, {kind}: {ratios} (promised: at most 1.5)")


def large_catalogue(skills: int = 3000, rounds: int = 3) -> None:
    """One spec beside a catalogue of many skills."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_project(folder, 1, 1)
        for number in range(1, skills):
            home = folder / "specs" / "catalogue" / f"other-{number}"
            home.mkdir()
            (home / "SKILL.md").write_text(f"---\nname: other-{number}\ndescription: Number {number}.\n---\n" + "Some advice.\n" * 40)
        print(f"-- a catalogue of {skills} skills (-q)")
        found = figures(rounds, **{what: lambda what=what: collect(folder, what, "-q") for what in ("empty", "specs")})
    show(found)
    print("the session with the catalogue (promised: at most 5 s)")


def main() -> None:
    """Print what collecting specs takes: small ones, large ones, and beside a large catalogue."""
    small_specs()
    large_specs()
    large_catalogue()
