"""One run, from an empty sandbox to ``run.json``: sandbox, arm, seed, snapshots, turns, validators, teardown, record."""

from pytest_skilleval.running.job import Cancellation, Job, RunOptions
from pytest_skilleval.running.story import run_one

__all__ = ["Cancellation", "Job", "RunOptions", "run_one"]
