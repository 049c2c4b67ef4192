"""Specs and a request -> the plan. Pure: the same specs, request and random seed give the same plan on every machine.

Which runs there are is decided here; in which order, and with which draws, in :mod:`pytest_skilleval.core.blocks`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, get_args

from pytest_skilleval.core.blocks import Block, rank, rows
from pytest_skilleval.core.choosing import DEFAULT_MODEL, SCRIPTED, agents_with_models, is_glob, same_model
from pytest_skilleval.core.contrasts import installs, primary_contrasts
from pytest_skilleval.core.errors import UsageProblem
from pytest_skilleval.core.nearest import did_you_mean
from pytest_skilleval.core.plan import Plan
from pytest_skilleval.core.statistics.sequential import Look

if TYPE_CHECKING:
    from pytest_skilleval.core.loaded import LoadedSpec
    from pytest_skilleval.core.spec import Arm, Case, Rehearsal, Spec


class Nothing(UsageProblem):
    """The request is understood, and there is nothing to run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the command line asks for; empty and None mean: what the spec says.

    Attributes
    ----------
    agents, models
        ``agent``, ``agent:model``, ``model``, see :func:`~pytest_skilleval.core.choosing.agents_with_models`.
    cases
        Globs and ids; an exact id also runs a draft.
    release
        Held-out cases too.
    rehearse
        Plan every rehearsal of every case instead of ordinary runs.
    generated
        How many generated rehearsals a case gets beside the written ones; None: all of them.
    looks
        Planned looks: every case is repeated as often as the last one says, in blocks ordered look by look.
    judged
        A judge will vote, so a spec with judge checks must name its model.
    """

    agents: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    arms: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    repeats: int | None = None
    looks: tuple[Look, ...] = ()
    release: bool = False
    rehearse: bool = False
    generated: int | None = 0
    judged: bool = False
    random_seed: int | None = None
    seed_origin: str = ""


def make_plan(specs: Sequence[LoadedSpec], request: Request) -> Plan:
    """Every run that `request` means, in the order in which they start.

    Blocks stand in random order, the arms within a block too. The paraphrases and the skin of a block depend on
    the random seed, the case and the repeat only.

    Raises
    ------
    UsageProblem
        For everything that can't be meant, at once: unknown agents, arms and cases with the nearest name, a judge
        that is the model under test.
    Nothing
        The selection is empty; the text says why.
    """
    problems = [*_looks_problems(request), *_unknown_cases(specs, request)]
    blocks: list[Block] = []
    warnings: list[str] = []
    for loaded in specs:
        warnings += [str(fault) for fault in loaded.warnings]
        try:
            blocks += _rehearsals(loaded, request, warnings) if request.rehearse else _blocks(loaded, request)
        except UsageProblem as problem:
            problems.append(str(problem))
    problems += _judge_problems(blocks, request)
    if len({SCRIPTED in {block.agent, block.model} for block in blocks}) > 1:
        problems.append("scripted agents and models are simulated and never mixed with live ones; use a session for each")
    if problems:
        raise UsageProblem("\n".join(dict.fromkeys(problems)))
    if not blocks:
        raise Nothing(_why_nothing(specs, request))
    planned = {block.loaded.spec.skill: block.loaded for block in blocks}
    random_seed = derived_random_seed(specs) if request.random_seed is None else request.random_seed
    return Plan(
        random_seed=random_seed,
        seed_origin=request.seed_origin if request.random_seed is not None else "derived from the specs; --skill-random-seed draws anew",
        rows=tuple(rows(blocks, random_seed, request.looks)),
        locks={skill: loaded.text_hash for skill, loaded in planned.items()},
        contrasts={skill: primary_contrasts(loaded.spec) for skill, loaded in planned.items()},
        looks=request.looks,
        rehearsal=request.rehearse,
        release=request.release,
        warnings=tuple(dict.fromkeys(warnings)),
    )


def derived_random_seed(specs: Sequence[LoadedSpec]) -> int:
    """A random seed that only depends on the specs' contents: the same command makes the same draws tomorrow."""
    return rank(0, *sorted(loaded.text_hash for loaded in specs)) % 2**32


def _blocks(loaded: LoadedSpec, request: Request) -> list[Block]:
    spec = loaded.spec
    pairs, arms = _agents(spec, request), _arms(spec, request)
    repeats = request.looks[-1].repeats if request.looks else request.repeats or spec.defaults.repeats
    return [
        Block(loaded, case, case_arms, agent, model, repeat)
        for case in chosen_cases(spec, request)
        if (case_arms := tuple(arm for arm in arms if case.kind != "trigger" or installs(spec.arms[arm], spec.skill)))
        for agent, model in pairs
        for repeat in range(1, repeats + 1)
    ]


def _agents(spec: Spec, request: Request) -> tuple[tuple[str, str], ...]:
    """Agents with their models; only those that the spec supports, and the scripted one."""
    from pytest_skilleval.core.spec import AgentName

    pairs = agents_with_models(request.agents or spec.defaults.agents, request.models, get_args(AgentName))
    for agent, _ in pairs:
        if agent not in (*spec.agents, SCRIPTED):
            raise UsageProblem(
                f"--skill-agent: the spec of {spec.skill} does not support {agent!r}, only {', '.join((*spec.agents, SCRIPTED))}; "
                f"add it to `agents` in the spec"
            )
    return pairs


def _arms(spec: Spec, request: Request) -> tuple[str, ...]:
    """The arms asked for; else the spec's defaults, else those of its primary contrasts, else all."""
    for arm in request.arms:
        if arm not in spec.arms:
            raise UsageProblem(f"--skill-arms: the spec of {spec.skill} has no arm {arm!r}{did_you_mean(arm, spec.arms)}")
    primary = tuple(arm for pair in spec.contrasts.primary for arm in pair)
    return tuple(dict.fromkeys(request.arms or spec.defaults.arms or primary or spec.arms))


def chosen_cases(spec: Spec, request: Request) -> tuple[Case, ...]:
    """The spec's cases that `request` means: no draft unless named exactly, held-out ones only with --skill-release."""
    return tuple(case for case in spec.cases if _is_chosen(case, request))


def _is_chosen(case: Case, request: Request) -> bool:
    if case.split == "held-out" and not (request.release or request.rehearse):
        return False
    if case.id in request.cases:
        return True
    return not case.draft and (not request.cases or any(fnmatchcase(case.id, pattern) for pattern in request.cases))


def _unknown_cases(specs: Sequence[LoadedSpec], request: Request) -> list[str]:
    """A sentence for each pattern of --skill-case that means no case, or one that may not run."""
    cases = [case for loaded in specs for case in loaded.spec.cases]
    problems = []
    for pattern in request.cases:
        meant = [case for case in cases if fnmatchcase(case.id, pattern)]
        if not meant:
            problems.append(f"--skill-case: no case {pattern!r}{did_you_mean(pattern, [case.id for case in cases])}")
        elif all(case.split == "held-out" for case in meant) and not (request.release or request.rehearse):
            problems.append(f"--skill-case: {', '.join(case.id for case in meant)} is held out; add --skill-release to run it")
        elif is_glob(pattern) and all(case.draft for case in meant):
            problems.append(f"--skill-case: {pattern!r} only matches drafts; name one exactly: {', '.join(case.id for case in meant)}")
    return problems


def _looks_problems(request: Request) -> Iterator[str]:
    if request.looks and request.rehearse:
        yield "--skill-looks: rehearsals are played once each; leave one of the two out"
    if request.looks and request.repeats not in (None, request.looks[-1].repeats):
        yield f"--skill-looks plans {request.looks[-1].repeats} repeats, --skill-repeats says {request.repeats}; leave one of the two out"


def _judge_problems(blocks: Sequence[Block], request: Request) -> list[str]:
    """A judge must be named where it votes, and never be the model that it judges (recorded runs may be judged later, too)."""
    problems = []
    for block in {(id(block.case), block.model): block for block in blocks}.values():
        spec = block.loaded.spec
        if all(check.judge is None for check in block.case.checks):
            continue
        if spec.judge.model is None and request.judged:
            problems.append(f"{spec.skill}: case {block.case.id} has a judge check, but `judge: {{model: ...}}` is missing in the spec")
        elif spec.judge.model is not None and same_model(spec.judge.model, block.model):
            problems.append(
                f"{spec.skill}: the judge {spec.judge.model} is the model under test; name another model under `judge` in the spec, "
                f"or in --skill-model"
            )
    return problems


def _why_nothing(specs: Sequence[LoadedSpec], request: Request) -> str:
    names = ", ".join(loaded.spec.skill for loaded in specs)
    if request.rehearse:
        return f"{names}: no case has a rehearsal to be played; add `rehearsals` to the spec"
    cases = [case for loaded in specs for case in chosen_cases(loaded.spec, request)]
    if cases:
        return f"{names}: trigger cases run only in arms that install the skill; add one to --skill-arms"
    return f"{names}: every case is a draft or held out; name drafts in --skill-case, add --skill-release for held-out cases"


def _rehearsals(loaded: LoadedSpec, request: Request, warnings: list[str]) -> list[Block]:
    """One block a rehearsal, agent and model, in the first arm that it is written for.

    The scripted agent plays where none is named; a real CLI plays with the scripted model only, so that its script is the rehearsal.
    """
    from pytest_skilleval.core.generated import sample

    spec = loaded.spec
    players = _agents(spec, request) if request.agents or request.models else ((SCRIPTED, DEFAULT_MODEL),)
    if any(SCRIPTED not in player for player in players):
        raise UsageProblem("--skill-rehearse: a live model plays no script; add --skill-model=scripted")
    arms = {arm: spec.arms[arm] for arm in (_arms(spec, request) if request.arms else spec.arms)}
    blocks = []
    for case in chosen_cases(spec, request):
        for rehearsal in (*case.rehearsals, *(sample(loaded, case, request.generated) if request.generated != 0 else ())):
            arm = _arm_for(rehearsal, arms, spec.skill)
            if arm is None:
                warnings.append(f"{spec.skill}: no arm fits the rehearsal {case.id}/{rehearsal.id}; it is not played")
            else:
                blocks += [Block(loaded, case, (arm,), agent, model, 1, rehearsal.id) for agent, model in players]
    return blocks


def _arm_for(rehearsal: Rehearsal, arms: dict[str, Arm], skill: str) -> str | None:
    """The first arm that shows what the rehearsal reacts to; treatment first where it says nothing."""
    plays = rehearsal.plays
    ordered = sorted(arms, key=lambda name: arms[name].role != "treatment")

    def fits(arm: Arm) -> bool:
        shown = installs(arm, skill) or arm.instructions is not None
        wanted = shown if plays is None or plays.skill is None else plays.skill == "loaded"
        return shown == wanted and (arm.guard is not None) == (plays is not None and plays.guard)

    return next((name for name in ordered if fits(arms[name])), None)
