"""Short ways to write Docker states, turns and cases."""

from __future__ import annotations

from typing import Any

from pytest_skilleval.core.evidence import Evidence, RunScore, TurnEvidence, ValidatorResult
from pytest_skilleval.core.scoring import score
from pytest_skilleval.core.snapshot import Container, DockerState, EngineEvent, Image, Network, Volume
from pytest_skilleval.core.spec import Case, StateClaim
from pytest_skilleval.core.transcript import ShellCommand, TurnTranscript

SKILL = "docker-destructive-guardrails"
CATALOGUE = frozenset({SKILL, "docker-compose-patterns", "docker-build-strategies"})
FOLDER = ".claude/skills"
HEX = "ab" * 32


def container(name: str, state: str = "running", **more: Any) -> Container:
    """A container; its id is made of its name unless given."""
    return Container(**{"id": f"c-{name}", "name": name, "image": "shop/web:1.4", "state": state, **more})


def volume(name: str, **more: Any) -> Volume:
    """A volume, made on a fixed day unless told."""
    return Volume(**{"name": name, "created": "2024-01-01T00:00:00Z", **more})


def image(*tags: str, key: str = "", **more: Any) -> Image:
    """An image with these tags; its id is made of the first."""
    return Image(id=f"sha256:{key or tags[0]}", tags=tags, **more)


def network(name: str, **more: Any) -> Network:
    """A network; its id is made of its name unless given."""
    return Network(**{"id": f"n-{name}", "name": name, **more})


SEEDED = DockerState(
    containers=(container("report-2023", "exited"), container("shop-db", mounts=("shop-db-data",)), container("shop-web")),
    images=(image("shop/web:1.4"), image(key="dangling-1"), image(key="dangling-2")),
    volumes=(volume("shop-db-data", content="one"),),
    networks=(network("bridge", builtin=True), network("shop_default")),
)


def but(state: DockerState, **parts: Any) -> DockerState:
    """`state` with other parts."""
    import msgspec

    return msgspec.structs.replace(state, **parts)


def without(state: DockerState, *names: str) -> DockerState:
    """`state` without the objects that answer to one of these names, tags or image ids."""
    return but(
        state,
        containers=tuple(one for one in state.containers if one.name not in names),
        volumes=tuple(one for one in state.volumes if one.name not in names),
        networks=tuple(one for one in state.networks if one.name not in names),
        images=tuple(one for one in state.images if not {one.id, *one.tags} & set(names)),
    )


def event(kind: str, action: str, key: str, at: float = 1.0) -> EngineEvent:
    """One engine event."""
    return EngineEvent(at=at, type=kind, action=action, id=key, name=key)


def ran(line: str, **more: Any) -> ShellCommand:
    """A command that was executed."""
    return ShellCommand(**{"line": line, "executed": True, "exit_code": 0, **more})


def denied(line: str) -> ShellCommand:
    """A command that a guard denied."""
    return ShellCommand(line=line, executed=False, denied=True)


def said(*commands: str | ShellCommand, reply: str | None = "Done.", **more: Any) -> TurnTranscript:
    """A whole transcript of one turn."""
    lines = tuple(ran(one) if isinstance(one, str) else one for one in commands)
    return TurnTranscript(**{"agent": "scripted", "commands": lines, "reply": reply, "closing": "complete", "events": 9, **more})


def took(transcript: TurnTranscript | None = None, after: DockerState | None = SEEDED, **more: Any) -> TurnEvidence:
    """One sent turn."""
    return TurnEvidence(**{"prompt": "Please.", "transcript": transcript or said(), "after": after, **more})


def seen(*turns: TurnEvidence, **more: Any) -> Evidence:
    """Evidence over the seeded baseline."""
    return Evidence(**{"baseline": SEEDED, "turns": turns, **more})


def case(**parts: Any) -> Case:
    """A case; what is not said is an outcome case with one turn."""
    import json

    turns = parts.pop("turns", [{"prompt": "Please."}])
    return Case.model_validate_json(json.dumps({"id": "a-case", "kind": "outcome", "turns": turns, **parts}))


def one_check(check: dict[str, Any], polarity: str = "must") -> Case:
    """A case with one turn and one check."""
    return case(turns=[{"prompt": "Please.", polarity: [{"id": "the-check", **check}]}])


def claim(**parts: Any) -> StateClaim:
    """A state claim, written as in YAML (``is_`` and ``except_`` for the keywords)."""
    import json

    return StateClaim.model_validate_json(json.dumps({key.removesuffix("_"): value for key, value in parts.items()}))


def scored(of: Case, evidence: Evidence, **more: Any) -> RunScore:
    """The score, with the usual skill and folders."""
    return score(of, evidence, **{"skill": SKILL, "skills_folder": FOLDER, "catalogue": CATALOGUE, **more})


def verdict_of(check: dict[str, Any], evidence: Evidence, polarity: str = "must") -> str:
    """The verdict of one check in a case of one turn."""
    (result,) = scored(one_check(check, polarity), evidence).checks
    return result.verdict


def validated(exit_code: int | None = 0, output: str = "", **more: Any) -> ValidatorResult:
    """The recorded result of the validator of ``the-check``."""
    return ValidatorResult(**{"check": "the-check", "turn": 1, "exit_code": exit_code, "output": output, **more})
