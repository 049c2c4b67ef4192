"""``skilleval selftest``: measure scripted agents whose effect is known, and see what the instrument finds."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

    from pytest_skilleval.selftest.results import Result
    from pytest_skilleval.selftest.standards import Standard

HELP = "Measure scripted agents with a known effect, and tell how often the instrument is right (no agent, no Docker, no network)."
FEWEST_SESSIONS = 60
"""Below 59, not even no false claim at all would show that there are at most 5 %."""
SESSIONS, REAL_SESSIONS = 300, 1
AGENTS = ("claude-code", "codex", "scripted")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("standards", nargs="*", metavar="STANDARD", help="names of standards (all, if none is given)")
    parser.add_argument(
        "--sessions",
        type=int,
        help=f"sessions of each standard (in process {SESSIONS}: some two minutes for all, 5000 to publish; with --agent {REAL_SESSIONS})",
    )
    parser.add_argument("--random-seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=1, help="how many processes share the work; no figure depends on it")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument(
        "--looks", action="store_true", help="ten repeats with looks after 3, 6 and 10: errors at each stop, and calls saved"
    )
    kinds.add_argument("--agent", choices=AGENTS, help="make the sessions with pytest, sandboxes and this agent's CLI; see --folder")
    kinds.add_argument("--serve", action="store_true", help="for other harnesses: one session's scripted model on loopback, until Ctrl-C")
    kinds.add_argument("--score", action="store_true", help="for other harnesses: hold the results.jsonl in --folder against the truth")
    kinds.add_argument("--list", action="store_true", help="measure nothing; print the standards as JSON, for use by other harnesses")
    parser.add_argument("--folder", type=Path, default=Path("standards"), help="where such sessions are kept: only missing ones are made")


def run(options: argparse.Namespace) -> int:
    """Print what was found; 1 when a promise is broken, else 0."""
    from pytest_skilleval.selftest import telling

    chosen = _chosen(options.standards)
    if options.list:
        sys.stdout.write(json.dumps(telling.published(chosen), indent=1) + "\n")
        return 0
    with _ended_by_sigterm():
        if options.serve:
            return _serve(chosen, options)
        if options.score:
            return _score(options)
        if options.looks:
            return _looks(chosen, options)
        return _real(chosen, options) if options.agent else _in_process(chosen, options)


def _in_process(chosen: Sequence[Standard], options: argparse.Namespace) -> int:
    from pytest_skilleval.selftest.findings import find_all
    from pytest_skilleval.selftest.results import result

    sessions = _sessions(options, SESSIONS, FEWEST_SESSIONS)
    made = find_all(chosen, sessions=sessions, random_seed=options.random_seed, processes=options.processes, told=_tell)
    return _print([result(standard, found) for standard, found in made], options)


def _sessions(options: argparse.Namespace, usual: int, fewest: int) -> int:
    from pytest_skilleval.core.errors import UsageProblem

    sessions = usual if options.sessions is None else int(options.sessions)
    if sessions < fewest or options.processes < 1:
        raise UsageProblem(f"--sessions must be at least {fewest}, --processes at least 1")
    return sessions


def _print(results: Sequence[Result], options: argparse.Namespace, *beside: str) -> int:
    from pytest_skilleval.selftest import telling

    if options.json:
        sys.stdout.write(json.dumps(telling.document(results, options.random_seed), indent=1) + "\n")
    else:
        sys.stdout.writelines(f"{line}\n" for line in (*telling.lines(results), *beside))
    return 1 if any(one.state == "broken" for one in results) else 0


def _real(chosen: Sequence[Standard], options: argparse.Namespace) -> int:
    """Sessions by the whole product; 1 also when a run did not become what was drawn."""
    from pytest_skilleval.selftest import telling
    from pytest_skilleval.selftest.real import real_sessions
    from pytest_skilleval.selftest.results import result

    sessions = _sessions(options, REAL_SESSIONS, 1)
    made = [
        (
            one,
            list(
                real_sessions(
                    one,
                    agent=options.agent,
                    sessions=sessions,
                    random_seed=options.random_seed,
                    folder=options.folder.absolute(),
                    workers=options.processes,
                    told=_tell,
                )
            ),
        )
        for one in chosen
    ]
    results = [result(one, [session.found for session in real]) for one, real in made]
    code = _print(results, options, "", *telling.real(made))
    return 1 if any(session.strange for _, real in made for session in real) else code


def _looks(chosen: Sequence[Standard], options: argparse.Namespace) -> int:
    """Sessions with planned looks; 1 when false claims by any stop surely are more than promised."""
    from pytest_skilleval.selftest import telling
    from pytest_skilleval.selftest.looks import look_at

    sessions = _sessions(options, SESSIONS, FEWEST_SESSIONS)
    sys.stdout.write(f"{telling.STAMP}\n\n{telling.LOOKED_HEAD}\n")
    broken = False
    for one in chosen:
        looked = list(look_at(one, sessions=sessions, random_seed=options.random_seed, told=_tell))
        sys.stdout.writelines(f"{line}\n" for line in telling.looked(one, looked))
        broken |= telling.too_many_false(looked)
    return 1 if broken else 0


def _serve(chosen: Sequence[Standard], options: argparse.Namespace) -> int:
    """The next session's scripted model, until SIGINT or SIGTERM."""
    from pytest_skilleval.core.errors import UsageProblem
    from pytest_skilleval.selftest.others import RESULTS, RUNS, next_session, served

    if len(chosen) != 1:
        raise UsageProblem("--serve plays one session of one standard; name it")
    chances, folder = next_session(chosen[0], options.random_seed, options.folder)
    with served(chances, folder) as runs:
        sys.stdout.write(f"{len(runs)} runs in {folder / RUNS}; write their verdicts to {folder / RESULTS}\nserving; Ctrl-C ends\n")
        sys.stdout.flush()
        try:
            signal.pause()
        except KeyboardInterrupt:
            return 0
    return 0


def _score(options: argparse.Namespace) -> int:
    """Another harness' results; 1 also when it saw a run otherwise than it was drawn."""
    from pytest_skilleval.core.errors import UsageProblem
    from pytest_skilleval.selftest import telling
    from pytest_skilleval.selftest.others import RESULTS, scored
    from pytest_skilleval.selftest.results import result

    sessions = list(scored(options.folder))
    if not sessions:
        raise UsageProblem(f"no {RESULTS} in a folder below {options.folder}; see docs/selftest.md")
    standards = {session.standard.name: session.standard for session in sessions}
    results = [result(one, [session.found for session in sessions if session.standard == one]) for one in standards.values()]
    code = _print(results, options, "", *telling.scored(sessions))
    return 1 if any(session.strange for session in sessions) else code


def _tell(name: str) -> None:
    sys.stderr.write(f"{name}\n")


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Let SIGTERM end the command as Ctrl-C does: what is temporary is removed, a session under way closes its sandboxes."""

    def end(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _chosen(names: list[str]) -> list[Standard]:
    from pytest_skilleval.core.errors import UsageProblem
    from pytest_skilleval.core.nearest import did_you_mean
    from pytest_skilleval.selftest.standards import STANDARDS

    known = [one.name for one in STANDARDS]
    for name in names:
        if name not in known:
            raise UsageProblem(f"no standard {name!r}{did_you_mean(name, known)}; there are: {', '.join(known)}")
    return [one for one in STANDARDS if not names or one.name in names]
