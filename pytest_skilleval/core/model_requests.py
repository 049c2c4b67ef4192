"""What a model is shown, read from the body of a model request: Anthropic Messages API or OpenAI Responses API.

Pure functions over decoded JSON; foreign or damaged bodies give empty answers, never an exception.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import Any

import msgspec

Body = dict[str, Any]

SKILLS_OF_CLAUDE = "The following skills are available for use with the Skill tool:"
SKILLS_OF_CODEX = re.compile(r"### Available skills\n(.*?)(?=\n###|\n</skills_instructions>|\Z)", re.DOTALL)
ROOT_OF_CODEX = re.compile(r"^- `(r\d+)` = `([^`]+)`$", re.MULTILINE)
FILE_OF_CODEX = re.compile(r"\s*\(file: ([^)]+)\)\s*$")
MCP = re.compile(r"mcp__(.+?)(?:__|\.|$)")
DEFERRED_TOOLS = re.compile(r"(?:Deferred tool namespaces:|load tool schemas before calling them:)\n((?:[^\n<]+\n?)+)")
CONNECTING = re.compile(r"MCP servers are still connecting [^\n]*:\n((?:[^\n]+\n?)+)")
ENTRY = re.compile(r"^- ([^\s:]+(?::[^\s:]+)*)(?::\s(.*)|:?)$")
"""An entry whose description fell out of the listing's budget is its name alone."""
HEADING_OF_CLAUDE = "Contents of "
"""Begins the line above an instructions file; the line ends in a colon, and an empty line follows."""
AFTER_INSTRUCTIONS_OF_CLAUDE = re.compile(r"\n# currentDate|IMPORTANT: this context")
INSTRUCTIONS_OF_CODEX = re.compile(r"<INSTRUCTIONS>\n(.*?)\n</INSTRUCTIONS>", re.DOTALL)


class ShownSkill(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of the skill listing. `path` is known for Codex only, roots resolved."""

    name: str
    description: str
    path: str | None = None


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """What one request shows the model besides the conversation."""

    model: str = ""
    skills: tuple[ShownSkill, ...] = ()
    tools: tuple[str, ...] = ()
    mcp_servers: tuple[str, ...] = ()
    instructions: tuple[str, ...] = ()
    """Texts of the instruction files (CLAUDE.md, AGENTS.md), in order."""

    @property
    def skill_names(self) -> frozenset[str]:
        """Names in the listing."""
        return frozenset(skill.name for skill in self.skills)


def decode(raw: bytes) -> Body:
    """The body as JSON, or an empty mapping when it is none."""
    try:
        body = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}


def items(body: Body) -> list[Body]:
    """The conversation: ``messages`` or ``input`` entries that are mappings."""
    value = body.get("messages") or body.get("input")
    if isinstance(value, str):
        return [{"role": "user", "content": value}]
    return [entry for entry in _list(value) if isinstance(entry, dict)]


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def strings(value: object) -> list[str]:
    """Every string inside a JSON value, keys excluded, in order."""
    found: list[str] = []
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            found.append(one)
        elif isinstance(one, dict):
            waiting.extend(reversed(one.values()))
        elif isinstance(one, list):
            waiting.extend(reversed(one))
    return found


def texts(body: Body) -> list[str]:
    """Everything the model reads but the tool declarations: system prompt, instructions, conversation, tool results."""
    head = [body.get("system"), body.get("instructions")]
    talk = [item for item in items(body) if item.get("type") != "additional_tools"]
    return strings([*head, *talk])


def declared_tools(body: Body) -> list[Any]:
    """The tools as they are declared, wherever in the request that is."""
    added = [_list(item.get("tools")) for item in items(body) if item.get("type") == "additional_tools"]
    return [*_list(body.get("tools")), *chain.from_iterable(added)]


def tool_names(body: Body) -> tuple[str, ...]:
    """Names of the declared tools; members of a namespace as ``namespace.name``."""
    return tuple(_names(declared_tools(body)))


def _names(declared: list[Any], prefix: str = "") -> Iterator[str]:
    for tool in declared:
        if not isinstance(tool, dict):
            continue
        name = str(tool.get("name") or tool.get("type") or "")
        if tool.get("type") == "namespace":
            yield from _names(_list(tool.get("tools")), "" if name == "functions" else f"{name}.")
        else:
            yield prefix + name


def shown(body: Body, read: Sequence[str] | None = None) -> Shown:
    """The skills, tools, MCP servers and instruction files that this request shows; `read`: its `texts`, where they are known."""
    read, tools = texts(body) if read is None else read, tool_names(body)
    return Shown(
        model=str(body.get("model") or ""),
        skills=tuple(skill for text in read for skill in _skills(text)),
        tools=tools,
        mcp_servers=tuple(dict.fromkeys([*_servers_of(tools), *(name for text in read for name in _announced(text))])),
        instructions=tuple(text for block in read for text in _instructions(block)),
    )


def _servers_of(tools: Iterable[str]) -> Iterator[str]:
    """Servers of the tools that are declared with their schemas, or named in a list of deferred ones."""
    return (found[1] for found in map(MCP.match, tools) if found)


def _announced(text: str) -> Iterator[str]:
    """MCP servers whose tools the model can have but whose schemas are not in the request: deferred ones, connecting ones."""
    if "\n" not in text:
        return
    for listing in DEFERRED_TOOLS.findall(text):
        yield from _servers_of(line.removeprefix("- ") for line in listing.splitlines())
    for listing in CONNECTING.findall(text):
        yield from listing.strip("\n").split("\n")


def _skills(text: str) -> Iterator[ShownSkill]:
    if SKILLS_OF_CLAUDE in text:
        yield from _entries(text.split(SKILLS_OF_CLAUDE, 1)[1].split("</system-reminder>", maxsplit=1)[0], {})
    found = SKILLS_OF_CODEX.search(text) if "<skills_instructions>" in text else None
    if found:
        yield from _entries(found[1], dict(ROOT_OF_CODEX.findall(text)))


def without_listing(text: str) -> str:
    """`text` with the skill listing taken out of it, as far as `shown` reads one there."""
    if SKILLS_OF_CLAUDE in text:
        before, after = text.split(SKILLS_OF_CLAUDE, 1)
        text = before + "".join(after.partition("</system-reminder>")[1:])
    found = SKILLS_OF_CODEX.search(text) if "<skills_instructions>" in text else None
    return text[: found.start(1)] + text[found.end(1) :] if found else text


def _entries(listing: str, roots: dict[str, str]) -> Iterator[ShownSkill]:
    """``- name: description`` entries; a description may go on over several lines."""
    name, lines = "", list[str]()
    for line in [*listing.strip("\n").split("\n"), "- end: "]:
        entry = ENTRY.match(line)
        if entry is None:
            lines.append(line)
            continue
        if name:
            yield _entry(name, "\n".join(lines).strip(), roots)
        name, lines = entry[1], [entry[2] or ""]


def _entry(name: str, description: str, roots: dict[str, str]) -> ShownSkill:
    file = FILE_OF_CODEX.search(description)
    if file is None:
        return ShownSkill(name=name, description=description)
    root, _, rest = file[1].partition("/")
    path = f"{roots[root]}/{rest}" if root in roots else file[1]
    return ShownSkill(name=name, description=description[: file.start()], path=path)


def _instructions(text: str) -> Iterator[str]:
    if "# claudeMd" in text:
        yield from _instructions_of_claude(text)
    if "AGENTS.md instructions" in text:
        yield from INSTRUCTIONS_OF_CODEX.findall(text)


def _instructions_of_claude(text: str) -> Iterator[str]:
    """What stands below each heading, without the empty lines before the next one. One pass: texts may hold anything, at any length."""
    headings = [*_headings_of_claude(text), (len(text), len(text))]
    for (_, begin), (end, _) in pairwise(headings):
        content = text[begin:end]
        for after in AFTER_INSTRUCTIONS_OF_CLAUDE.finditer(content):
            if after[0].startswith("\n"):
                content = content[: after.start()]
                break
            if "\n" in (gap := content[len(content[: after.start()].rstrip()) : after.start()]):
                content = content[: after.start() - len(gap) + gap.index("\n")]
                break
        else:
            if end < len(text):
                content = content.rstrip("\n")
        yield content


def _headings_of_claude(text: str) -> Iterator[tuple[int, int]]:
    """Where each heading begins, and where what it heads begins."""
    for colon in re.finditer(":\n\n", text):
        line = text.rfind("\n", 0, colon.start()) + 1
        begin = text.find(HEADING_OF_CLAUDE, line, colon.start())
        if 0 <= begin < colon.start() - len(HEADING_OF_CLAUDE):
            yield begin, colon.end()
