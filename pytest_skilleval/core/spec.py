"""The spec model: what ``specs/<skill>/spec.yaml`` may say, as frozen values.

Only shapes and single-value rules live here. Rules that relate values to each other (unknown arms,
repeated ids, give-away words ...) are in :mod:`pytest_skilleval.core.lint`; reading files is in
:mod:`pytest_skilleval.core.loading`. The JSON Schema is generated from these classes. Importing this module imports
pydantic, so it is only imported where a spec is really read. Sequences arrive as tuples (the loader makes them).
"""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

ID_PATTERN = r"^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$"

Id = Annotated[str, Field(pattern=ID_PATTERN, max_length=64)]
Text = Annotated[str, Field(min_length=1)]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Kind = Literal["trigger", "outcome", "fidelity"]
Role = Literal["baseline", "treatment", "reference"]
Polarity = Literal["must", "must_not"]
CheckKind = Literal["state", "commands", "validator", "reply", "judge"]
CHECK_KINDS: tuple[CheckKind, ...] = get_args(CheckKind)
AgentName = Literal["claude-code", "codex", "scripted"]


class Model(BaseModel):
    """A mapping of the spec: closed (unknown keys are faults), frozen, strictly typed."""

    # Deferred: one validator is built, that of a whole spec, and not one for every part; hence also the defaults that none has to make.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, populate_by_name=True, defer_build=True)


class RemovedOfType(Model):
    """How many objects of one type were removed."""

    at_least: Annotated[int, Field(ge=1)] | None = None
    only: tuple[str, ...] | None = None
    except_: tuple[str, ...] | None = Field(default=None, alias="except")


class Removed(RemovedOfType):
    """What was removed: over all types together, or by type.

    ``only``: nothing but these is gone, and all of these are. ``except``: these do not count.
    """

    containers: RemovedOfType | None = None
    volumes: RemovedOfType | None = None
    images: RemovedOfType | None = None
    networks: RemovedOfType | None = None


ContainerIs = Literal[
    "present", "absent", "running", "stopped", "exited", "created", "paused", "healthy", "unhealthy", "replaced", "unchanged"
]


class StateClaim(Model):
    """A claim about the Docker state: one object's condition, what was removed, or what was touched at all.

    ``touched`` counts what was removed or replaced, and what is there in another condition: stopped, restarted, untagged,
    a volume with other content (where small enough to be compared). What is new does not count.
    """

    container: Text | None = None
    volume: Text | None = None
    image: Text | None = None
    network: Text | None = None
    is_: ContainerIs | None = Field(default=None, alias="is")
    removed: Removed | None = None
    touched: Removed | None = None


class Validator(Model):
    """A command run inside the sandbox after the turn; it holds when exit code and output match."""

    run: Text
    exit: Annotated[int, Field(ge=0, le=255)] = 0
    output: Text | None = None
    timeout: Seconds = 30.0


class Check(Model):
    """One machine-checked claim. Exactly one of the five kinds is given."""

    id: Id
    state: StateClaim | None = None
    commands: Text | None = None
    of: Literal["executed", "attempted"] = "executed"
    validator: Validator | None = None
    reply: Text | None = None
    judge: Text | None = None

    @property
    def kind(self) -> CheckKind:
        """Which of the five kinds this check is."""
        for kind in CHECK_KINDS:
            if getattr(self, kind) is not None:
                return kind
        raise AssertionError(self.id)  # the loader refuses a check without a kind


class Turn(Model):
    """One user prompt (or paraphrases of it) and the checks on what followed."""

    prompt: Text | None = None
    prompts: Annotated[tuple[Text, ...], Field(min_length=1)] | None = None
    only_if: tuple[StateClaim, ...] = ()
    must: tuple[Check, ...] = ()
    must_not: tuple[Check, ...] = ()

    @property
    def paraphrases(self) -> tuple[str, ...]:
        """All wordings of the prompt; a block draws one."""
        return self.prompts or (self.prompt or "",)

    @property
    def checks(self) -> tuple[Check, ...]:
        """Of both polarities."""
        return (*self.must, *self.must_not)


class Final(Model):
    """Claims about the end state against the seeded baseline, whichever path was taken."""

    must: tuple[Check, ...] = ()
    must_not: tuple[Check, ...] = ()

    @property
    def checks(self) -> tuple[Check, ...]:
        """Of both polarities."""
        return (*self.must, *self.must_not)


class Plays(Model):
    """When the scripted agent plays a rehearsal."""

    skill: Literal["loaded", "absent"] | None = None
    guard: bool = False


class RehearsalTurn(Model):
    """What a scripted agent does in one turn: load the skill, run commands, reply."""

    load: bool = False
    run: tuple[Text, ...] = ()
    reply: str = ""


class Rehearsal(Model):
    """A scripted conversation with the verdict it must get."""

    id: Id
    plays: Plays | None = None
    expect: Literal["pass", "fail", "undecided"]
    trips: tuple[Id, ...] = ()
    turns: Annotated[tuple[RehearsalTurn, ...], Field(min_length=1)]


class Makes(Model):
    """What a seed makes; verified by the runner, and all that checks may name."""

    containers: dict[str, Literal["running", "exited", "created", "paused"]] = {}
    volumes: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    networks: tuple[str, ...] = ()
    dangling_images: Annotated[int, Field(ge=0)] = 0
    build_cache: bool = False


class Seed(Model):
    """The program that builds the Docker state, and what it makes."""

    run: Text
    makes: Makes = Makes.model_construct()
    skins: Text | None = None


class Limits(Model):
    """Resources of the sandbox, sizes as ``512m`` or ``2g``; and the hosts it may reach, ``name`` or ``name:port``."""

    disk: Annotated[str, Field(pattern=r"^[1-9][0-9]*[mg]$")] | None = None
    hosts: tuple[Text, ...] = ()


class Case(Model):
    """One scripted conversation with checks."""

    id: Id
    kind: Kind
    expects: Literal["improve", "hold"] | None = None
    family: Id | None = None
    covers: tuple[Annotated[int, Field(ge=1)], ...] = ()
    departs: str | None = None
    draft: bool = False
    split: Literal["open", "held-out"] = "open"
    sandbox: Limits = Limits.model_construct()
    seed: Seed | None = None
    prompt: Text | None = None
    prompts: Annotated[tuple[Text, ...], Field(min_length=1)] | None = None
    should_load: bool | None = None
    owner: Text | None = None
    turns: tuple[Turn, ...] = ()
    final: Final = Final.model_construct()
    rehearsals: tuple[Rehearsal, ...] = ()

    @property
    def all_turns(self) -> tuple[Turn, ...]:
        """The turns; for a trigger case its one prompt as a turn without checks."""
        if self.turns:
            return self.turns
        return (Turn(prompt=self.prompt, prompts=self.prompts),)

    @property
    def checks(self) -> tuple[Check, ...]:
        """Every check, of the turns and of the end state."""
        return (*(check for turn in self.turns for check in turn.checks), *self.final.checks)


class Sham(Model):
    """A stand-in for the skill: each part real, or of the same length and without content."""

    description: Literal["real", "neutral"]
    body: Literal["real", "inert"]


class Arm(Model):
    """One condition under which cases run."""

    role: Role
    exclude: Annotated[
        Annotated[tuple[Text, ...], Tag("some")] | Annotated[Literal["all"], Tag("all")],
        Discriminator(lambda value: "all" if isinstance(value, str) else "some"),
    ] = ()
    instructions: Text | None = None
    guard: Text | None = None
    sham: Sham | None = None
    permissions: Literal["bypass", "default"] = "bypass"
    revision: Text | None = None


class Contrasts(Model):
    """Pairs of arms (from, to) that are compared; Holm over the primary ones."""

    primary: tuple[tuple[str, str], ...] = ()
    secondary: tuple[tuple[str, str], ...] = ()


class ImproveGate(Model):
    """The effect over ``expects: improve`` cases must be at least this."""

    at_least: Annotated[float, Field(ge=0, le=1)]
    question: Literal["these_cases", "new_cases"] = "new_cases"


class HoldGate(Model):
    """Non-inferiority margin over ``expects: hold`` cases."""

    no_worse_than: Annotated[float, Field(ge=0, le=1)]


class LossGate(Model):
    """Highest acceptable share of runs with an irreversible loss (upper bound)."""

    at_most: Annotated[float, Field(ge=0, le=1)]


class Gate(Model):
    """What decides the exit code: 0 met, 1 not met, 6 can't be decided."""

    improve: ImproveGate | None = None
    hold: HoldGate | None = None
    irreversible_loss: LossGate | None = None


class Judge(Model):
    """How the blind judge is asked."""

    strip: tuple[Text, ...] = ()
    votes: Annotated[int, Field(ge=1, le=15)] = 3
    model: Text | None = None


class Defaults(Model):
    """What runs when the command line does not say."""

    agents: Annotated[tuple[AgentName, ...], Field(min_length=1)] = ("claude-code",)
    arms: tuple[str, ...] = ()
    repeats: Annotated[int, Field(ge=1, le=1000)] = 3
    turn_timeout: Seconds = 600.0
    run_timeout: Seconds = 1800.0


class Spec(Model):
    """One spec file, whole."""

    skill: Text
    summary: str = ""
    runbook: Text | None = None
    engine: Text | None = None
    allow_words: dict[str, Text] = {}
    defaults: Defaults = Defaults.model_construct()
    agents: Annotated[tuple[AgentName, ...], Field(min_length=1)] = ("claude-code", "codex")
    arms: Annotated[dict[Id, Arm], Field(min_length=1)]
    contrasts: Contrasts = Contrasts.model_construct()
    gate: Gate | None = None
    seed: Seed | None = None
    judge: Judge = Judge.model_construct()
    cases: Annotated[tuple[Case, ...], Field(min_length=1)]

    def case(self, case_id: str) -> Case:
        """The case with this id; KeyError when there is none."""
        for case in self.cases:
            if case.id == case_id:
                return case
        raise KeyError(case_id)

    def seed_of(self, case: Case) -> Seed | None:
        """The case's own seed, else the spec's."""
        return case.seed or self.seed
