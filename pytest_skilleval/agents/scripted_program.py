"""The scripted agent itself: runs inside the sandbox on its Python alone, and is never imported by the plugin.

stdin: one JSON object ``{prompt, script}``; see :mod:`pytest_skilleval.agents.scripted` for the script.
stdout: one JSON object a line: ``session``, ``load``, ``calls`` and ``command`` (before and after one), ``message``, ``done``.
"""

from __future__ import annotations

import glob
import json
import os
import re
import subprocess
import sys
import time
import uuid
from typing import Any

HOME = os.path.expanduser("~")
STATE = os.path.join(HOME, ".agent")
LIMIT = 200_000  # characters of one command's output that are kept


def say(kind: str, **fields: object) -> None:
    """Write one event; a reader on the other side of the pipe sees it at once."""
    print(json.dumps({"type": kind, **fields}, ensure_ascii=False), flush=True)


def read(path: str) -> str:
    """Text of a file, or an empty one."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def skills(folder: str) -> dict[str, str]:
    """Name -> SKILL.md of every installed skill."""
    return {os.path.basename(os.path.dirname(path)): path for path in sorted(glob.glob(os.path.join(HOME, folder, "*", "SKILL.md")))}


def description(path: str) -> str:
    """The text of the front-matter: what a listing shows of a skill."""
    parts = read(path).split("---", 2)
    return parts[1].strip() if len(parts) == 3 else ""


def open_session(session_id: str | None) -> tuple[str, int]:
    """(id, turns already played); an unknown id is an error, as with any agent CLI."""
    if session_id is None:
        return str(uuid.uuid4()), 0
    path = os.path.join(STATE, "sessions", session_id + ".jsonl")
    if not os.path.exists(path):
        sys.exit("no session " + session_id)
    return session_id, len(read(path).splitlines())


def remember(session_id: str, entry: dict[str, object]) -> None:
    """Append this turn to the session's own record."""
    folder = os.path.join(STATE, "sessions")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, session_id + ".jsonl"), "a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


def situation(script: dict[str, Any], installed: dict[str, str]) -> dict[str, bool]:
    """What this agent is shown: the skill (or its text as instructions), and a guard."""
    told = bool(read(os.path.join(STATE, "AGENTS.md")).strip())
    return {"loaded": script["skill"] in installed or told, "guard": bool(denied_prefixes())}


def denied_prefixes() -> list[str]:
    """Command prefixes that this agent's permission rules forbid."""
    text = read(os.path.join(STATE, "permissions.json"))
    return list(json.loads(text)["deny"]) if text else []


def choose(script: dict[str, Any], seen: dict[str, bool]) -> dict[str, Any] | None:
    """The rehearsal for this situation: the forced one, else the best match, else None."""
    rehearsals: list[dict[str, Any]] = script["rehearsals"]
    if script.get("force"):
        return next(r for r in rehearsals if r["id"] == script["force"])
    wanted = "loaded" if seen["loaded"] else "absent"
    matches = [r for r in rehearsals if r["plays"] and r["plays"]["skill"] in (None, wanted)]
    matches.sort(key=lambda r: (r["plays"]["guard"] != seen["guard"], r["plays"]["skill"] is None))
    return next((r for r in matches if not r["plays"]["guard"] or seen["guard"]), None)


def forbidden(line: str, prefixes: list[str]) -> str | None:
    """The rule that forbids `line`, if any: its words stand one after the other at the start of a simple command."""
    for piece in re.split(r"[;&|\n]+", line):
        words = piece.split()
        for rule in prefixes:
            if words[: len(rule.split())] == rule.split():
                return rule
    return None


def run(number: int, line: str, deny: list[str]) -> int:
    """Run one shell command for real, or refuse it; returns the characters it printed."""
    call = "c%d" % number
    rule = forbidden(line, deny)
    if rule:
        say("command", id=call, line=line, denied=True, output="Permission to run %r has been denied." % rule)
        return 0
    say("calls", id=call, line=line)
    start = time.time()
    done = subprocess.run(["bash", "-c", line], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    output = done.stdout.decode("utf-8", "replace")[:LIMIT]
    say("command", id=call, line=line, denied=False, exit=done.returncode, output=output, seconds=round(time.time() - start, 3))
    return len(output)


def load(name: str, installed: dict[str, str]) -> int:
    """Read a skill as any agent would; returns the characters read."""
    path = installed.get(name)
    body = read(path) if path else ""
    say("load", skill=name, path=path, ok=bool(body))
    return len(body)


def main() -> None:
    request = json.load(sys.stdin)
    script = request["script"]
    session_id, played = open_session(script.get("session"))
    installed = skills(script["folder"])
    say("session", session=session_id, model=script["model"], cwd=os.getcwd(), skills=sorted(installed))
    rehearsal = choose(script, situation(script, installed))
    turns = rehearsal["turns"] if rehearsal else []
    turn: dict[str, Any] = turns[played] if played < len(turns) else {"load": False, "run": [], "reply": "There is nothing more to do."}
    read_characters = sum(len(description(path)) for path in installed.values()) + len(read(os.path.join(STATE, "AGENTS.md")))
    if turn["load"] or (played == 0 and script["loads"] and script["skill"] in installed):
        read_characters += load(script["skill"], installed)
    for name in script.get("also", []) if played == 0 else []:
        read_characters += load(name, installed)
    deny = denied_prefixes()
    for number, line in enumerate(turn["run"], start=1):
        read_characters += run(number, line, deny)
    if turn["reply"]:
        say("message", text=turn["reply"])
    remember(session_id, {"prompt": request["prompt"], "rehearsal": rehearsal and rehearsal["id"], "reply": turn["reply"]})
    # A fixed rule, so that costs can be followed by hand: four characters are one token.
    usage = {"input": (len(request["prompt"]) + read_characters) // 4, "output": (len(turn["reply"]) + sum(map(len, turn["run"]))) // 4}
    say("done", session=session_id, reply=turn["reply"], usage=usage, rehearsal=rehearsal and rehearsal["id"])


main()
