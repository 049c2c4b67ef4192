"""The scripted model's Anthropic Messages API: a step as a message, and a message as a stream of events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pytest_skilleval.core.model_requests import Body, tool_names
from pytest_skilleval.gateway.scripted.conversation import CHARACTERS_PER_TOKEN, ORDERS, Place, call_id, summary
from pytest_skilleval.gateway.scripted.script import Call, Step


def answer(body: Body, step: Step, place: Place, *, size: int, serial: int, refusal: bool = False) -> Body:
    """The whole message. `size`: characters of the request; usage is counted by a fixed rule, four characters a token."""
    content = [_tool_use(call, place, number, tool_names(body)) for number, call in enumerate(step.calls)]
    if step.reply or not content:
        content.append({"type": "text", "text": step.reply})
    said = len(json.dumps(content))
    stop = "refusal" if refusal else "tool_use" if step.calls else "end_turn"
    return {
        "id": f"msg_{serial:024d}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", "scripted"),
        "content": [] if refusal else content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {
            "input_tokens": size // CHARACTERS_PER_TOKEN,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": said // CHARACTERS_PER_TOKEN,
        },
    }


def summed_up(body: Body, place: Place, *, size: int, serial: int) -> Body:
    """The summary that the client asked for, as a message."""
    return answer(body, Step(reply=f"<summary>\n{summary(place)}\n</summary>"), place, size=size, serial=serial)


def _tool_use(call: Call, place: Place, number: int, tools: tuple[str, ...]) -> Body:
    name, arguments = _tool(call, tools)
    return {"type": "tool_use", "id": call_id(place, number), "name": name, "input": arguments}


def _tool(call: Call, tools: tuple[str, ...]) -> tuple[str, Body]:
    if call.kind == "skill":
        return "Skill", {"skill": call.text}
    if call.kind == "read":
        return "Read", {"file_path": call.text}
    if call.kind == "subagent":
        name = "Agent" if "Agent" in tools else "Task"
        return name, {"description": "Run the commands", "prompt": ORDERS + call.text, "subagent_type": "general-purpose"}
    arguments: Body = {"command": call.text, "description": "Run a command"}
    return "Bash", arguments | ({"run_in_background": True} if call.background else {})


def events(message: Body) -> Iterator[tuple[str, Body]]:
    """The stream of a message: (event name, data), in the order in which the API sends them."""
    usage = message["usage"]
    start = message | {"content": [], "stop_reason": None, "usage": usage | {"output_tokens": 1}}
    yield "message_start", {"message": start}
    for index, block in enumerate(message["content"]):
        yield "content_block_start", {"index": index, "content_block": _opened(block)}
        yield "content_block_delta", {"index": index, "delta": _delta(block)}
        yield "content_block_stop", {"index": index}
    stop = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield "message_delta", {"delta": stop, "usage": {"output_tokens": usage["output_tokens"]}}
    yield "message_stop", {}


def _opened(block: Body) -> Body:
    return {"type": "text", "text": ""} if block["type"] == "text" else block | {"input": {}}


def _delta(block: Body) -> Body:
    if block["type"] == "text":
        return {"type": "text_delta", "text": block["text"]}
    return {"type": "input_json_delta", "partial_json": json.dumps(block["input"], ensure_ascii=False)}


def error(kind: str, message: str) -> dict[str, Any]:
    """An error body."""
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": None}
