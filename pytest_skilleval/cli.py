"""The console script ``skilleval``: one parser, one function a command; each command's module is imported only when it runs."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import NoReturn

NAMES = ("report", "compare", "plan", "export", "schema", "doctor", "reap", "seed", "new", "selftest")
COMMANDS = {name: name for name in NAMES} | {"import": "import_"}
"""Command -> module of :mod:`pytest_skilleval.commands` with `HELP`, `arguments(parser)` and `run(options) -> int`."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code (4 for a request that can't be carried out, with the reason on stderr)."""
    from pytest_skilleval.core.errors import SkillEvalError

    options = parser().parse_args(arguments)
    try:
        return int(_module(options.command).run(options))
    except SkillEvalError as error:
        sys.stderr.write(f"skilleval {options.command}: {error}\n")
        return 4
    except BrokenPipeError:  # whoever read our output has seen enough; nothing may be flushed into it at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        where = f"{error.filename2 or error.filename}: " if error.filename else ""
        sys.stderr.write(f"skilleval {options.command}: {where}can't be read or written ({error.strerror}); mend that and call it again\n")
        return 4
    except KeyboardInterrupt:
        return 2


class Parser(argparse.ArgumentParser):
    """Ends with 4 for a command line that can't be meant, as an evaluation does."""

    def error(self, message: str) -> NoReturn:
        """Say how it is called and what is wrong."""
        self.print_usage(sys.stderr)
        self.exit(4, f"{self.prog}: {message}\n")


def parser() -> Parser:
    """The parser with all commands."""
    top = Parser(prog="skilleval", description="Prepare evaluations for pytest --skill-eval, and work with their results.")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in COMMANDS:
        module = _module(name)
        module.arguments(commands.add_parser(name, help=module.HELP, description=module.HELP))
    return top


def _module(command: str) -> ModuleType:
    return importlib.import_module(f"pytest_skilleval.commands.{COMMANDS[command]}")
