"""What the command line names -> what there is: ids, globs, agents with models, and the nearest name for a typo."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from pytest_skilleval.core.errors import UsageProblem
from pytest_skilleval.core.nearest import did_you_mean

ALL = "all"
DEFAULT_MODEL = "default"
SCRIPTED = "scripted"
"""The name of the scripted agent, and of the scripted model."""
SLUG_LENGTH = 48


def is_glob(pattern: str) -> bool:
    """Whether `pattern` may match more than the name that it is."""
    return any(sign in pattern for sign in "*?[")


def choose(patterns: Sequence[str], known: Sequence[str], *, what: str, option: str) -> tuple[str, ...]:
    """The names among `known` that `patterns` (ids, globs, ``all``) mean, in the order of `known`.

    Raises
    ------
    UsageProblem
        For every pattern that matches nothing, with the nearest name.
    """
    problems = [
        f"{option}: no {what} {pattern!r}{did_you_mean(pattern, known)}"
        for pattern in patterns
        if pattern != ALL and not any(fnmatchcase(name, pattern) for name in known)
    ]
    if problems:
        raise UsageProblem("\n".join(problems))
    return tuple(name for name in known if any(pattern == ALL or fnmatchcase(name, pattern) for pattern in patterns))


def agents_with_models(agents: Sequence[str], models: Sequence[str], known: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Pairs of agent and model: each agent with its own models and those said for every agent, else with ``default``.

    In both lists ``agent:model`` binds a model to an agent when the prefix is a known agent; any other colon
    belongs to the model's name (``qwen3:8b``).

    Raises
    ------
    UsageProblem
        An unknown agent, or a model bound to an agent that is not run.
    """
    named = [_split(text, known) for text in agents]
    unknown = [text for text, (agent, _) in zip(agents, named, strict=True) if agent is None]
    if unknown:
        raise UsageProblem("\n".join(f"--skill-agent: no agent {text!r}{did_you_mean(text.partition(':')[0], known)}" for text in unknown))
    # A bare name is a model here, also where an agent is called the same (`scripted`).
    bound = [_split(text, known) if ":" in text else (None, text) for text in models]
    chosen = tuple(dict.fromkeys(agent for agent, _ in named if agent))
    stray = [f"{agent}:{model}" for agent, model in bound if agent and agent not in chosen]
    if stray:
        raise UsageProblem(
            f"--skill-model: {stray[0]!r} is for an agent that is not run; add it to --skill-agent, which has {', '.join(chosen)}"
        )
    pairs: list[tuple[str, str]] = []
    for agent in chosen:
        own = [model for name, model in named if name == agent and model]
        own += [model for name, model in bound if name in (agent, None) and model]
        pairs += [(agent, model) for model in dict.fromkeys(own or [DEFAULT_MODEL])]
    return tuple(pairs)


def _split(text: str, known: Sequence[str]) -> tuple[str | None, str]:
    """(agent, model) of ``agent``, ``agent:model`` or ``model``; no agent when the prefix is none."""
    prefix, _, rest = text.partition(":")
    return (prefix, rest) if prefix in known else (None, text)


def slugs(models: Iterable[str]) -> dict[str, str]:
    """A name safe for folders and node ids for each model; two models never share one, also where case is ignored."""
    names = tuple(dict.fromkeys(models))
    plain = {name: re.sub(r"[^a-z0-9._]+", "-", name.lower()).strip("-.") or "model" for name in names}
    taken = list(plain.values())
    return {
        name: slug if taken.count(slug) == 1 and len(slug) <= SLUG_LENGTH else f"{slug[:SLUG_LENGTH]}-{_digest(name)}"
        for name, slug in plain.items()
    }


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:6]


def same_model(one: str, other: str) -> bool:
    """Whether two names mean one model: provider prefix, date stamp and ``-latest`` don't make it another."""
    return _bare(one) == _bare(other)


def _bare(model: str) -> str:
    return re.sub(r"(?:[-@]20\d{6}|-latest)(?:-v\d+(?::\d+)?)?$", "", model.rpartition("/")[2].lower())
