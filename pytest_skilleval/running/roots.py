"""Where agents look for skills, instructions and settings, and what lies there inside a sandbox."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from pytest_skilleval.core.errors import SandboxError
from pytest_skilleval.core.ports import Command, Sandbox

AT_HOME = (
    ".claude/skills",
    ".codex/skills",
    ".agents/skills",
    ".copilot/skills",
    ".cursor/skills",
    ".gemini/skills",
    ".config/opencode/skills",
    ".claude/commands",
    ".claude/agents",
    ".claude/rules",
)
"""Every folder in which some agent looks for skills, and those whose Markdown files are listed beside them or shown whole."""

IN_PROJECT = (
    ".claude/skills",
    ".agents/skills",
    ".codex/skills",
    ".cursor/skills",
    ".gemini/skills",
    ".github/skills",
    ".opencode/skills",
    ".claude/commands",
    ".claude/agents",
    ".claude/rules",
)
"""The same in the workspace, and in all folders above it."""

ON_MACHINE = ("/etc/codex/skills", "/etc/claude-code")

FILES_IN_PROJECT = (
    "CLAUDE.md",
    "CLAUDE.local.md",
    "AGENTS.md",
    "AGENTS.override.md",
    "GEMINI.md",
    ".mcp.json",
    ".claude/CLAUDE.md",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".codex/config.toml",
)
"""Files that an agent takes for instructions, servers, hooks or permissions in the workspace or above it."""

OTHER_FILES = ("~/.codex/AGENTS.override.md", "/etc/claude-code/CLAUDE.md")

SETTINGS = (
    "~/.claude/settings.json",
    "~/.claude/settings.local.json",
    "~/.codex/config.toml",
    "~/.codex/hooks.json",
    "~/.codex/managed_config.toml",
    "~/.codex/rules",
    "/etc/claude-code/managed-settings.json",
    "/etc/claude-code/managed-settings.d",
    "/etc/claude-code/managed-mcp.json",
    "/etc/codex/config.toml",
    "/etc/codex/managed_config.toml",
    "/etc/codex/requirements.toml",
)
"""Hooks, servers and permissions of the user and of the machine. Only looked at before the first turn: CLIs write here themselves."""

NESTED = ("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "AGENTS.override.md", "GEMINI.md")
"""Instructions that agents also heed in folders below the workspace, once they work there.

Only looked at before the first turn, and so are skills there: what an agent installs may bring some along.
"""

FIND = r"""
{
  below=$1
  shift
  [ -z "$below" ] || find "$below" \( -name .git -o -name .system \) -prune \
    -o -xtype f \( NESTED -o -regex '.*/\.[^/]+/skills/.+/SKILL\.md' \) -print0
  for path; do
    shift
    if [ -d "$path" ]; then set -- "$@" "$path"; elif [ -f "$path" ]; then printf '%s\0' "$path"; fi
  done
  [ $# = 0 ] || find -L "$@" -maxdepth 6 -name .system -prune -o -type f \( -iname SKILL.md \
    -o -path '*/.claude/commands/*.md' -o -path '*/.claude/agents/*.md' -o -path '*/.claude/rules/*.md' \
    -o -path '*/.codex/rules/*.rules' -o -path '*/managed-settings.d/*.json' \) -print0
} | xargs -0 -r sha256sum -z --
""".replace("NESTED", " -o ".join(f"-name {name}" for name in NESTED))


def inventory(sandbox: Sandbox, installed: Iterable[str], *, untouched: bool) -> dict[str, str]:
    """Path -> digest of everything in reach of the workspace that some agent would show its model, and of the `installed` files there.

    All agents' folders are searched, since agents read each other's. Skills that a CLI brings itself (``.system``) are its own,
    the same in every arm, and left out. While the agent has not begun (`untouched`) that is also everything below the
    workspace, and all settings.
    """
    folders = [folder for folder in _upwards(sandbox.workspace) if folder != PurePosixPath(sandbox.home)]
    files = [
        *(folder / name for folder in folders for name in FILES_IN_PROJECT),
        *(name.replace("~", sandbox.home) for name in (*OTHER_FILES, *(SETTINGS if untouched else ()))),
    ]
    roots = [
        *(f"{sandbox.home}/{name}" for name in AT_HOME),
        *(str(folder / name) for folder in folders for name in IN_PROJECT),
        *ON_MACHINE,
    ]
    command = Command(
        argv=("sh", "-c", FIND, "sh", sandbox.workspace if untouched else "", *map(str, (*roots, *files, *installed))), user="root"
    )
    result = sandbox.exec(command, timeout=60)
    if result.exit_code != 0:
        raise SandboxError(f"the skill folders can't be listed: {result.stderr.decode(errors='replace').strip()}")
    lines = result.stdout.decode("utf-8", "surrogateescape").split("\0")
    return {line[66:]: line[:64] for line in lines if line}


def _upwards(folder: str) -> Iterator[PurePosixPath]:
    yield PurePosixPath(folder)
    yield from PurePosixPath(folder).parents
