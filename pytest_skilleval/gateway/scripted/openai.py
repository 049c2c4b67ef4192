"""The scripted model's OpenAI Responses API: a step as a response, and a response as a stream of events."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from typing import Any

import msgspec

from pytest_skilleval.core.model_requests import Body, items, shown, tool_names
from pytest_skilleval.gateway.scripted.conversation import CHARACTERS_PER_TOKEN, ORDERS, Place, call_id, summary
from pytest_skilleval.gateway.scripted.script import Call, Step

WAIT_MS = 30_000
AGENT_ID = re.compile(r'"agent_id"\s*:\s*"([^"]+)"')


def answer(body: Body, step: Step, place: Place, *, size: int, serial: int, refusal: bool = False) -> Body:
    """The whole response. `size`: characters of the request; usage is counted by a fixed rule, four characters a token."""
    output = _awaiting(body, place) or ([] if refusal else [_item(body, call, place, number) for number, call in enumerate(step.calls)])
    if not output or (step.reply and not _awaiting(body, place)):
        output.append(_message(step.reply, refusal=refusal))
    return _response(body, output, size=size, serial=serial)


def summed_up(body: Body, place: Place, *, size: int, serial: int) -> Body:
    """The summary that the client asked for: as the item in which this API keeps one, else as a message."""
    kept = {"type": "compaction", "encrypted_content": summary(place)}
    in_item = items(body)[-1].get("type") == "compaction_trigger"
    return _response(body, [kept if in_item else _message(summary(place), refusal=False)], size=size, serial=serial)


def _response(body: Body, output: list[Body], *, size: int, serial: int) -> Body:
    spent, said = size // CHARACTERS_PER_TOKEN, len(json.dumps(output)) // CHARACTERS_PER_TOKEN
    return {
        "id": f"resp_{serial:024d}",
        "object": "response",
        "status": "completed",
        "model": body.get("model", "scripted"),
        "output": [item | {"id": f"item_{serial}_{index}"} for index, item in enumerate(output)],
        "usage": {
            "input_tokens": spent,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": said,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": spent + said,
        },
    }


def _message(text: str, *, refusal: bool) -> Body:
    part = {"type": "refusal", "refusal": text} if refusal else {"type": "output_text", "text": text, "annotations": []}
    return {"type": "message", "role": "assistant", "status": "completed", "content": [part]}


def _item(body: Body, call: Call, place: Place, number: int) -> Body:
    """The call as this client's shell tool takes it; Codex' tools differ by model."""
    tools, own = tool_names(body), call_id(place, number)
    if call.kind == "subagent":
        return _function(own, *_spawn(call, tools))
    line = _command(body, call)
    if "exec_command" in tools:
        return _function(own, "exec_command", {"cmd": line})
    if "exec" in tools:
        return {"type": "custom_tool_call", "call_id": own, "name": "exec", "input": _javascript(line)}
    if "shell_command" in tools:
        return _function(own, "shell_command", {"command": line})
    return _function(own, "shell", {"command": ["bash", "-lc", line]})


def _command(body: Body, call: Call) -> str:
    """The command line of a call; where there is no skill or file tool, files are read by the shell."""
    if call.kind == "shell":
        return f"{call.text} &" if call.background else call.text
    return _read(body, call.text) if call.kind == "skill" else f"cat {shlex.quote(call.text)}"


def _function(own: str, name: str, arguments: Body) -> Body:
    namespace, _, member = name.rpartition(".")
    item = {"type": "function_call", "call_id": own, "name": member, "arguments": json.dumps(arguments, ensure_ascii=False)}
    return item | ({"namespace": namespace} if namespace else {})


def _spawn(call: Call, tools: tuple[str, ...]) -> tuple[str, Body]:
    name = next((tool for tool in tools if tool.endswith("spawn_agent")), "spawn_agent")
    return name, {"message": ORDERS + call.text, "task_name": "commands", "fork_turns": "none"} if "collab" in name else {
        "message": ORDERS + call.text
    }


def _awaiting(body: Body, place: Place) -> list[Body]:
    """A wait for the sub-agent that the last call started: without one the turn would end and kill it."""
    calls = [item for item in items(body) if item.get("type") == "function_call"]
    if place.orders is not None or not calls or calls[-1].get("name") != "spawn_agent":
        return []
    told = [str(item.get("output")) for item in items(body) if item.get("call_id") == calls[-1].get("call_id") and "output" in item]
    name = next((tool for tool in tool_names(body) if tool.endswith("wait_agent")), "wait_agent")
    started = AGENT_ID.findall("".join(told))
    own = call_id(msgspec.structs.replace(place, step=place.step - 1), len(calls))
    return [_function(own, name, {"targets": started} if started else {"timeout_ms": WAIT_MS})]


def _javascript(line: str) -> str:
    """The program for the newer client's ``exec`` tool."""
    return f"const r = await tools.exec_command({json.dumps({'cmd': line})});\ntext(r.output);\n"


def _read(body: Body, skill: str) -> str:
    """How a skill is loaded where there is no skill tool: its file is read, from where the listing says it lies."""
    listed = {entry.name: entry.path for entry in shown(body).skills}
    return f"cat {shlex.quote(listed.get(skill) or f'skills/{skill}/SKILL.md')}"


def events(response: Body) -> Iterator[tuple[str, Body]]:
    """The stream of a response: (event name, data), in the order in which the API sends them."""
    yield "response.created", {"response": response | {"status": "in_progress", "output": [], "usage": None}}
    for index, item in enumerate(response["output"]):
        yield "response.output_item.added", {"output_index": index, "item": item | {"status": "in_progress"}}
        yield "response.output_item.done", {"output_index": index, "item": item}
    yield "response.completed", {"response": response}


def error(kind: str, message: str) -> dict[str, Any]:
    """An error body."""
    return {"error": {"type": kind, "code": kind, "message": message}}
