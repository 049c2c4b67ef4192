"""Sentences about what an agent should or must not do, as checks for the judge."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from pytest_skilleval.core.drafting.texts import cleaned, literal

_NEGATIVE = re.compile(
    r"(?:(?:it|the (?:agent|reply|response)) )?"
    "(?:(?:do|does|did|must|should|shall|may|is|are)(?: not|n['\u2019]t)|never|not|no|avoids?|refrains?)\\b",
    re.IGNORECASE,
)


def judged(texts: Iterable[str], prefix: str) -> tuple[dict[str, Any], ...]:
    """One check for each text that says something, with the ids `prefix`-1, `prefix`-2 ..."""
    claims = [claim for text in texts if (claim := literal(cleaned(text)))]
    return tuple({"id": f"{prefix}-{number}", "judge": claim} for number, claim in enumerate(claims, start=1))


def polarised(wanted: Iterable[str], unwanted: Iterable[str]) -> dict[str, Any]:
    """`must` and `must_not` of a turn.

    What stands in a list of things that must not happen and is itself a denial ("Does not delete the volume") is a
    `must`: under `must_not` it would say the opposite.
    """
    unwanted = tuple(unwanted)
    denials = [text for text in unwanted if _NEGATIVE.match(cleaned(text))]
    positive = judged(wanted, "expected") + judged(denials, "refrains")
    negative = judged((text for text in unwanted if text not in denials), "must-not")
    return {key: checks for key, checks in (("must", positive), ("must_not", negative)) if checks}
