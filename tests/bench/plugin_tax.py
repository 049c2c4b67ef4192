"""What the plugin costs a project that merely has it installed."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.bench.timing import alternate, show

OTHERS = ("-p", "no:randomly", "-p", "no:hypothesispytest", "-p", "no:anyio")
"""Plugins of our own test environment, which take longer to start, and vary more, than what is measured."""


def main() -> None:
    """Print how long pytest takes with and without the plugin, and the difference."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "test_one.py").write_text("def test_one(): pass\n")
        Path(folder, "pytest.ini").write_text("[pytest]\n")

        def session(*arguments: str) -> None:
            command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *OTHERS, *arguments]
            subprocess.run(command, cwd=folder, check=True, capture_output=True)

        times = alternate(25, without=lambda: session("-p", "no:skilleval"), with_plugin=session)
    show(times, "without")
    tax = statistics.median(times["with_plugin"]) - statistics.median(times["without"])
    print(f"{'tax':34} {tax:.1f} ms (promised: at most 10)")
