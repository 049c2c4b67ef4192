"""Words that give away that no real user is speaking, and where they may not stand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from pytest_skilleval.core.lint.context import Context, Problem
from pytest_skilleval.core.positions import Where
from pytest_skilleval.core.spec import Makes, Spec

_TELLING = (
    r"evals?|evaluat(?:e|es|ed|ing|ions?|ors?)|(?:py|unit)?tests?|test(?:ed|ers?|ing|bed)"
    r"|fixtures?|benchmark(?:s|ed|ing)?|sandbox(?:es|ed|ing)?"
)
"""The words as they stand in names and prose; ``latest`` and ``contest`` are no such words."""
_PARTED = r"[\s_-]+"
"""What may stand between the words of a phrase."""


def giveaways(text: str, spec: Spec) -> tuple[str, ...]:
    """Words in `text` that tell an agent that it is being tested, or that are the skill's own.

    Looked for: "eval", "test", "fixture", "benchmark", "sandbox" with their forms, the skill's id, and its jargon
    (`judge.strip`), in any case, parted from other letters; without what `allow_words` allows. Lower case, each once.
    """
    if not _may_tell(text, spec.skill, spec.judge.strip):
        return ()
    allowed = frozenset(word.lower() for word in spec.allow_words)
    found = (re.sub(r"[\s_-]+", " ", match.group()).lower() for match in _telling(spec.skill, spec.judge.strip).finditer(text))
    return tuple(dict.fromkeys(word for word in found if word not in allowed and word.replace(" ", "-") not in allowed))


def _may_tell(text: str, skill: str, jargon: tuple[str, ...]) -> bool:
    """False where `text` surely holds nothing to look for: a spec's own pattern takes longer to compile than all its texts to read."""
    if not text.isascii() or _telling("", ()).search(text):
        return True
    small = text.lower()
    return any(all(word in small for word in re.split(_PARTED, phrase.strip().lower())) for phrase in (skill, *jargon) if phrase.strip())


@lru_cache(maxsize=256)
def _telling(skill: str, jargon: tuple[str, ...]) -> re.Pattern[str]:
    own = [_PARTED.join(map(re.escape, re.split(_PARTED, phrase.strip()))) + "s?" for phrase in (skill, *jargon) if phrase.strip()]
    return re.compile(rf"(?<![^\W\d_])(?:{'|'.join([*own, _TELLING])})(?![^\W\d_])", re.IGNORECASE)


def giveaway_message(word: str) -> str:
    """What to say about one such word."""
    return f"`{word}` gives away that this is no real request; use another word, or allow it with a reason: `allow_words: {{{word}: why}}`"


def word_problems(context: Context) -> Iterator[Problem]:
    """Give-away words in prompts and resource names."""
    for where, text in _visible(context):
        for word in giveaways(text, context.spec):
            yield Problem(where, giveaway_message(word))


def _visible(context: Context) -> Iterator[tuple[Where, str]]:
    spec = context.spec
    if spec.seed:
        yield from _made(spec.seed.makes, ("seed", "makes"))
    for index, case in enumerate(spec.cases):
        where: Where = ("cases", index)
        if case.seed:
            yield from _made(case.seed.makes, (*where, "seed", "makes"))
        places = [(where, case.prompt, case.prompts)]
        places += [((*where, "turns", number), turn.prompt, turn.prompts) for number, turn in enumerate(case.turns)]
        for place, prompt, prompts in places:
            if prompt:
                yield (*place, "prompt"), prompt
            yield from (((*place, "prompts", number), text) for number, text in enumerate(prompts or ()))


def _made(makes: Makes, where: Where) -> Iterator[tuple[Where, str]]:
    for kind, names in makes:
        if isinstance(names, dict):
            yield from (((*where, kind, name), name) for name in names)
        elif isinstance(names, tuple):
            yield from (((*where, kind, index), name) for index, name in enumerate(names))
