"""Which simple commands a shell line holds, whatever wraps them."""

from __future__ import annotations

from pytest_skilleval.core.shell.commands import Simple, simple_commands
from pytest_skilleval.core.shell.words import spread

__all__ = ["Simple", "simple_commands", "spread"]
