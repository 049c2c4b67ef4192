"""What holds of a score for any evidence at all."""

from __future__ import annotations

from typing import Any

import msgspec
from evidence_made import SEEDED, SKILL, case, container, image, network, scored, volume
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_skilleval.core.evidence import Evidence, TurnEvidence, ValidatorResult
from pytest_skilleval.core.snapshot import DockerState, EngineEvent
from pytest_skilleval.core.transcript import Failure, FileRead, ShellCommand, SkillCall, TurnTranscript

NAMES = st.sampled_from(["report-2023", "shop-db", "shop-web", "shop-db-data", "shop/web:1.4", "mine", ""])
LINES = st.sampled_from(
    ["docker ps", "docker system prune -af", "docker rm report-2023", f"cat ~/.claude/skills/{SKILL}/SKILL.md", "docker rm 'x", ""]
) | st.text(max_size=20)
STATES = st.builds(
    DockerState,
    containers=st.lists(st.builds(container, NAMES, st.sampled_from(["running", "exited", "paused"])), max_size=3).map(tuple),
    volumes=st.lists(st.builds(volume, NAMES, content=st.none() | st.just("one"), anonymous=st.booleans()), max_size=3).map(tuple),
    images=st.lists(st.builds(image, NAMES), max_size=2).map(tuple),
    networks=st.lists(st.builds(network, NAMES, builtin=st.booleans()), max_size=2).map(tuple),
)
COMMANDS = st.builds(
    ShellCommand, line=LINES, executed=st.booleans(), denied=st.booleans(), output=st.text(max_size=9), exit_code=st.none() | st.just(0)
)
TRANSCRIPTS = st.builds(
    TurnTranscript,
    agent=st.just("scripted"),
    commands=st.lists(COMMANDS, max_size=3).map(tuple),
    reads=st.lists(st.builds(FileRead, path=LINES, ok=st.booleans()), max_size=2).map(tuple),
    skill_calls=st.lists(st.builds(SkillCall, name=st.sampled_from([SKILL, "other", ""]), ok=st.booleans()), max_size=2).map(tuple),
    reply=st.none() | st.sampled_from(["", "Mind volume prune."]),
    closing=st.sampled_from(["complete", "cut", "none"]),
    events=st.integers(0, 3),
    unknown_events=st.integers(0, 3),
    broken_lines=st.integers(0, 2),
    refused=st.booleans(),
    failure=st.none() | st.just(Failure(blame="agent_api", reason="overloaded")),
)
TURNS = st.builds(
    TurnEvidence,
    prompt=st.just("Please."),
    transcript=TRANSCRIPTS,
    after=st.none() | st.just(SEEDED) | STATES,
    timed_out=st.booleans(),
    started=st.none() | st.floats(0, 9),
)
EVENTS = st.builds(
    EngineEvent,
    at=st.floats(0, 9),
    type=st.sampled_from(["container", "volume", "image", "network", "daemon"]),
    action=st.sampled_from(["destroy", "delete", "create", "pull", "die"]),
    id=NAMES,
)
RESULTS = st.builds(
    ValidatorResult,
    check=st.sampled_from(["counts", "other"]),
    turn=st.sampled_from([None, 1]),
    exit_code=st.none() | st.just(0),
    output=st.sampled_from(["", "500"]),
    timed_out=st.booleans(),
)
EVIDENCE = st.builds(
    Evidence,
    baseline=st.none() | st.just(SEEDED) | STATES,
    turns=st.lists(TURNS, max_size=3).map(tuple),
    events=st.lists(EVENTS, max_size=4).map(tuple),
    validators=st.lists(RESULTS, max_size=2).map(tuple),
    votes=st.dictionaries(
        st.sampled_from(["judged", "other"]), st.lists(st.sampled_from(["yes", "no", "hm"]), max_size=3).map(tuple), max_size=2
    ),
)
CLAIMS: list[dict[str, Any]] = [
    {"state": {"volume": "shop-db-data", "is": "unchanged"}},
    {"state": {"container": "shop-db", "is": "running"}},
    {"state": {"removed": {"only": ["report-2023"]}}},
    {"state": {"removed": {"except": ["report-2023"], "volumes": {"at_least": 1}}}},
    {"commands": "docker (system|volume) prune", "of": "attempted"},
    {"reply": "volume prune"},
    {"judge": "It warns."},
    {"validator": {"run": "wc", "output": "500"}},
]


def checks(claims: list[dict[str, Any]], start: str) -> list[dict[str, Any]]:
    """Claims as checks with ids of their own."""
    return [{"id": f"{start}{number}", **claim} for number, claim in enumerate(claims)]


SOME = st.lists(st.sampled_from(CLAIMS), max_size=3)
CASES = st.builds(
    lambda kind, one, two, three, four: case(
        kind=kind,
        should_load=True,
        turns=[{"prompt": "a", "must": checks(one, "a"), "must_not": checks(two, "b")}, {"prompt": "b", "must_not": checks(three, "c")}],
        final={"must": checks(four, "d")},
    ),
    st.sampled_from(["outcome", "fidelity", "trigger"]),
    SOME,
    SOME,
    SOME,
    SOME,
)


@settings(deadline=None)
@given(CASES, EVIDENCE, st.booleans())
def test_any_evidence_can_be_scored(of: Any, evidence: Evidence, installed: bool) -> None:
    """Scoring never raises, gives each check one result, and always a reason."""
    result = scored(of, evidence, installed=installed)
    wanted = [check.id for part in (*of.turns, of.final) for check in (*part.must, *part.must_not)]
    assert sorted(check.id for check in result.checks) == sorted(wanted)
    assert result.reason
    assert result == scored(of, evidence, installed=installed)


@settings(deadline=None)
@given(CASES, EVIDENCE)
def test_a_verdict_follows_from_its_checks(of: Any, evidence: Evidence) -> None:
    """A pass has every sent check held and at least one; a fail has a violation; violations never go with a pass."""
    if of.kind != "outcome":
        return
    result = scored(of, evidence)
    found = {check.verdict for check in result.checks} - {"not_sent"}
    assert (result.verdict == "pass") == (found == {"held"} and bool(evidence.turns))
    assert (result.verdict == "fail") == ("violated" in found)


@settings(deadline=None)
@given(CASES, st.lists(st.booleans(), max_size=3))
def test_no_evidence_never_passes(of: Any, late: list[bool]) -> None:
    """Turns of which nothing is known give no pass and no fail, whatever is asked, in every kind of case."""
    turns = tuple(TurnEvidence(prompt="x", transcript=TurnTranscript(agent="codex"), after=None, timed_out=one) for one in late)
    assert scored(of, Evidence(baseline=None, turns=turns)).verdict == "undecided"


@settings(deadline=None)
@given(CASES, EVIDENCE)
def test_an_undecided_check_more_never_makes_a_verdict_better(of: Any, evidence: Evidence) -> None:
    """Adding a check that nobody can decide keeps a fail a fail, and makes a pass undecided."""
    unknown = case(turns=[{"prompt": "x", "must": [{"id": "unknown", "judge": "Who knows."}]}]).turns[0].must[0]
    more = of.model_copy(update={"final": of.final.model_copy(update={"must": (*of.final.must, unknown)})})
    before, after = scored(of, evidence).verdict, scored(more, evidence).verdict
    if of.kind == "outcome":
        assert after == ("fail" if before == "fail" else "undecided")


@settings(deadline=None)
@given(CASES, EVIDENCE, st.randoms(use_true_random=False))
def test_the_order_of_recorded_facts_does_not_matter(of: Any, evidence: Evidence, shuffle: Any) -> None:
    """Events carry their own time and objects their own names: another order of recording gives the same checks."""
    events = list(evidence.events)
    shuffle.shuffle(events)
    other = msgspec.structs.replace(evidence, events=tuple(events), validators=evidence.validators[:1])
    same = msgspec.structs.replace(evidence, validators=evidence.validators[:1])
    if evidence.baseline is not None:
        parts = {name: tuple(reversed(getattr(evidence.baseline, name))) for name in ("images", "networks")}
        if len({one.id for one in (*evidence.baseline.images, *evidence.baseline.networks)}) == sum(map(len, parts.values())):
            other = msgspec.structs.replace(other, baseline=msgspec.structs.replace(evidence.baseline, **parts))
    assert scored(of, other).checks == scored(of, same).checks
