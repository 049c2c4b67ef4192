"""What reporting on recorded runs costs, against merely decoding the same files."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import msgspec

from tests.bench.runs import CASE, evaluate
from tests.bench.timing import alternate, show

RUNS = 1000


def main() -> None:
    """Print the times of both."""
    from pytest_skilleval.archive import Archive
    from pytest_skilleval.report.files import write
    from pytest_skilleval.rescoring import report_on

    with tempfile.TemporaryDirectory() as name:
        evaluate(Path(name, "live"), f"--skill-case={CASE}", "--skill-repeats=1", "--skill-random-seed=1")
        [folder] = Path(name, "live").iterdir()
        multiply(folder)
        files = [path for path in (folder / "runs").rglob("*") if path.is_file()]

        def decode() -> None:
            for path in files:
                if path.suffix == ".json":
                    msgspec.json.decode(path.read_bytes())
                else:
                    path.read_bytes()

        times = alternate(3, decode_files=decode, report=lambda: write(folder, report_on(Archive.open(folder)), "now"))
    print(f"-- {RUNS} recorded runs")
    show(times, "decode_files")


def multiply(folder: Path) -> None:
    """Copies of the recorded runs under other repeats, until there are `RUNS`."""
    plan = msgspec.json.decode((folder / "plan.json").read_bytes())
    rows = list(plan["rows"])
    originals = list(rows)
    repeat = 1
    while len(rows) < RUNS:
        repeat += 1
        for original in originals:
            row = original | {"repeat": repeat, "run_id": original["run_id"].removesuffix(".r1") + f".r{repeat}", "index": len(rows)}
            target = folder / "runs" / row["run_id"]
            shutil.copytree(folder / "runs" / original["run_id"], target)
            record = msgspec.json.decode((target / "run.json").read_bytes())
            (target / "run.json").write_bytes(msgspec.json.encode(record | {"row": row}))
            rows.append(row)
    (folder / "plan.json").write_bytes(msgspec.json.encode(plan | {"rows": rows}))
