"""What the path of a request tells: which API it belongs to, whether a model is asked, and which. Nothing else leads outside."""

from __future__ import annotations

import re
from urllib.parse import unquote

from pytest_skilleval.gateway.values import Api

MODEL = r"(?P<model>\w(?:(?!\.\.)[\w.:%@-])*)"
PATHS: dict[Api, re.Pattern[str]] = {
    "anthropic": re.compile(r"/|/v1/messages(/count_tokens)?|/v1/models(/[\w.:-]+)?"),
    "openai": re.compile(r"/v1/responses(/compact)?|/v1/models(/[\w.:-]+)?"),
    "bedrock": re.compile(rf"/model/{MODEL}/(invoke|invoke-with-response-stream|count-tokens)|/inference-profiles(/[\w.:%-]+)?"),
    "vertex": re.compile(
        rf"(/v1)?/projects/[\w:.-]+/locations/[\w-]+/publishers/anthropic/models/{MODEL}:(rawPredict|streamRawPredict)",
    ),
}
MODEL_CALLS = (
    "/messages",
    "/responses",
    "/responses/compact",
    "/invoke",
    "/invoke-with-response-stream",
    ":rawPredict",
    ":streamRawPredict",
)
STREAMED = ("/invoke-with-response-stream", ":streamRawPredict")
NO_MODEL = "count-tokens"
"""What stands in the model's place where Vertex is asked for a count of tokens."""


def api_of(path: str) -> Api:
    """Which API a path belongs to; ``other``: none, it leads nowhere."""
    plain = _plain(path)
    return next((api for api, pattern in PATHS.items() if pattern.fullmatch(plain)), "other")


def asks_model(method: str, path: str) -> bool:
    """Whether a model is asked for a reply (and not, say, for a count of tokens)."""
    return method == "POST" and _plain(path).endswith(MODEL_CALLS) and model_in(path) != NO_MODEL


def model_in(path: str) -> str:
    """The model that a path names; empty where the body does."""
    found = next((match for pattern in PATHS.values() if (match := pattern.fullmatch(_plain(path)))), None)
    return unquote(found.groupdict().get("model") or "") if found else ""


def is_streamed(path: str) -> bool:
    """Whether the path itself asks for a stream."""
    return _plain(path).endswith(STREAMED)


def _plain(path: str) -> str:
    return path.partition("?")[0]
