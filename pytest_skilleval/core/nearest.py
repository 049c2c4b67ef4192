"""The nearest known name, for messages about a typo."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_MANY = 16


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``; did you mean `prompt`?``, or what is known when nothing comes near."""
    names = sorted(set(known))
    close = get_close_matches(word.lower(), names, n=1, cutoff=0.6)
    if close:
        return f"; did you mean `{close[0]}`?"
    if not names:
        return "; there are none here"
    more = f" and {len(names) - _MANY} more" if len(names) > _MANY else ""
    return f"; known here: {', '.join(names[:_MANY])}{more}"
