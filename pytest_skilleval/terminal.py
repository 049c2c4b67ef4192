"""What an evaluation says on the terminal: its size before the first run, how it is going, and the report. No arithmetic."""

from __future__ import annotations

import os
import shutil
import time
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from pytest_skilleval.report.words import plural
from pytest_skilleval.session import EVALUATION, say
from pytest_skilleval.session.models import pays_by_sign_in
from pytest_skilleval.session.outcomes import summary_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_skilleval.core.estimates import Estimate
    from pytest_skilleval.core.plan import Plan
    from pytest_skilleval.session.conclusion import Conclusion
    from pytest_skilleval.session.evaluation import Evaluation

PAUSE = 3.0
"""Seconds between two lines of progress."""


def size(plan: Plan) -> str:
    """``24 runs: 4 cases x 2 arms x 3 repeats (claude-code default)``; why it is less than the product, where it is."""
    rows = plan.selected
    arms, asked = {row.arm for row in rows}, {row.arm for row in rows if row.kind == "trigger"}
    fewer = ", trigger cases only in arms that install the skill" if asked and asked != arms else ""
    agents = sorted({f"{row.agent} {row.model}" for row in rows})
    counts = f"{plural(len({(row.skill, row.case) for row in rows}), 'case')} x {plural(len(arms), 'arm')}"
    what = "rehearsals" if plan.rehearsal else f"{counts} x {plural(max((row.repeat for row in rows), default=0), 'repeat')}{fewer}"
    left_out = sum(not (row.selected or plan.beyond(row)) for row in plan.rows)
    partial = f"; {left_out} of the plan left out, so this session is partial: no effect verdict, no gate" if left_out else ""
    return f"{plural(len(rows), 'run')}: {what} ({', '.join(agents)}){partial}"


def opening(evaluation: Evaluation) -> Iterator[str]:
    """What is about to happen: said before the first run."""
    from pytest_skilleval.core.estimates import estimate

    plan, place = evaluation.plan, evaluation.place
    turns = {(skill, case.id): len(case.all_turns) for skill in plan.skills for case in evaluation.spec(skill).spec.cases}
    done = evaluation.planned.done
    rows = [row for row in plan.selected if row.key not in done]
    expected = estimate(rows, turns, workers=evaluation.workers, prices=evaluation.prices)
    yield f"skilleval: {', '.join(sorted({row.skill for row in plan.selected}))}"
    yield f"  {size(plan)}"
    if plan.looks:
        looks = ", ".join(f"{look.repeats} (testing at {look.alpha:g})" for look in plan.looks)
        ends = "an early one ends the session when every primary contrast changed, or nothing is in sight"
        yield f"  planned looks after repeats {looks}; {ends}"
    if done:
        yield f"  {len(done)} of them are measured already"
    if place is not None:
        yield f"  sandbox: {place.backend.name}: {place.reason}"
        yield from (f"    limit: {limit}" for limit in place.limits if evaluation.live)
    yield f"  expected: about {duration(expected.seconds)}, {_money(expected, evaluation)}; assumed from round figures a turn, not measured"
    if evaluation.live and evaluation.prices.own:
        yield f"  prices: {evaluation.prices.own.told}; before the shipped ones"
    yield f"  random seed: {plan.random_seed} ({plan.seed_origin})"
    yield from (f"  results: {archive.folder}" for archive in evaluation.archives.values())
    yield from (f"  warning: {text}" for text in plan.warnings)


def _money(expected: Estimate, evaluation: Evaluation) -> str:
    if not evaluation.live:
        return "no money"
    if pays_by_sign_in(evaluation.plan, os.environ):
        return "no money, but limits of the account that is signed in"
    limit = f"stops at ${evaluation.settings.max_cost:.2f}"
    if expected.usd is None:
        return f"money unknown ({limit}): no price is known for {', '.join(expected.unpriced)}, add it with --skill-prices"
    return f"about ${expected.usd:.2f} ({limit})"


def attach(config: pytest.Config) -> None:
    """Show this process' evaluation on its terminal, if it has both (workers have no terminal)."""
    evaluation = config.stash.get(EVALUATION, None)
    if evaluation is not None and config.pluginmanager.has_plugin("terminalreporter"):
        config.pluginmanager.register(Screen(evaluation), "skilleval-screen")


class Screen:
    """What is said about an evaluation: its size at the beginning, now and then how it goes, its report at the end."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation
        self._started = self._said = time.monotonic()
        self._done: set[str] = set()
        self._counts: Counter[str] = Counter()

    def pytest_skilleval_begin(self, config: pytest.Config) -> None:
        """Before the first run."""
        self._started = self._said = time.monotonic()
        say(config, *opening(self._evaluation))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A report arrived, from here or from a worker."""
        if report.nodeid in self._done or not self._ends_run(report):
            return
        found = summary_in(report.user_properties)
        self._done.add(report.nodeid)
        self._counts[_kind(report, found)] += 1
        if time.monotonic() - self._said >= PAUSE:
            self._said = time.monotonic()
            # Only without a line per run does pytest, under xdist, forget that its last line is unfinished.
            unfinished = self._evaluation.workers > 1 and self._evaluation.config.getoption("verbose") <= 0
            say(self._evaluation.config, f"\n{self.line()}" if unfinished else self.line())

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """The report."""
        if self._evaluation.conclusion is not None:
            closing(terminalreporter, self._evaluation.conclusion)

    def line(self) -> str:
        """``12/24 runs, 8 passed, 3 not met, 1 error; 0:41 gone, about 0:41 to go; $0.12``; no money where none is spent."""
        done, total = len(self._done), len(self._evaluation.plan.selected) - len(self._evaluation.planned.done)
        gone = time.monotonic() - self._started
        verdicts = "".join(f", {count} {kind}" for kind, count in self._counts.most_common())
        times = f"{duration(gone)} gone, about {duration(gone / done * (total - done))} to go"
        money = f"; ${self._evaluation.ledger.spent_usd:.2f}" if self._evaluation.live else ""
        return f"skilleval: {done}/{total} runs{verdicts}; {times}{money}"

    def _ends_run(self, report: pytest.TestReport) -> bool:
        last = report.when == "call" or (report.when == "setup" and not report.passed) or report.when not in ("setup", "teardown")
        row = self._evaluation.planned.row_at(report.nodeid) if last else None
        return row is not None and not self._evaluation.plan.beyond(row)


def _kind(report: pytest.TestReport, found: Mapping[str, Any] | None) -> str:
    if found is None:
        return "not started" if report.skipped else "error"
    if found["rehearsal"] and found["verdict"]:
        return {"passed": "as written", "failed": "not as written"}.get(report.outcome, "undecided")
    return {"pass": "passed", "fail": "not met", "undecided": "undecided"}.get(found["verdict"], str(found["status"]))


def closing(reporter: pytest.TerminalReporter, conclusion: Conclusion) -> None:
    """The report of each spec; the very last line says the exit code and why."""
    from pytest_skilleval.report.rehearsals import matrix_lines
    from pytest_skilleval.report.terminal import terminal_lines

    for report in conclusion.reports:
        reporter.write_sep("=", f"skilleval: {report.document.skill}")
        for line in terminal_lines(report, shutil.get_terminal_size().columns):
            reporter.write_line(line.text, **line.markup)
    for proof in conclusion.proofs:
        reporter.write_sep("=", f"skilleval: rehearsals of {proof.skill}")
        for row in matrix_lines(proof):
            reporter.write_line(row)
        for problem in proof.problems:
            reporter.write_line(problem, red=True)
    if len(conclusion.reports) != 1:
        reporter.write_line(f"Exit {conclusion.code}: {conclusion.reason}", bold=True)


def duration(seconds: float) -> str:
    """``0:41``, ``12:05``, ``1:02:03``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
