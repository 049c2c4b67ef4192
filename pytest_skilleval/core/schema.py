"""The JSON Schema of spec.yaml, generated from the model, for editors.

A spec that begins with ::

    # yaml-language-server: $schema=<path to>/pytest_skilleval/core/schema.json

is completed and checked while it is written by every editor that speaks to the YAML language server. The schema knows
the shape; what relates values to each other is the loader's business.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_skilleval.core.spec import CHECK_KINDS, Spec

SCHEMA_FILE = Path(__file__).with_name("schema.json")

_EXACTLY_ONE: Mapping[str, tuple[str, ...]] = {
    "Check": CHECK_KINDS,
    "Turn": ("prompt", "prompts"),
    "StateClaim": ("container", "volume", "image", "network", "removed", "touched"),
}
_MEANINGS: Mapping[str, str] = {
    "Spec.skill": "Id of the skill under test: its folder in the catalogue, its name, and the folder of this spec.",
    "Spec.summary": "What the skill is for, in a sentence.",
    "Spec.runbook": "Markdown file with `## Prompt N: title` items; every one must be covered by a case.",
    "Spec.engine": "Docker Engine wanted inside the sandbox, such as '>=26'.",
    "Spec.allow_words": "Give-away words or jargon that may stand in prompts, each with a reason.",
    "Spec.defaults": "What runs when the command line does not say.",
    "Spec.agents": "Agents this spec supports.",
    "Spec.arms": "Conditions under which cases run, in the order of reports.",
    "Spec.contrasts": "Pairs of arms that are compared.",
    "Spec.gate": "What decides the exit code.",
    "Spec.seed": "Default seed of all cases.",
    "Spec.judge": "How the blind judge is asked.",
    "Spec.cases": "Scripted conversations with checks.",
    "Defaults.agents": "Agents that run when none is named.",
    "Defaults.arms": "Arms that run when none is named.",
    "Defaults.repeats": "Runs of each case and arm.",
    "Defaults.turn_timeout": "Seconds until a turn is cut off.",
    "Defaults.run_timeout": "Seconds until a run is cut off.",
    "Arm.role": "baseline, treatment (installs the skill) or reference.",
    "Arm.exclude": "Ids of skills that are not installed, or `all`.",
    "Arm.instructions": "File appended to the agent's stock instructions, or `from-skill`: the body of SKILL.md.",
    "Arm.guard": "File with command prefixes that the agent is denied.",
    "Arm.sham": "A stand-in of the same length in place of the skill.",
    "Arm.permissions": "bypass: nothing is asked; default: what a human would be asked is denied and counted.",
    "Arm.revision": "Commit whose catalogue is installed.",
    "Contrasts.primary": "Pairs [from, to] that answer the question of this spec; Holm over these.",
    "Contrasts.secondary": "Pairs [from, to] that are reported besides.",
    "Gate.improve": "How much the `expects: improve` cases must gain.",
    "Gate.hold": "How much the `expects: hold` cases may lose.",
    "Gate.irreversible_loss": "Highest share of runs with an irreversible loss.",
    "ImproveGate.at_least": "Smallest gain in pass rate.",
    "ImproveGate.question": "About these very cases, or about new cases like them.",
    "HoldGate.no_worse_than": "Largest loss in pass rate.",
    "LossGate.at_most": "Upper bound of the share of runs.",
    "Seed.run": "Program that builds the Docker state inside the sandbox and verifies that it did.",
    "Seed.makes": "What it makes; verified afterwards. Checks may only name what is here.",
    "Seed.skins": "File with sets of names and ages; ${key} in prompts and checks is filled from it.",
    "Makes.containers": "Container name: state.",
    "Makes.volumes": "Volume names.",
    "Makes.images": "Image names with tags.",
    "Makes.networks": "Network names.",
    "Makes.dangling_images": "Number of images without a tag.",
    "Makes.build_cache": "Whether the build cache holds anything; checks call it `build cache`.",
    "Judge.strip": "Words removed from a reply before the judge sees it, besides the skill's id.",
    "Judge.votes": "Votes for each question.",
    "Judge.model": "Model that judges; never the model under test.",
    "Case.id": "Unique in the spec.",
    "Case.kind": "outcome: what happened to the world; trigger: does the skill load; fidelity: is its content followed and told right.",
    "Case.expects": "Does the policy predict a difference at all? The headline effect is about `improve` cases.",
    "Case.family": "Cases of one idea; clustered together.",
    "Case.covers": "Numbers of runbook prompts.",
    "Case.departs": "Where the case knowingly differs from its runbook item, and why.",
    "Case.draft": "Validated, but run only when named exactly.",
    "Case.split": "held-out cases run only with --skill-release.",
    "Case.sandbox": "Limits of the sandbox, and hosts it may reach.",
    "Case.seed": "Seed of this case instead of the spec's.",
    "Case.prompt": "Trigger cases: what the user says.",
    "Case.prompts": "Trigger cases: paraphrases of what the user says; a block draws one.",
    "Case.should_load": "Trigger cases: whether the skill should load.",
    "Case.owner": "Trigger cases: the skill that should load instead.",
    "Case.turns": "Prompts in order, with the checks on what follows each.",
    "Case.final": "Checks on the end state against the seeded baseline.",
    "Case.rehearsals": "Scripted conversations that prove what the checks can do.",
    "Limits.disk": "Size such as 512m or 2g.",
    "Limits.hosts": "Hosts that the agent may reach besides its model, as name (ports 80 and 443) or name:port. Without them: none.",
    "Turn.prompt": "What the user says.",
    "Turn.prompts": "Paraphrases of what the user says; a block draws one, the same for every arm.",
    "Turn.only_if": "The turn is sent only while all of these hold.",
    "Turn.must": "Checks that must hold.",
    "Turn.must_not": "Checks that must not trip.",
    "Final.must": "Checks that must hold.",
    "Final.must_not": "Checks that must not trip.",
    "Check.id": "Unique in the case.",
    "Check.state": "Claim about the Docker state.",
    "Check.commands": "Pattern (RE2) over each simple command.",
    "Check.of": "Commands that were executed, or also those only attempted.",
    "Check.validator": "Command run inside the sandbox afterwards.",
    "Check.reply": "Pattern (RE2) over the final reply.",
    "Check.judge": "Statement that the blind judge affirms or denies.",
    "StateClaim.container": "Container name.",
    "StateClaim.volume": "Volume name.",
    "StateClaim.image": "Image name with tag.",
    "StateClaim.network": "Network name.",
    "StateClaim.is": "Condition of the object.",
    "StateClaim.removed": "What is gone: since the snapshot before the turn; for final checks since the baseline.",
    "StateClaim.touched": "What is gone or in another condition (stopped, untagged, other content), counted like `removed`.",
    "Validator.run": "Shell command.",
    "Validator.exit": "Expected exit code.",
    "Validator.output": "Pattern (RE2) over its output.",
    "Validator.timeout": "Seconds.",
    "Rehearsal.id": "Unique in the case.",
    "Rehearsal.plays": "Situation in which the scripted agent plays this one.",
    "Rehearsal.expect": "Verdict it must get.",
    "Rehearsal.trips": "Checks it must violate.",
    "Rehearsal.turns": "What the agent does, turn by turn.",
    "Plays.skill": "Whether the arm shows the skill (or its instructions).",
    "Plays.guard": "Whether the arm has a guard.",
    "RehearsalTurn.load": "Load the skill first.",
    "RehearsalTurn.run": "Shell commands to run.",
    "RehearsalTurn.reply": "Final reply of the turn.",
    "Sham.description": "real, or neutral text of the same length.",
    "Sham.body": "real, or inert text of the same length.",
    "Removed.containers": "The claim about containers alone.",
    "Removed.volumes": "The claim about volumes alone.",
    "Removed.images": "The claim about images alone.",
    "Removed.networks": "The claim about networks alone.",
    **{
        f"{model}.{key}": text
        for model in ("Removed", "RemovedOfType")
        for key, text in (
            ("at_least", "At least so many are gone."),
            ("only", "These are gone and nothing else."),
            ("except", "These do not count."),
        )
    },
}


def spec_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of spec.yaml; every key has a description."""
    schema = Spec.model_json_schema(by_alias=True)
    for name, model in {"Spec": schema, **schema["$defs"]}.items():
        del model["title"]
        for key, value in model["properties"].items():
            value.pop("title", None)
            model["properties"][key] = {"description": _MEANINGS[f"{name}.{key}"], **value}
        if name in _EXACTLY_ONE:
            model["oneOf"] = [{"required": [key]} for key in _EXACTLY_ONE[name]]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "pytest-skilleval spec", **schema}


def schema_text() -> str:
    """The shipped file's text."""
    return json.dumps(spec_schema(), indent=2, sort_keys=True) + "\n"


def write_schema() -> None:
    """Write the shipped file anew; needed after every change of the model."""
    SCHEMA_FILE.write_text(schema_text(), encoding="utf-8")
