"""One entry of an evals file, its many spellings brought to one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_skilleval.core.drafting.texts import cleaned

PROMPTS = ("prompt", "question", "query")
OUTPUTS = ("expected_output", "ground_truth")
CLAIMS = ("assertions", "expectations", "expected_behavior", "expected_behaviors")
UNWANTED = ("must_not",)
TRIGGERS = ("should_trigger", "expected_skill")
NAMES = ("eval_name", "name", "title")
_KNOWN = frozenset({"id", "files", *PROMPTS, *OUTPUTS, *CLAIMS, *UNWANTED, *TRIGGERS, *NAMES})
_TEXT_OF_CLAIM = ("text", "assertion", "expectation", "claim", "description")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What one entry says.

    Attributes
    ----------
    wanted, unwanted
        Claims that must hold, and that must not.
    output
        What success looks like, in prose.
    should_load
        Whether the skill under test should load; None when the entry does not say.
    owner
        The skill that should load instead, as the entry names it.
    problems
        What can't be carried over, one sentence each.
    """

    name: str
    prompt: str
    wanted: tuple[str, ...]
    unwanted: tuple[str, ...]
    output: str
    should_load: bool | None
    owner: str | None
    files: tuple[str, ...]
    problems: tuple[str, ...]


def read_entry(raw: Mapping[str, Any], skill: str) -> Entry:
    """Bring an entry to one form; never raises."""
    problems: list[str] = []
    should_load, owner = _trigger(raw, skill, problems)
    return Entry(
        name=_name(raw),
        prompt=_first_text(raw, PROMPTS, problems),
        wanted=_texts(raw, CLAIMS, problems),
        unwanted=_texts(raw, UNWANTED, problems),
        output=_first_text(raw, OUTPUTS, problems),
        should_load=should_load,
        owner=owner,
        files=_texts(raw, ("files",), problems),
        problems=(*problems, *_unknown(raw)),
    )


def _name(raw: Mapping[str, Any]) -> str:
    given = next((raw[key] for key in (*NAMES, "id") if isinstance(raw.get(key), str | int) and str(raw[key]).strip()), "")
    return str(given)


def _first_text(raw: Mapping[str, Any], keys: tuple[str, ...], problems: list[str]) -> str:
    texts = {key: cleaned(raw[key]) for key in keys if isinstance(raw.get(key), str)}
    problems += [f"`{key}` is {_shown(raw[key])}, not a text" for key in keys if raw.get(key) is not None and key not in texts]
    said = {key: text for key, text in texts.items() if text}
    first = next(iter(said), "")
    problems += [f"`{key}` is left out: `{first}` says the same thing already" for key in said if key != first]
    return said.get(first, "")


def _texts(raw: Mapping[str, Any], keys: tuple[str, ...], problems: list[str]) -> tuple[str, ...]:
    found: list[str] = []
    for key in keys:
        value = raw.get(key)
        if value is None:
            continue
        for item in value if isinstance(value, list) else [value]:
            text = _text_of(item)
            if text:
                found.append(text)
            else:
                problems.append(f"`{key}` holds {_shown(item)}, which is no sentence")
    return tuple(dict.fromkeys(found))


def _text_of(item: object) -> str:
    if isinstance(item, dict):
        item = next((item[key] for key in _TEXT_OF_CLAIM if isinstance(item.get(key), str)), None)
    return cleaned(item) if isinstance(item, str) else ""


def _trigger(raw: Mapping[str, Any], skill: str, problems: list[str]) -> tuple[bool | None, str | None]:
    should, expected = raw.get("should_trigger"), raw.get("expected_skill")
    if should is not None and not isinstance(should, bool):
        problems.append(f"`should_trigger` is {_shown(should)}, not true or false")
        should = None
    if expected is not None and not isinstance(expected, str):
        problems.append(f"`expected_skill` is {_shown(expected)}, not the name of a skill")
        expected = None
    elif should is None and "expected_skill" in raw:
        should = expected == skill
    if expected is not None and should is not None and should != (expected == skill):
        problems.append(f"`should_trigger` and `expected_skill` contradict each other; `should_trigger` ({str(should).lower()}) was taken")
    return should, expected if expected != skill and not should else None


def _unknown(raw: Mapping[str, Any]) -> Iterator[str]:
    for key in raw:
        if key not in _KNOWN:
            yield f"`{cleaned(key)}` is left out: it has no place in a spec"


def _shown(value: object) -> str:
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    written = cleaned(json.dumps(value, ensure_ascii=False))
    return f"`{written}`" if len(written) <= 40 else f"`{written[:40]}...`"
