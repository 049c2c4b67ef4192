"""First requests in the shapes of both CLIs, small enough to read: what an arm shows besides what it always shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_skilleval.core.arm_equality import Side
from pytest_skilleval.core.arms import installed_skills
from pytest_skilleval.core.declared import declared
from pytest_skilleval.core.loaded import Skill
from pytest_skilleval.core.model_requests import SKILLS_OF_CLAUDE, Body
from pytest_skilleval.core.spec import Arm

AGENTS = ("claude-code", "codex")
SESSIONS = ("01a229d8-5656-76b0-bd62-794992054ef2", "11111111-2222-3333-4444-555555555555")


def skill(name: str, description: str, body: str = "Body.\n") -> Skill:
    """A skill of one file."""
    text = f"---\nname: {name}\ndescription: {description}\n---\n{body}".encode()
    return Skill(id=name, name=name, description=description, body=body, files={"SKILL.md": (0o644, text)})


CATALOGUE = {one.id: one for one in (skill("alike", "Much like it."), skill("careful", "Ask first.\nAlways."), skill("zeal", "Go on."))}
RULES = "# Rules\n\nAsk first.\n"
ARMS = {
    "without": Arm(role="baseline", exclude=("careful",)),
    "with": Arm(role="treatment"),
    "rules": Arm(role="reference", exclude=("careful",), instructions="from-skill"),
    "control": Arm(role="reference", exclude=("careful",), guard="guard.yaml"),
    "sham": Arm.model_validate({"role": "reference", "sham": {"description": "neutral", "body": "inert"}}),
    "bare": Arm(role="reference", exclude="all"),
    "prompted": Arm(role="reference", permissions="default"),
}


def side(agent: str, arm: str, *, catalogue: Mapping[str, Skill] = CATALOGUE, shown: Mapping[str, str] | None = None, **more: Any) -> Side:
    """A run of an arm as it should be; `shown` replaces descriptions as the agent shows them, `more` goes to the shape."""
    installed = installed_skills(ARMS[arm], "careful", catalogue)
    said = {one.name: one.description for one in installed.values()} | dict(shown or {})
    rules = RULES if ARMS[arm].instructions else ""
    body = {"claude-code": claude, "codex": codex}[agent](said, rules, permissions=ARMS[arm].permissions, **more)
    return Side(run_id=f"case.{arm}", arm=arm, declared=declared(ARMS[arm], "careful", installed, rules.encode()), body=body)


def claude(
    said: Mapping[str, str], rules: str, *, permissions: str, session: int = 0, stock: str = "", tools: tuple[str, ...] = ()
) -> Body:
    """A request of Claude Code; it says nothing of permissions."""
    del permissions
    entries = "\n".join(f"- {name}: {text}" if text else f"- {name}" for name, text in {**said, "verify": "Looks again."}.items())
    instructions = (
        f"# claudeMd\nCodebase and user instructions are shown below. Adhere.\n\n"
        f"Contents of /home/agent/.claude/CLAUDE.md (user's private global instructions for all projects):\n\n{stock}{rules}"
        if stock or rules
        else ""
    )
    return {
        "model": "m",
        "metadata": {"user_id": f"session_{SESSIONS[session]}"},
        "system": [{"type": "text", "text": "You are an agent."}],
        "tools": [{"name": name} for name in ("Bash", "Skill", *tools)],
        "messages": [
            {
                "role": "user",
                "content": [
                    {
                        "type": "text",
                        "text": "<system-reminder>\nAs you answer the user's questions, you can use the following context:\n"
                        f"{instructions}\n# currentDate\nToday's date is 2026-11-{10 + session}.\n</system-reminder>\n",
                    },
                    {"type": "text", "text": "Tidy up."},
                ],
            },
            {"role": "system", "content": f"Agents:\n- Explore: reads\n\n{SKILLS_OF_CLAUDE}\n\n{entries}"},
        ],
    }


def codex(said: Mapping[str, str], rules: str, *, permissions: str, session: int = 0, stock: str = "", tools: tuple[str, ...] = ()) -> Body:
    """A request of Codex: skill roots are numbered anew in each, instructions are an item of their own, permissions are told."""
    own = f"r{min(1, len(said))}"
    roots = [*(["- `r0` = `/home/agent/.agents/skills`"] if said else []), f"- `{own}` = `/home/agent/.codex/skills/.system`"]
    entries = [
        f"- imagegen: Draws. (file: {own}/imagegen/SKILL.md)",
        *(f"- {n}: {text} (file: r0/{n}/SKILL.md)" for n, text in said.items()),
    ]
    told = "`sandbox_mode` is `danger-full-access`" if permissions == "bypass" else "`sandbox_mode` is `workspace-write`"
    listing = "\n".join(["<skills_instructions>", "### Skill roots", *roots, "### Available skills", *entries, "</skills_instructions>"])
    texts = [listing, f"Filesystem sandboxing defines what is read. {told}."]
    texts += [f"# AGENTS.md instructions\n\n<INSTRUCTIONS>\n{stock}{rules}</INSTRUCTIONS>"] if stock or rules else []
    kinds = ["agents_md.instructions"] if stock or rules else []
    sandbox = "none" if permissions == "bypass" else "seccomp"
    return {
        "model": "m",
        "client_metadata": {"turn": f'{{"session_id":"{SESSIONS[session]}","sandbox":"{sandbox}","turn_started_at_unix_ms":{session}}}'},
        "tools": [{"type": "function", "name": "exec"}, *({"type": "function", "name": name} for name in tools)],
        "input": [
            {"role": "developer", "content": [{"type": "input_text", "text": text} for text in texts], "content_item_kinds": kinds},
            {"role": "user", "content": [{"type": "input_text", "text": "Tidy up."}]},
        ],
    }
