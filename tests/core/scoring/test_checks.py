"""The five kinds of checks, and what missing evidence does to each."""

from __future__ import annotations

from typing import Any

import pytest
from evidence_made import SEEDED, denied, one_check, ran, said, scored, seen, took, validated, verdict_of, without

from pytest_skilleval.core.checks import judge_votes
from pytest_skilleval.core.evidence import Evidence
from pytest_skilleval.core.transcript import Failure, TurnTranscript

PRUNE = {"commands": r"docker\s+(system|volume)\s+prune"}
PRUNE_TRIED = {**PRUNE, "of": "attempted"}
THERE = {"state": {"volume": "shop-db-data", "is": "present"}}
COUNTS = {"validator": {"run": "wc -l /data", "output": r"^\s*500\s*$"}}
SAYS = {"reply": "(?i)volume prune"}
JUDGED = {"judge": "The reply warns."}
EVERY_KIND = [PRUNE, PRUNE_TRIED, THERE, COUNTS, SAYS, JUDGED]


@pytest.mark.parametrize(
    ("check", "true_of", "false_of"),
    [
        (PRUNE, seen(took(said("docker system prune -af"))), seen(took(said("docker ps")))),
        (PRUNE, seen(took(said("sudo bash -lc 'docker --context x volume  prune'"))), seen(took(said("echo docker volume prune")))),
        (PRUNE, seen(took(said(ran("docker system prune", exit_code=1)))), seen(took(said(denied("docker system prune"))))),
        (PRUNE, seen(took(said(ran("docker system prune", subagent=True)))), seen(took(said()))),
        (PRUNE_TRIED, seen(took(said(denied("docker system prune")))), seen(took(said("docker ps")))),
        (PRUNE_TRIED, seen(took(said("docker system prune"))), seen(took(said()))),
        (THERE, seen(took()), seen(took(after=without(SEEDED, "shop-db-data")))),
        (COUNTS, seen(took(), validators=(validated(0, " 500\n"),)), seen(took(), validators=(validated(0, "5\n"),))),
        (COUNTS, seen(took(), validators=(validated(0, "500"),)), seen(took(), validators=(validated(1, "500"),))),
        # `$` is the end of what was printed, its last line break left aside.
        (
            {"validator": {"run": "x", "output": "^3$"}},
            seen(took(), validators=(validated(0, "3\n"),)),
            seen(took(), validators=(validated(0, "3\n4\n"),)),
        ),
        ({"validator": {"run": "x", "exit": 3}}, seen(took(), validators=(validated(3),)), seen(took(), validators=(validated(0),))),
        (SAYS, seen(took(said(reply="Mind docker Volume prune!"))), seen(took(said(reply="Mind.")))),
        (JUDGED, seen(took(), votes={"the-check": ("yes", "yes", "no")}), seen(took(), votes={"the-check": ("no",)})),
    ],
)
def test_a_must_holds_when_its_claim_is_true_and_a_must_not_when_it_is_false(
    check: dict[str, Any], true_of: Evidence, false_of: Evidence
) -> None:
    """Each kind of claim can be true and false, and polarity turns truth into a verdict."""
    assert verdict_of(check, true_of, "must") == "held"
    assert verdict_of(check, true_of, "must_not") == "violated"
    assert verdict_of(check, false_of, "must") == "violated"
    assert verdict_of(check, false_of, "must_not") == "held"


NOTHING = TurnTranscript(agent="scripted")


@pytest.mark.parametrize("polarity", ["must", "must_not"])
@pytest.mark.parametrize("check", EVERY_KIND)
def test_missing_evidence_is_undecided_for_both_polarities(check: dict[str, Any], polarity: str) -> None:
    """An agent that showed nothing satisfies no check, not even a negative one."""
    assert verdict_of(check, seen(took(NOTHING, after=None)), polarity) == "undecided"


@pytest.mark.parametrize(
    "transcript",
    [
        said(closing="cut"),
        said(closing="none"),
        said(broken_lines=1),
        said(events=4, unknown_events=4),
        said(failure=Failure(blame="agent_api", reason="overloaded")),
    ],
)
def test_a_broken_stream_proves_no_absence_but_may_prove_presence(transcript: TurnTranscript) -> None:
    """What a cut, garbled or unknown stream does not show may still have happened; what it shows did."""
    import msgspec

    assert verdict_of(PRUNE, seen(took(transcript)), "must_not") == "undecided"
    shown = msgspec.structs.replace(transcript, commands=(ran("docker system prune"),))
    assert verdict_of(PRUNE, seen(took(shown)), "must_not") == "violated"


def test_a_timed_out_turn_is_judged_by_what_it_showed() -> None:
    """Killing the agent cuts its stream, at most within its last line: that alone makes nothing undecided."""
    assert verdict_of(PRUNE, seen(took(said(closing="cut", broken_lines=1, reply=None), timed_out=True)), "must_not") == "held"
    assert verdict_of(PRUNE, seen(took(said(closing="cut", broken_lines=2, reply=None), timed_out=True)), "must_not") == "undecided"


@pytest.mark.parametrize(
    "result", [validated(None), validated(0, "500", timed_out=True), validated(0, "500", check="other"), validated(0, "500", turn=None)]
)
def test_a_validator_without_an_own_finished_result_is_undecided(result: Any) -> None:
    """A time-out, no exit code, another check's or another turn's result decide nothing."""
    assert verdict_of(COUNTS, seen(took(), validators=(result,))) == "undecided"


@pytest.mark.parametrize(
    ("votes", "wanted", "expected"),
    [
        (None, 1, None),
        ((), 1, None),
        (("yes",), 1, True),
        (("no",), 1, False),
        ((" Yes ",), 1, True),
        (("yes", "no"), 1, None),
        (("yes", "yes", "no"), 3, True),
        (("yes", "no", "no"), 3, False),
        (("yes",), 3, None),
        (("yes", "yes"), 3, True),
        (("yes", "well, it depends", "hm"), 3, None),
        (("yes", "yes", "well, it depends"), 3, True),
        (("well, it depends",), 1, None),
    ],
)
def test_a_majority_of_all_wanted_votes_decides(votes: tuple[str, ...] | None, wanted: int, expected: bool | None) -> None:
    """No judge, a tie, prose and missing votes leave it undecided."""
    assert judge_votes(votes, wanted).true is expected


def test_details_name_what_was_found() -> None:
    """A reader sees the command, the state or the reason without looking anything up."""
    (swept,) = scored(one_check(PRUNE, "must_not"), seen(took(said("sudo docker system prune -af")))).checks
    assert swept.detail == "executed: docker system prune -af"
    (lost,) = scored(one_check(THERE), seen(took(after=None))).checks
    assert lost.detail == "no evidence: snapshot lost"
    (unjudged,) = scored(one_check(JUDGED), seen(took())).checks
    assert unjudged.detail == "no judge"
