"""Runbooks: ``## Prompt N: title`` items with quoted prompts and check boxes, written for a human tester."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from pytest_skilleval.core.errors import Fault, SpecError

_PROMPT = re.compile(r"##\s+Prompt\s+(\d{1,4})\s*(?:[:.\u2013\u2014-]\s*(.*?))?\s*#*\s*\Z", re.IGNORECASE)
_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*\s*\Z")
_ITEM = re.compile(r"\s*[-*+]\s+\[[ xX]\]\s+(.*)\Z")
_FENCE = re.compile(r"\s*(```|~~~)")
_SECTIONS = (("expect", "expected"), ("must not", "must_not"), ("must-not", "must_not"), ("verif", "verification"))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunbookPrompt:
    """One item of a runbook.

    Attributes
    ----------
    number, title, line
        From its heading ``## Prompt 3: overview``; 1-based line.
    quotes
        Block quotes (the words to say to the agent), one text for each.
    context
        Other prose before the first section, as one text.
    expected, must_not, verification
        The check boxes of its sections, each as one line of text.
    """

    number: int
    title: str
    line: int
    quotes: tuple[str, ...] = ()
    context: str = ""
    expected: tuple[str, ...] = ()
    must_not: tuple[str, ...] = ()
    verification: tuple[str, ...] = ()


def parse_runbook(text: str, file: str) -> tuple[RunbookPrompt, ...]:
    """The prompts of a runbook, in order.

    Raises
    ------
    SpecError
        There is no prompt, a number is used twice, the lowest is not 1, or a heading almost is one (``## Prompt one``).
    """
    blocks = _blocks(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    faults: list[Fault] = []
    prompts: dict[int, RunbookPrompt] = {}
    for line, heading, body in blocks:
        match = _PROMPT.match(heading)
        if match is None:
            faults.append(Fault(file, line, "", f"`{heading}` is no runbook item; write it like `## Prompt 3: title`"))
            continue
        prompt = _prompt(int(match[1]), match[2] or "", line, body)
        if prompt.number in prompts:
            first = prompts[prompt.number].line
            faults.append(Fault(file, line, "", f"prompt {prompt.number} is there twice (first on line {first}); renumber one"))
        prompts.setdefault(prompt.number, prompt)
    if prompts and min(prompts) != 1:
        lowest = prompts[min(prompts)]
        faults.append(Fault(file, lowest.line, "", f"the lowest number is {lowest.number}; prompts are numbered from 1, renumber them"))
    if not blocks:
        faults.append(Fault(file, 1, "", "holds no prompt; a runbook has items like `## Prompt 1: title`"))
    if faults:
        raise SpecError(tuple(faults))
    return tuple(prompts.values())


def gaps(prompts: Iterable[RunbookPrompt], file: str) -> Iterator[Fault]:
    """A warning for each place where numbers are left out: perhaps a heading there is not written as one of a prompt."""
    ordered = sorted(prompts, key=lambda prompt: prompt.number)
    for before, after in pairwise(ordered):
        left_out = range(before.number + 1, after.number)
        if left_out:
            named = f"prompt {left_out[0]}" if len(left_out) == 1 else f"prompts {left_out[0]} to {left_out[-1]}"
            yield Fault(file, after.line, "", f"{named} missing before this one; write its heading like `## Prompt 3: title`, or renumber")


def _blocks(lines: list[str]) -> list[tuple[int, str, list[str]]]:
    """(line, heading, lines below) of every ``## Prompt`` heading; code blocks, which hold neither, are blanked."""
    blocks: list[tuple[int, str, list[str]]] = []
    inside, fenced = False, False
    for number, line in enumerate(lines, start=1):
        is_fence = _FENCE.match(line) is not None
        fenced ^= is_fence
        heading = None if fenced else _HEADING.match(line)
        if heading and len(heading[1]) <= 2:
            inside = re.match(r"##\s+Prompt\b", line, re.IGNORECASE) is not None
            if inside:
                blocks.append((number, line.strip(), []))
        elif inside:
            blocks[-1][2].append("" if fenced or is_fence else line)
    return blocks


def _prompt(number: int, title: str, line: int, body: list[str]) -> RunbookPrompt:
    intro, sections = _sections(body)
    return RunbookPrompt(
        number=number,
        title=title.strip(),
        line=line,
        quotes=_quotes(intro),
        context=" ".join(text.strip() for text in intro if text.strip() and not text.lstrip().startswith(">") and not _is_label(text)),
        **{name: _items(found) for name, found in sections.items()},
    )


def _sections(body: list[str]) -> tuple[list[str], dict[str, list[str]]]:
    intro: list[str] = []
    sections: dict[str, list[str]] = {}
    current: list[str] = intro
    for line in body:
        heading = _HEADING.match(line)
        if heading:
            name = next((name for sign, name in _SECTIONS if heading[2].lower().startswith(sign)), None)
            current = sections.setdefault(name, []) if name else []
        else:
            current.append(line)
    return intro, sections


def _is_label(line: str) -> bool:
    return line.strip().startswith("**") and line.strip().rstrip("*").rstrip().endswith((":", "agent", ":**"))


def _quotes(lines: list[str]) -> tuple[str, ...]:
    quotes: list[list[str]] = []
    before_was_quote = False
    for line in lines:
        is_quote = line.lstrip().startswith(">")
        if is_quote:
            if not before_was_quote:
                quotes.append([])
            quotes[-1].append(line.lstrip()[1:].removeprefix(" ").rstrip())
        before_was_quote = is_quote
    return tuple("\n".join(quote).strip() for quote in quotes)


def _items(lines: list[str]) -> tuple[str, ...]:
    items: list[str] = []
    going_on = False
    for line in lines:
        match = _ITEM.match(line)
        if match:
            items.append(match[1].strip())
        elif going_on and line.startswith((" ", "\t")) and line.strip():
            items[-1] += " " + line.strip()
        going_on = match is not None or (going_on and bool(line.strip()))
    return tuple(items)
