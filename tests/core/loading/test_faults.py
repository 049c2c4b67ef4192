"""Every fault of a spec: one change to a valid spec, one message with its line and path."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from spec_builder import Change, Tree


@dataclass(frozen=True)
class Broken:
    """A way to break the spec: the changes, and where, at which path and with which words it is told."""

    name: str
    changes: tuple[Change, ...]
    at: str
    path: str
    message: str


def broken(name: str, old: str, new: str, path: str, message: str, *, at: str = "", also: tuple[Change, ...] = ()) -> Broken:
    """One fault; it stands at the first line of what was changed unless `at` names a piece elsewhere."""
    return Broken(name, ((old, new), *also), at or new, path, message)


CHECKS_OF_OVERVIEW = """\
        must:
          - {id: names-prune, reply: '(?i)volume prune'}
          - {id: says-final, judge: The reply says that a deleted volume cannot be restored.}
    rehearsals:
      - {id: good, expect: pass, turns: [{load: true, reply: "Mind docker volume prune."}]}
      - {id: vague, expect: fail, trips: [names-prune], turns: [{load: true, reply: Mind them all.}]}
"""
TURNS_OF_OVERVIEW = f"""\
    turns:
      - prompt: Which Docker commands should I be careful with?
{CHECKS_OF_OVERVIEW}"""


def telling(word: str) -> str:
    """What is said about a word that gives the scene away."""
    reason = "gives away that this is no real request; use another word, or allow it with a reason"
    return f"`{word}` {reason}: `allow_words: {{{word}: why}}`"


MADE = "makes: {containers: {report: exited, '${db}': running}, volumes: ['${db}-data']}"
C0 = "$.cases[0]"
M0 = f"{C0}.turns[0].must[0]"
SHAPES = [
    broken("unknown key at the top", "summary: Ask", "sumary: Ask", "$.sumary", "unknown key `sumary`; did you mean `summary`?"),
    broken(
        "unknown key without a neighbour",
        "dangling_images: 2",
        "zebras: 2",
        "$.seed.makes.zebras",
        "unknown key `zebras`; known here: build_cache, containers, dangling_images, images, networks, volumes",
    ),
    broken(
        "unknown key deep down",
        "commands: 'docker",
        "comands: 'docker",
        f"{C0}.turns[0].must_not[0].comands",
        "unknown key `comands`; did you mean `commands`?",
    ),
    broken(
        "name of the model's field",
        "is: exited}]",
        "is_: exited}]",
        f"{C0}.turns[1].only_if[0].is_",
        "unknown key `is_`; did you mean `is`?",
    ),
    broken(
        "repeated key",
        "    family: sweeping",
        "    kind: outcome",
        f"{C0}.kind",
        "the key `kind` is given twice (first on line 30); keep one",
        at="    kind: outcome\n    covers",
    ),
    broken("key that is no text", "  rules: {role", "  on: {role", "$.arms.on", "the key `on` is not read as text by YAML; quote it: 'on'"),
    broken(
        "key that is a number",
        "allow_words: {container:",
        "allow_words: {12:",
        "$.allow_words.12",
        "the key `12` is not read as text by YAML; quote it: '12'",
    ),
    broken("merge key", "judge: {strip", "judge: {<<: {votes: 5}, strip", "$.judge.<<", "is a YAML merge key; write the keys out"),
    broken(
        "tag",
        "votes: 3",
        "votes: !!int 3",
        "$.judge.votes",
        "carries the YAML tag `tag:yaml.org,2002:int`; tags are not supported, write the plain value",
    ),
    broken("yes as id", "id: cleanup", "id: yes", f"{C0}.id", "`yes` is read as true by YAML; quote it: 'yes'"),
    broken("no as id", "id: cleanup", "id: no", f"{C0}.id", "`no` is read as false by YAML; quote it: 'no'"),
    broken(
        "on as check id",
        "id: says-final",
        "id: on",
        "$.cases[3].turns[0].must[1].id",
        "`on` is read as true by YAML; quote it: 'on'",
        at="id: on, judge",
    ),
    broken("number as id", "id: cleanup", "id: 017", f"{C0}.id", "`017` is read as a number by YAML; quote it: '017'"),
    broken(
        "capitals in an id",
        "id: cleanup",
        "id: Clean Up",
        f"{C0}.id",
        "`Clean Up` is no id: use lower-case letters, digits and single hyphens between them",
    ),
    broken("empty id", "id: cleanup", "id: ''", f"{C0}.id", "`` is no id: use lower-case letters, digits and single hyphens between them"),
    broken("long id", "id: cleanup", "id: " + "c" * 65, f"{C0}.id", "has more than 64 characters; shorten it"),
    broken(
        "arm name that is no id",
        "  sham: {role",
        "  The_Sham: {role",
        "$.arms.The_Sham",
        "`The_Sham` is no id: use lower-case letters, digits and single hyphens between them",
    ),
    broken(
        "missing key",
        "    kind: trigger\n    prompt: Please",
        "    prompt: Please",
        "$.cases[1]",
        "`kind` is missing; add it",
        at="- id: prune-request",
    ),
    broken(
        "nothing for a list",
        "covers: [2]",
        "covers:",
        "$.cases[3].covers",
        "is empty; write a list or remove the key",
        at="covers:\n",
    ),
    broken(
        "empty text",
        "prompt: Take down my stack but keep its data.",
        "prompt:",
        "$.cases[2]",
        "needs either `prompt` or `prompts` (paraphrases), and not both",
        at="- id: compose-down",
    ),
    broken(
        "blank text",
        "prompt: Take down my stack but keep its data.",
        "prompt: ''",
        "$.cases[2].prompt",
        "is empty; write a text or remove the key",
    ),
    broken("empty list", "agents: [claude-code, codex]", "agents: []", "$.agents", "is empty; it needs at least one entry"),
    broken("text for a list", "covers: [1]", "covers: one", f"{C0}.covers", "must be a list, not a text"),
    broken(
        "mapping for a text",
        "prompt: Yes, the stopped ones.",
        "prompt: {Sure: the stopped ones}",
        f"{C0}.turns[1].prompt",
        "must be a text, not a mapping; a text that holds `: ` or starts with `[` or `{` needs quotes",
    ),
    broken(
        "list for a mapping",
        "judge: {strip: [blast radius], votes: 3, model: small-model}",
        "judge: [small-model]",
        "$.judge",
        "must be a mapping of keys to values, not a list",
    ),
    broken(
        "nothing for a mapping",
        "judge: {strip: [blast radius], votes: 3, model: small-model}",
        "judge: # none",
        "$.judge",
        "is empty; write a mapping of keys to values or remove the key",
    ),
    broken(
        "unknown choice with a neighbour",
        "expects: improve",
        "expects: imprve",
        f"{C0}.expects",
        "`imprve` is none of improve, hold; did you mean `improve`?",
    ),
    broken("unknown choice", "kind: fidelity", "kind: quality", "$.cases[3].kind", "`quality` is none of trigger, outcome, fidelity"),
    broken(
        "unknown agent",
        "agents: [claude-code, codex]",
        "agents: [claude-code, codx]",
        "$.agents[1]",
        "`codx` is none of claude-code, codex, scripted; did you mean `codex`?",
    ),
    broken(
        "exclude that is a word",
        "with: {role: treatment}",
        "with: {role: treatment, exclude: none}",
        "$.arms.with.exclude",
        "must be a list of skill ids or the word `all`, not `none`",
    ),
    broken("no truth value", "should_load: true", "should_load: 'true'", "$.cases[1].should_load", "must be true or false"),
    broken("no whole number", "repeats: 3", "repeats: 2.5", "$.defaults.repeats", "must be a whole number, without quotes"),
    broken("number in quotes", "repeats: 3", "repeats: '3'", "$.defaults.repeats", "must be a whole number, without quotes"),
    broken("too small", "repeats: 3", "repeats: 0", "$.defaults.repeats", "must be at least 1, not 0"),
    broken("too large", "votes: 3", "votes: 99", "$.judge.votes", "must be at most 15, not 99"),
    broken("no exit code", "output: '^500'", "exit: 256", f"{C0}.turns[1].must[0].validator.exit", "must be at most 255, not 256"),
    broken("no time", "turn_timeout: 600", "turn_timeout: 0", "$.defaults.turn_timeout", "must be more than 0, not 0"),
    broken("endless time", "turn_timeout: 600", "turn_timeout: .inf", "$.defaults.turn_timeout", "must be a finite number"),
    broken("no pair", "primary: [[without, with]]", "primary: [[without]]", "$.contrasts.primary[0]", "must be a pair of arms: [from, to]"),
    broken(
        "three in a pair",
        "primary: [[without, with]]",
        "primary: [[without, with, sham]]",
        "$.contrasts.primary[0]",
        "must be a pair of arms: [from, to]",
    ),
    broken(
        "no size", "    family: sweeping", "    sandbox: {disk: 2 GB}", f"{C0}.sandbox.disk", "`2 GB` is no size; write it like 512m or 2g"
    ),
    broken(
        "host with a scheme",
        "    family: sweeping",
        "    sandbox: {hosts: ['https://deb.debian.org']}",
        f"{C0}.sandbox.hosts[0]",
        "`https://deb.debian.org` is no host name; leave out scheme, path and mask: write a plain name like deb.debian.org, or name:port",
    ),
    broken(
        "host with a wildcard",
        "    family: sweeping",
        "    sandbox: {hosts: [deb.debian.org, '*.debian.org']}",
        f"{C0}.sandbox.hosts[1]",
        "`*.debian.org`: there are no wildcards; name each host",
    ),
    broken(
        "host that is a number",
        "    family: sweeping",
        "    sandbox: {hosts: [127.1]}",
        f"{C0}.sandbox.hosts[0]",
        "`127.1` is read as a number by YAML; quote it: '127.1'",
    ),
    broken(
        "host named twice",
        "    family: sweeping",
        "    sandbox: {hosts: [deb.debian.org, DEB.debian.org]}",
        f"{C0}.sandbox.hosts[1]",
        "`DEB.debian.org` is listed twice; remove one",
    ),
]
ARMS = [
    broken(
        "skill not in the catalogue",
        "without: {role: baseline, exclude: [careful-docker]}",
        "without: {role: baseline, exclude: [careful-doker]}",
        "$.arms.without.exclude[0]",
        "the catalogue has no skill `careful-doker`; did you mean `careful-docker`?",
    ),
    broken(
        "skill excluded twice",
        "without: {role: baseline, exclude: [careful-docker]}",
        "without: {role: baseline, exclude: [careful-docker, careful-docker]}",
        "$.arms.without.exclude[1]",
        "`careful-docker` is excluded twice; remove one",
    ),
    broken(
        "treatment without the skill",
        "with: {role: treatment}",
        "with: {role: treatment, exclude: [careful-docker]}",
        "$.arms.with",
        "a treatment arm must install the skill, and `with` excludes it; take it out of `exclude`, or choose another role",
    ),
    broken(
        "treatment without anything",
        "with: {role: treatment}",
        "with: {role: treatment, exclude: all}",
        "$.arms.with",
        "a treatment arm must install the skill, and `with` excludes it; take it out of `exclude`, or choose another role",
    ),
    broken(
        "sham treatment",
        "with: {role: treatment}",
        "with: {role: treatment, sham: {description: real, body: inert}}",
        "$.arms.with",
        "a treatment arm must install the skill itself, and `with` installs a sham of it; remove `sham`, or choose another role",
    ),
    broken(
        "sham of nothing",
        "sham: {role: reference, sham",
        "sham: {role: reference, exclude: all, sham",
        "$.arms.sham",
        "`sham` excludes the skill that its sham stands in for; remove one of the two",
    ),
    broken(
        "revision that is an option",
        "with: {role: treatment}",
        "with: {role: treatment, revision: --all}",
        "$.arms.with.revision",
        "`--all` is no commit, tag or branch; write one, such as v1.2 or main~3",
    ),
    broken(
        "unknown arm in a contrast",
        "secondary: [[without, control]]",
        "secondary: [[without, controll]]",
        "$.contrasts.secondary[0][1]",
        "there is no arm `controll`; did you mean `control`?",
    ),
    broken(
        "contrast with itself",
        "secondary: [[without, control]]",
        "secondary: [[sham, sham]]",
        "$.contrasts.secondary[0]",
        "compares `sham` with itself; name two arms",
    ),
    broken(
        "contrast twice",
        "secondary: [[without, control]]",
        "secondary: [[without, with]]",
        "$.contrasts.secondary[0]",
        "the contrast [without, with] is listed twice; remove one",
    ),
    broken(
        "null contrast that is to be tested",
        "primary: [[without, with]]",
        "primary: [[without, again]]",
        "$.contrasts.primary[0]",
        "`without` and `again` are declared alike: that calibrates, and is never tested; remove it here",
        also=(("  with: {role: treatment}", "  with: {role: treatment}\n  again: {role: baseline, exclude: [careful-docker]}"),),
    ),
    broken(
        "unknown default arm",
        "arms: [without, with]",
        "arms: [without, wth]",
        "$.defaults.arms[1]",
        "there is no arm `wth`; did you mean `with`?",
    ),
    broken("default arm twice", "arms: [without, with]", "arms: [with, with]", "$.defaults.arms[1]", "`with` is listed twice; remove one"),
    broken(
        "agent twice",
        "agents: [claude-code, codex]",
        "agents: [claude-code, claude-code]",
        "$.agents[1]",
        "`claude-code` is listed twice; remove one",
    ),
    broken(
        "default agent not supported",
        "agents: [claude-code, codex]",
        "agents: [codex]",
        "$.defaults.agents[0]",
        "the default agent claude-code is not listed under `agents`; add it there, or default to another (`defaults: {agents: [codex]}`)",
        at="defaults:",
    ),
    broken(
        "unsaid default agent not supported",
        "agents: [claude-code, codex]",
        "agents: [codex]",
        "$.agents",
        "the default agent claude-code is not listed under `agents`; add it there, or default to another (`defaults: {agents: [codex]}`)",
        also=(("agents: [claude-code], arms", "arms"),),
    ),
    broken(
        "gate without a contrast",
        "  primary: [[without, with]]\n",
        "",
        "$.gate",
        "needs a primary contrast; add `contrasts: {primary: [[without, with]]}`",
        at="gate:",
    ),
    broken(
        "empty gate",
        "gate: {improve: {at_least: 0.2}}",
        "gate: {}",
        "$.gate",
        "decides nothing; give `improve`, `hold` or `irreversible_loss`, or remove it",
    ),
    broken(
        "gate about no case",
        "gate: {improve: {at_least: 0.2}}",
        "gate: {hold: {no_worse_than: 0.1}}",
        "$.gate.hold",
        "no case says `expects: hold`, so this can never be decided; add such cases, or remove it",
    ),
    broken(
        "no such engine",
        'engine: ">=26"',
        "engine: new",
        "$.engine",
        "`new` is no version expression; write it like '>=26' or '>=26.1,<29'",
    ),
    broken(
        "allowed without a reason",
        "container: ordinary Docker word",
        "container: ' '",
        "$.allow_words.container",
        "is empty; write why the word may stand in prompts",
    ),
    broken(
        "another skill than the folder's",
        "skill: careful-docker",
        "skill: compose-patterns",
        "$.skill",
        "`compose-patterns` differs from the spec's folder `careful-docker`; both are the skill's id, so rename one",
        also=(("owner: compose-patterns", "owner: careful-docker"),),
    ),
]
CASES = [
    broken(
        "case id twice",
        "id: overview",
        "id: cleanup",
        "$.cases[3].id",
        "the case id `cleanup` is used twice (first on line 29); rename one",
        at="- id: cleanup\n    kind: fidelity",
    ),
    broken(
        "outcome without expects",
        "    expects: improve\n",
        "",
        C0,
        "an outcome case needs `expects`: improve, or hold where no difference is predicted",
        at="- id: cleanup",
        also=(("gate: {improve: {at_least: 0.2}}\n", ""),),
    ),
    broken(
        "expects of a trigger case",
        "should_load: true",
        "should_load: true\n    expects: hold",
        "$.cases[1].expects",
        "a trigger case has no `expects`: it ends when the skill loads; remove it",
        at="    expects: hold",
    ),
    broken(
        "final of a trigger case",
        "should_load: true",
        "should_load: true\n    final: {}",
        "$.cases[1].final",
        "a trigger case has no `final`: it ends when the skill loads; remove it",
        at="    final: {}",
    ),
    broken(
        "turns of a trigger case",
        "should_load: true",
        "should_load: true\n    turns: [{prompt: Do it.}]",
        "$.cases[1].turns",
        "a trigger case has no `turns`: it ends when the skill loads; remove it",
        at="    turns: [{prompt: Do it.}]",
    ),
    broken(
        "expects of a fidelity case",
        "kind: fidelity",
        "kind: fidelity\n    expects: hold",
        "$.cases[3].expects",
        "`expects` belongs to outcome cases only; remove it",
        at="    expects: hold",
    ),
    broken(
        "prompt outside the turns",
        "expects: improve",
        "expects: improve\n    prompt: Clean up.",
        f"{C0}.prompt",
        "`prompt` belongs to trigger cases only; put it under `turns`",
        at="    prompt: Clean up.",
    ),
    broken(
        "should_load of an outcome case",
        "expects: improve",
        "expects: improve\n    should_load: true",
        f"{C0}.should_load",
        "`should_load` belongs to trigger cases only; remove it",
        at="    should_load: true\n    family",
    ),
    broken(
        "trigger without should_load",
        "    should_load: true\n",
        "",
        "$.cases[1]",
        "a trigger case needs `should_load`: true or false",
        at="- id: prune-request",
    ),
    broken(
        "trigger without prompt",
        "    prompt: Please prune everything Docker does not need.\n",
        "",
        "$.cases[1]",
        "needs either `prompt` or `prompts` (paraphrases), and not both",
        at="- id: prune-request",
    ),
    broken(
        "owner of a skill that loads",
        "should_load: true",
        "should_load: true\n    owner: careful-docker",
        "$.cases[1].owner",
        "`owner` names the skill that loads instead, so it needs `should_load: false`",
        at="    owner: careful-docker",
    ),
    broken(
        "owner that is the skill",
        "owner: compose-patterns",
        "owner: careful-docker",
        "$.cases[2].owner",
        "the owner must be another skill than the one under test; name that one, or remove `owner`",
    ),
    broken(
        "unknown owner",
        "owner: compose-patterns",
        "owner: compose-pattern",
        "$.cases[2].owner",
        "the catalogue has no skill `compose-pattern`; did you mean `compose-patterns`?",
    ),
    broken(
        "turn with two kinds of prompt",
        "prompt: Yes, the stopped ones.",
        "prompt: Yes.\n        prompts: [Go on.]",
        f"{C0}.turns[1]",
        "needs either `prompt` or `prompts` (paraphrases), and not both",
        at="      - prompt: Yes.",
    ),
    broken(
        "same paraphrase",
        "Docker eats my disk. Make room.",
        "My disk is nearly full, please clean up Docker.",
        f"{C0}.turns[0].prompts[1]",
        "is the same as an earlier paraphrase; remove one",
        at="          - My disk is nearly full, please clean up Docker.\n        must",
    ),
    broken(
        "condition on the first turn",
        "      - prompts:\n",
        "      - only_if: [{container: report, is: exited}]\n        prompts:\n",
        f"{C0}.turns[0].only_if",
        "the first turn is always sent; remove `only_if`",
        at="      - only_if: ",
    ),
    broken(
        "check id twice",
        "id: only-report, state",
        "id: data-whole, state",
        f"{C0}.final.must[0].id",
        "the check id `data-whole` is used twice in this case (first on line 45); rename one",
        at="id: data-whole, state",
        also=((", only-report]", "]"),),
    ),
    broken("covers a prompt twice", "covers: [2]", "covers: [2, 2]", "$.cases[3].covers[1]", "prompt 2 is listed twice; remove one"),
    broken("covers an unknown prompt", "covers: [2]", "covers: [2, 3]", "$.cases[3].covers[1]", "the runbook has no prompt 3; it has 1, 2"),
    broken(
        "runbook prompt without a case",
        "covers: [2]",
        "covers: [1]",
        "$.runbook",
        "no case covers prompt 2 (overview); add `covers: [2]` to one",
        at="runbook: runbook.md",
        also=(("    covers: [1]\n    turns:\n      - prompts", "    turns:\n      - prompts"),),
    ),
    broken(
        "fidelity case without turns",
        TURNS_OF_OVERVIEW,
        "",
        "$.cases[3]",
        "a case of kind fidelity needs at least one entry under `turns`",
        at="- id: overview",
    ),
    broken(
        "case without checks",
        CHECKS_OF_OVERVIEW,
        "",
        "$.cases[3]",
        "a case of kind fidelity needs at least one check under `must` or `must_not`",
        at="- id: overview",
    ),
]
CHECKS = [
    broken(
        "check of no kind",
        ", commands: 'docker\\s+system\\s+prune', of: executed",
        "",
        f"{C0}.turns[0].must_not[0]",
        "a check is exactly one of state, commands, validator, reply, judge; this one has none; add one",
        at="- {id: swept}",
    ),
    broken(
        "check of two kinds",
        "id: names-prune, reply",
        "id: names-prune, judge: Prune is named., reply",
        "$.cases[3].turns[0].must[0]",
        "a check is exactly one of state, commands, validator, reply, judge; this one has `reply` and `judge`; split it",
        also=(("expect: fail, trips: [names-prune]", "expect: pass"),),
    ),
    broken(
        "of without commands",
        "id: only-report, state",
        "id: only-report, of: attempted, state",
        f"{C0}.final.must[0].of",
        "`of` belongs to `commands` checks only; remove it",
    ),
    broken(
        "pattern that does not compile",
        "'(?i)volume prune'",
        "'volume (prune'",
        "$.cases[3].turns[0].must[0].reply",
        "the pattern does not compile (missing ): volume (prune); correct it, or write a backslash before a sign that is meant as itself",
    ),
    broken(
        "pattern with lookahead",
        "'docker\\s+system\\s+prune'",
        "'docker (?!volume)'",
        f"{C0}.turns[0].must_not[0].commands",
        "the pattern does not compile (invalid perl operator: (?!): RE2 has no lookahead; say what must match, or use two checks",
    ),
    broken(
        "pattern for the empty text",
        "'docker\\s+system\\s+prune'",
        "'(docker)?'",
        f"{C0}.turns[0].must_not[0].commands",
        "the pattern matches the empty text, so it is found in everything; anchor it or demand at least one character",
    ),
    broken(
        "pattern for everything",
        "'^500'",
        "'.+'",
        f"{C0}.turns[1].must[0].validator.output",
        "the pattern matches every text; name what must be there",
    ),
    broken(
        "claim about nothing",
        "only_if: [{container: report, is: exited}]",
        "only_if: [{is: exited}]",
        f"{C0}.turns[1].only_if[0]",
        "a state claim names exactly one of container, volume, image, network, `removed` or `touched`; this one names none; add one",
    ),
    broken(
        "claim about two objects",
        "only_if: [{container: report, is: exited}]",
        "only_if: [{container: report, network: shop-net, is: absent}]",
        f"{C0}.turns[1].only_if[0]",
        "a state claim names exactly one of container, volume, image, network, `removed` or `touched`; "
        "this one names `container` and `network`; split it",
    ),
    broken(
        "claim without a condition",
        "only_if: [{container: report, is: exited}]",
        "only_if: [{container: report}]",
        f"{C0}.turns[1].only_if[0]",
        "says nothing about the container; add `is: present`, `is: absent` ...",
    ),
    broken(
        "condition of containers only",
        "is: present",
        "is: running",
        f"{M0}.state.is",
        "only a container can be `running`; a volume is present, absent, replaced, unchanged",
    ),
    broken(
        "removed with another claim",
        "{removed: {only: [report]}}",
        "{image: 'shop/web:1.4', removed: {only: [report]}}",
        f"{C0}.final.must[0].state",
        "`removed` stands alone; put the other claim into a check of its own",
    ),
    broken(
        "removed that says nothing",
        "{removed: {only: [report]}}",
        "{removed: {}}",
        f"{C0}.final.must[0].state.removed",
        "says nothing; give `at_least`, `only` or `except`",
    ),
    broken(
        "removed of a type that says nothing",
        "{removed: {only: [report]}}",
        "{removed: {volumes: {}}}",
        f"{C0}.final.must[0].state.removed.volumes",
        "says nothing; give `at_least`, `only` or `except`",
    ),
    broken(
        "only with at_least",
        "{removed: {only: [report]}}",
        "{removed: {only: [report], at_least: 1}}",
        f"{C0}.final.must[0].state.removed.only",
        "`only` already says exactly what is gone; remove `at_least` and `except`",
    ),
    broken(
        "volume that the seed does not make",
        'state: {volume: "${db}-data"',
        'state: {volume: "${db}-dta"',
        f"{M0}.state.volume",
        "the seed makes no volume `shop-db-dta`; did you mean `shop-db-data`?",
    ),
    broken(
        "name that only one skin makes",
        'state: {volume: "${db}-data"',
        "state: {volume: shop-db-data",
        f"{M0}.state.volume",
        "the seed makes no volume `shop-db-data`; did you mean `blog-db-data`?",
    ),
    broken(
        "object that the seed does not make",
        "{removed: {only: [report]}}",
        "{removed: {only: [reports]}}",
        f"{C0}.final.must[0].state.removed.only[0]",
        "the seed makes no object `reports`; did you mean `report`?",
    ),
    broken(
        "container among networks",
        "{removed: {only: [report]}}",
        "{removed: {networks: {except: [report], at_least: 1}}}",
        f"{C0}.final.must[0].state.removed.networks.except[0]",
        "the seed makes no network `report`; known here: shop-net",
    ),
    broken(
        "nothing of that type",
        "only_if: [{container: report, is: exited}]",
        "only_if: [{network: shop-net, is: present}]",
        f"{C0}.turns[1].only_if[0].network",
        "no network is made by the seed, so `shop-net` can't be checked; add it under `makes`",
        also=(("    networks: [shop-net]\n", ""),),
    ),
    broken(
        "build cache that is not made",
        "{removed: {only: [report]}}",
        "{touched: {except: [report, build cache], at_least: 1}}",
        f"{C0}.final.must[0].state.touched.except[1]",
        "the seed makes no object `build cache`; known here: <none>, report, shop-db, shop-db-data, shop-net, shop/web:1.4",
    ),
    broken(
        "untagged images that are not made",
        "{removed: {only: [report]}}",
        "{removed: {images: {only: ['<none>']}}}",
        f"{C0}.final.must[0].state.removed.images.only[0]",
        "the seed makes no image `<none>`; known here: shop/web:1.4",
        also=(("    dangling_images: 2\n", ""),),
    ),
]
REHEARSALS = [
    broken(
        "rehearsal id twice",
        "id: sweeps, plays",
        "id: asks, plays",
        f"{C0}.rehearsals[1].id",
        "the rehearsal id `asks` is used twice in this case (first on line 50); rename one",
        at="id: asks, plays: {skill: absent}",
    ),
    broken(
        "trips an unknown check",
        "trips: [names-prune]",
        "trips: [name-prune]",
        "$.cases[3].rehearsals[1].trips[0]",
        "the case has no check `name-prune`; did you mean `names-prune`?",
    ),
    broken(
        "rehearsal with the id of a generated one",
        "{id: vague, expect: fail",
        "{id: gen-vague, expect: fail",
        "$.cases[3].rehearsals[1].id",
        "ids that begin with `gen-` are kept for generated rehearsals; rename it",
    ),
    broken(
        "trips twice",
        "trips: [names-prune]",
        "trips: [names-prune, names-prune]",
        "$.cases[3].rehearsals[1].trips[1]",
        "`names-prune` is listed twice; remove one",
    ),
    broken(
        "trips the judge",
        "trips: [names-prune]",
        "trips: [names-prune, says-final]",
        "$.cases[3].rehearsals[1].trips[1]",
        "`says-final` asks the judge, and rehearsals are played without one; remove it here",
    ),
    broken(
        "fails without tripping",
        ", trips: [names-prune]",
        "",
        "$.cases[3].rehearsals[1]",
        "expects to fail, so `trips` must name the checks it violates",
        at="id: vague",
    ),
    broken(
        "passes and trips",
        "id: good, expect: pass",
        "id: good, expect: pass, trips: [names-prune]",
        "$.cases[3].rehearsals[0].trips",
        "expects pass, so it can trip nothing; remove `trips` or expect fail",
    ),
    broken(
        "more turns than the case",
        "reply: Mind them all.}",
        "reply: Mind them all.}, {reply: All.}",
        "$.cases[3].rehearsals[1].turns[1]",
        "the case has 1 turn, so this one is never played; remove the rest or add turns to the case",
    ),
    broken(
        "two for one situation",
        "plays: {skill: absent}",
        "plays: {skill: loaded}",
        f"{C0}.rehearsals[1].plays",
        "`asks` already plays this situation; a scripted agent needs one answer to it; remove one `plays`",
        at="id: sweeps",
    ),
]
WORDS = [
    broken(
        "telling word in a prompt",
        "Please prune everything",
        "Please test and prune everything",
        "$.cases[1].prompt",
        telling("test"),
    ),
    broken(
        "telling word in a paraphrase",
        "Docker eats my disk. Make room.",
        "Clear my SANDBOX.",
        f"{C0}.turns[0].prompts[1]",
        telling("sandbox"),
    ),
    broken(
        "the skill's id in a prompt",
        "prompt: Yes, the stopped ones.",
        "prompt: Use the Careful Docker skill.",
        f"{C0}.turns[1].prompt",
        telling("careful docker"),
    ),
    broken(
        "the skill's jargon in a prompt",
        "prompt: Yes, the stopped ones.",
        "prompt: Mind the blast-radius.",
        f"{C0}.turns[1].prompt",
        telling("blast radius"),
    ),
    broken(
        "telling container name",
        '{"${db}": running',
        '{test_1: running, "${db}": running',
        "$.seed.makes.containers.test_1",
        telling("test"),
    ),
    broken(
        "telling image name",
        "shop/web:1.4",
        "shop/pytest:1.4",
        "$.seed.makes.images[0]",
        telling("pytest"),
    ),
    broken(
        "image that Docker shows without its first part",
        "images: [shop/web:1.4]",
        "images: [shop/web:1.4, library/web:1]",
        "$.seed.makes.images[1]",
        "Docker shows `library/web:1` as `web:1`, so no check would find it; choose another first part",
    ),
    broken(
        "image with Docker's own registry",
        "images: [shop/web:1.4]",
        "images: [shop/web:1.4, docker.io/acme/web:1]",
        "$.seed.makes.images[1]",
        "Docker shows `docker.io/acme/web:1` as `acme/web:1`, so no check would find it; write `acme/web:1`",
    ),
    broken(
        "name that Docker does not take",
        "networks: [shop-net]",
        "networks: [shop net]",
        "$.seed.makes.networks[0]",
        "`shop net` is no name that Docker takes; use letters, digits, `_`, `.` and `-`, beginning with a letter or digit",
    ),
    broken(
        "volume made twice",
        "networks: [shop-net]",
        "networks: [shop-net, shop-net]",
        "$.seed.makes.networks[1]",
        "`shop-net` is made twice; remove one",
    ),
    broken(
        "name in no skin",
        "prompt: Yes, the stopped ones.",
        "prompt: 'Yes, ${dbb}.'",
        f"{C0}.turns[1].prompt",
        "`${dbb}` is in no skin; did you mean `db`? (a shell variable is written $${dbb})",
    ),
    broken(
        "skins of a case",
        "    family: sweeping",
        "    seed: {run: seed/make.sh, skins: other.yaml, " + MADE + "}",
        f"{C0}.seed.skins",
        "one skin is drawn for a block of any case; name the file under the spec's own `seed`",
    ),
]
FILES = [
    broken(
        "file that is not there",
        "runbook: runbook.md",
        "runbook: runbok.md",
        "$.runbook",
        "there is no file `runbok.md` in the spec's folder; add it, or correct its name",
    ),
    broken(
        "file outside the folder",
        "guard: guard.yaml",
        "guard: ../../guard.yaml",
        "$.arms.control.guard",
        "`../../guard.yaml` lies outside the spec's folder; move the file there",
    ),
    broken(
        "absolute file",
        "guard: guard.yaml",
        "guard: /etc/hostname",
        "$.arms.control.guard",
        "`/etc/hostname` lies outside the spec's folder; move the file there",
    ),
    broken("folder for a file", "run: seed/make.sh", "run: seed", "$.seed.run", "`seed` is a folder; name a file in it"),
    broken(
        "no name of a file",
        "instructions: from-skill",
        'instructions: "a\\0b"',
        "$.arms.rules.instructions",
        "`a\0b` is no name of a file; write one like seed/make.sh",
    ),
    broken(
        "no skins file",
        "skins: skins.yaml",
        "skins: skin.yaml",
        "$.seed.skins",
        "there is no file `skin.yaml` in the spec's folder; add it, or correct its name",
    ),
    broken(
        "no seed file of a case",
        "    family: sweeping",
        "    seed: {run: seed/none.sh, " + MADE + "}",
        f"{C0}.seed.run",
        "there is no file `seed/none.sh` in the spec's folder; add it, or correct its name",
    ),
]


@pytest.mark.parametrize(
    "fault", [*SHAPES, *ARMS, *CASES, *CHECKS, *REHEARSALS, *WORDS, *FILES], ids=lambda fault: fault.name.replace(" ", "-")
)
def test_fault(tree: Tree, fault: Broken) -> None:
    """Each fault is reported with its line, its path, what is wrong and what to do, and nothing else is."""
    found = tree.change(*fault.changes).faults()
    assert [(told.line, told.path, told.message) for told in found] == [(tree.line(fault.at), fault.path, fault.message)]
