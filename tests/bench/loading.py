"""What validating specs costs, against pytest collecting as many plain parametrised tests."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.bench.timing import alternate, show

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


def main() -> None:
    """Print what collecting 100 specs takes, small ones and large ones."""
    for specs, cases in ((100, 1), (100, 50)):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_specs(folder, specs, cases)
            (folder / "pytest.ini").write_text("[pytest]\n")
            (folder / "empty").mkdir()
            (folder / "empty" / "test_empty.py").write_text("")
            (folder / "plain").mkdir()
            count = specs * cases * 2 * 3  # arms x repeats: as many items as the specs make
            (folder / "plain" / "test_plain.py").write_text(
                f"import pytest\n@pytest.mark.parametrize('n', range({count}))\ndef test_plain(n): pass\n"
            )

            def collect(*arguments: str, where: Path = folder) -> None:
                command = [
                    sys.executable,
                    "-m",
                    "pytest",
                    "--collect-only",
                    "-q",
                    "-p",
                    "no:cacheprovider",
                    "-p",
                    "no:randomly",
                    *arguments,
                ]
                done = subprocess.run(command, cwd=where, capture_output=True, check=False)
                if done.returncode not in {0, 5}:
                    raise SystemExit(done.stdout.decode() + done.stderr.decode())

            print(f"-- {specs} specs of {cases} cases, {specs * cases * 3} checks, {count} items")
            times = alternate(3, empty=lambda: collect("empty"), plain=lambda: collect("plain"), specs=lambda: collect("specs"))
            show(times, "plain")
