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

FIND = r"""
{
  for path; do
    shift
    if [ -d "$path" ]; then set -- "$@" "$path"; elif [ -f "$path" ]; then printf '%s\0' "$path"; fi
  done
  [ $# = 0 ] || find -L "$@" -maxdepth 6 -name .system -prune -o -type f \( -iname SKILL.md \
    -o -path '*/.claude/commands/*.md' -o -path '*/.claude/agents/*.md' -o -path '*/.claude/rules/*.md' \) -print0
} | sort -zu | xargs -0 -r sha256sum -z --
"""


def inventory(sandbox: Sandbox, installed: Iterable[str]) -> dict[str, str]:
    """Path -> digest of everything in reach of the workspace that some agent would show its model, and of the `installed` files there.

    All agents' folders are searched, since agents read each other's. Skills that a CLI brings itself (``.system``) are its own,
    the same in every arm, and left out.
    """
    folders = [folder for folder in _upwards(sandbox.workspace) if folder != PurePosixPath(sandbox.home)]
    files = [
        *(folder / name for folder in folders for name in FILES_IN_PROJECT),
        *(name.replace("~", sandbox.home) for name in OTHER_FILES),
    ]
    roots = [
        *(f"{sandbox.home}/{name}" for name in AT_HOME),
        *(str(folder / name) for folder in folders for name in IN_PROJECT),
        *ON_MACHINE,
    ]
    command = Command(argv=("sh", "-c", FIND, "sh", *map(str, (*roots, *files, *installed))), user="root")
    result = sandbox.exec(command, timeout=60)
    if result.exit_code != 0:
        raise SandboxError(f"the skill folders can't be listed: {result.stderr.decode(errors='replace').strip()}")
    lines = result.stdout.decode("utf-8", "surrogateescape").split("\0")
    return {line[66:]: line[:64] for line in lines if line}


def _upwards(folder: str) -> Iterator[PurePosixPath]:
    yield PurePosixPath(folder)
    yield from PurePosixPath(folder).parents
