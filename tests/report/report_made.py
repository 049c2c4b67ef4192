"""Runs and specs made up for the tests of the report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pytest_skilleval.core.evidence import CheckResult, Loaded, RemovedObject, RunScore
from pytest_skilleval.core.plan import Row
from pytest_skilleval.core.record import MeasuredRun, RunRecord, TokenSplit
from pytest_skilleval.core.transcript import Usage
from pytest_skilleval.report.facts import ArmFacts, CaseFacts, GateFacts, SessionFacts, SpecFacts

SKILL = "docker-destructive-guardrails"
LETTERS = {"p": "pass", "f": "fail", "u": "undecided"}
LOST = {"e": ("error", "sandbox"), "a": ("error", "agent_api"), "v": ("void", "arm")}

DATA_A = {
    "without": ["ppp", "pff", "fff", "ppf", "fff", "ppf", "pff", "ppp"],
    "with": ["ppp", "ppp", "ppp", "ppf", "ppp", "ppp", "pff", "ppp"],
}
"""Data A of the worked examples: changed these cases, not shown for new ones."""

DATA_B = {
    "without": ["pffff", "ppfff", "fffff", "pppff", "ppfff", "fffff", "pffff", "ppppf"],
    "with": ["ppppp", "ppppp", "ppppf", "ppppp", "ppppp", "ppppp", "pppff", "ppppp"],
}
"""Data B: shown for new cases."""


def spec(
    cases: Iterable[str] = (), *, kind: str = "outcome", gate: GateFacts | None = None, extra: dict[str, CaseFacts] | None = None
) -> SpecFacts:
    """A spec with a baseline, a treatment and two references."""
    return SpecFacts(
        skill=SKILL,
        summary="Ask before sweeping deletions.",
        arms={
            "without": ArmFacts(role="baseline", installs=False, why_not="the skill is not installed in this arm", delivers="without"),
            "with": ArmFacts(role="treatment", delivers="with"),
            "rules": ArmFacts(role="reference", installs=False, why_not="the arm carries the policy in its instructions", delivers="rules"),
            "control": ArmFacts(role="reference", installs=False, why_not="the skill is not installed in this arm", delivers="guard"),
        },
        primary=(("without", "with"),),
        secondary=(("without", "rules"),),
        cases={case: CaseFacts(kind=kind, expects="improve") for case in cases} | (extra or {}),
        gate=gate,
    )


def run(
    case: str,
    arm: str,
    letter: str = "p",
    repeat: int = 1,
    *,
    kind: str = "outcome",
    agent: str = "claude-code",
    model: str = "default",
    expects: str | None = "improve",
    family: str | None = None,
    removed: Sequence[RemovedObject] = (),
    loaded: Sequence[str] | None = None,
    checks: Sequence[CheckResult] | None = None,
    provenance: dict[str, str] | None = None,
    warnings: Sequence[str] = (),
    denied: Sequence[str] = (),
    simulated: bool = False,
    asked_first: bool = False,
    selected: bool = True,
    models_reported: tuple[str, ...] = (),
    cost: float | None = 0.05,
    seconds: float = 40.0,
    tokens: int = 1000,
    uncached: float | None = None,
    split: tuple[float, float, float] | None = None,
) -> MeasuredRun:
    """One run; `letter`: p pass, f fail, u undecided, e sandbox error, a API error, v void, - no record."""
    row = Row(
        index=0,
        run_id=f"{case}.{arm}.{agent}.{model}.r{repeat}",
        skill=SKILL,
        case=case,
        kind=kind,
        arm=arm,
        agent=agent,
        model=model,
        repeat=repeat,
        block=repeat,
        selected=selected,
    )
    status, blame = LOST.get(letter, ("scored", None))
    record = (
        None
        if letter == "-"
        else RunRecord(
            row=row,
            status=status,
            blame=blame,
            detail="engine died" if blame else "",
            simulated=simulated,
            provenance=provenance or {},
            warnings=tuple(warnings),
        )
    )
    score = None
    if letter in LETTERS:
        skills = loaded if loaded is not None else ([SKILL] if arm == "with" else [])
        score = RunScore(
            verdict=LETTERS[letter],
            reason={"p": "all held", "f": "swept violated", "u": "no judge"}[letter],
            checks=tuple(checks) if checks is not None else (_check(letter),),
            loaded=tuple(Loaded(skill=skill, how="tool", turn=1) for skill in skills),
            executed=("docker ps",),
            attempted=("docker ps",),
            denied=tuple(denied),
            removed=tuple(removed),
            asked_first=asked_first,
        )
    return MeasuredRun(
        row=row,
        record=record,
        score=score,
        usage=Usage(input=tokens, output=tokens // 10, known=True),
        cost_usd=cost,
        uncached_usd=uncached,
        split=TokenSplit(listing=split[0], body=split[1], work=split[2]) if split else None,
        seconds=seconds,
        turns_sent=1,
        tool_calls=3,
        family=family,
        expects=expects,
        models_reported=models_reported,
    )


def grid(data: dict[str, list[str]], **more: object) -> list[MeasuredRun]:
    """Runs of `arm -> one word of letters per case`."""
    return [
        run(f"case-{place:02}", arm, letter, repeat, **more)
        for arm, words in data.items()
        for place, word in enumerate(words)
        for repeat, letter in enumerate(word, start=1)
    ]


def names(data: dict[str, list[str]]) -> list[str]:
    """Case ids of a grid."""
    return [f"case-{place:02}" for place in range(len(next(iter(data.values()))))]


def session(**more: object) -> SessionFacts:
    """A whole session."""
    return SessionFacts(**{"random_seed": 7, "folder": "skill-results/20261130T000000Z-guard", **more})


def _check(letter: str) -> CheckResult:
    verdict = {"p": "held", "f": "violated", "u": "undecided"}[letter]
    return CheckResult(
        id="swept",
        kind="judge" if letter == "u" else "commands",
        polarity="must_not",
        turn=1,
        verdict=verdict,
        detail="no judge" if letter == "u" else "",
    )
