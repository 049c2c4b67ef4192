"""Whose fault it was that a turn could not be measured: pure rules over what a CLI said and how it ended."""

from __future__ import annotations

import re

from pytest_skilleval.core.transcript import Closing, Failure, TurnTranscript, may_pass

SIGN_IN = frozenset({401, 403})

# These are searched for in lower-case texts: a search that heeds no case takes seven times as long.
STATUS = re.compile(r"(?:status:?|api error:?(?: request rejected \()?|http)\s*\(?(\d{3})\b")
API_TROUBLE = re.compile(
    r"stream (?:disconnected|closed|error)|connection (?:to the api|error|refused|reset|closed|failed|was lost)"
    r"|econn|timed? ?out|network error"
    r"|high demand|overloaded|rate.?limit|usage limit|quota|error sending request|empty or malformed response|invalid api key|not logged in"
    r"|please run /login|credit balance|authenticat|unauthorized|prompt is too long|context.?(?:window|length)|api error"
)
NOT_RETRYABLE = re.compile(
    r"usage limit|quota|credit balance|invalid api key|not logged in|/login|authenticat|unauthorized"
    r"|prompt is too long|context.?(?:window|length)"
)
POLICY = re.compile(r"usage polic|flagged (?:for|as)|content.?(?:filter|policy)|cyber.?policy|violat\w+ our")
UNKNOWN_FLAG = re.compile(r"unknown option '?([^\s']+)|unexpected argument '([^']+)'|unrecognized option '?([^\s']+)", re.IGNORECASE)
LONGEST = 400


def of_status(status: int, text: str) -> Failure:
    """The API answered with an error status."""
    kind = (
        "sign-in refused" if status in SIGN_IN else "rate limit" if status == 429 else "overloaded" if status in {503, 529} else "API error"
    )
    return Failure(blame="agent_api", reason=f"{kind} ({status}): {short(text)}", retryable=may_pass(status))


def of_text(text: str) -> Failure:
    """The CLI said that the turn failed; only the text tells why."""
    told = text.lower()
    status = STATUS.search(told)
    if status and int(status[1]) >= 400:
        return of_status(int(status[1]), text)
    if '"error"' in text:
        return Failure(blame="agent_api", reason=f"API error: {short(text)}")
    if API_TROUBLE.search(told):
        return Failure(blame="agent_api", reason=f"API error: {short(text)}", retryable=NOT_RETRYABLE.search(told) is None)
    return Failure(blame="agent_crash", reason=short(text) or "the agent reported a failure without a reason")


def is_policy(text: str) -> bool:
    """Whether an error text says that the model or its provider refused the request: behaviour, not infrastructure."""
    return POLICY.search(text.lower()) is not None


def of_ending(closing: Closing, stderr: bytes, exit_code: int | None) -> Failure | None:
    """How the process ended: None when its closing event came and the exit code is 0."""
    if closing == "complete" and exit_code == 0:
        return None
    told = stderr.decode("utf-8", "replace").strip()
    flag = UNKNOWN_FLAG.search(told)
    if flag:
        name = next(filter(None, flag.groups()))
        return Failure(blame="agent_crash", reason=f"this version of the agent does not know {name}: {short(told)}")
    if closing == "none" and re.search(r"not logged in|please run /login|invalid api key", told, re.IGNORECASE):
        return Failure(blame="agent_api", reason=f"sign-in refused: {short(told)}")
    ended = "was killed or timed out" if exit_code is None else f"ended with exit code {exit_code}"
    seen = {"none": "wrote nothing readable", "cut": "wrote no closing event", "complete": "wrote its closing event"}[closing]
    return Failure(
        blame="agent_crash", reason=f"the agent {ended} and {seen}" + (f": {short(told)}" if told else ""), retryable=closing != "complete"
    )


def of_silence(transcript: TurnTranscript) -> Failure | None:
    """A turn that ended well in which no model can have been asked: no evidence, so never a pass."""
    usage = transcript.usage
    if transcript.failure or transcript.refused or transcript.active or usage.input or usage.output or usage.cache_read:
        return None
    return Failure(blame="agent_crash", reason="the agent ended without asking a model (a prompt that is a command of the CLI?)")


def short(text: str) -> str:
    """The end of a text, on one line."""
    return " ".join(text.split())[-LONGEST:]
