"""Every error this project raises on purpose, split by whose fault it is.

::

    SkillEvalError
      UsageProblem        the command line asks for something that can't be done (exit 4)
      SpecError           a spec is wrong; carries every fault at once
      ArchiveError        recorded results can't be read (damaged, or newer than this version)
      RunError            one run could not be measured; `blame` says whose fault it is
        SandboxError        blame "sandbox"
          NothingThere      a path that was asked for is not there
        SeedError           blame "seed"
        AgentApiError       blame "agent_api"
            AgentApiRefusal another try gets the same answer
        AgentCrash          blame "agent_crash"
        IdleTimeout         blame "timeout_idle"
        ArmError            blame "arm" (the run is void)
          ArmSpoiled        the agent did it
        HarnessError        blame "harness"
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


class SkillEvalError(Exception):
    """Root of all errors raised on purpose; ``str()`` is a sentence for the user."""


class UsageProblem(SkillEvalError):
    """The request itself can't be carried out; the text says what to do instead."""


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """One fault of a spec: where it is, what is wrong and what to do about it."""

    file: str
    line: int
    path: str
    message: str

    def __str__(self) -> str:
        where = f" @ {self.path}" if self.path else ""
        return f"{self.file}:{self.line}: {self.message}{where}"


class SpecError(SkillEvalError):
    """A spec (or skill, runbook, guard, skins file) is wrong; `faults` holds all of them."""

    def __init__(self, faults: tuple[Fault, ...]) -> None:
        self.faults = tuple(sorted(faults))
        super().__init__("\n".join(str(fault) for fault in self.faults))


class ArchiveError(SkillEvalError):
    """Recorded results can't be read; the text names the file and what to do."""


class RunError(SkillEvalError):
    """One run could not be measured. Never the agent's failure; never hidden."""

    blame: ClassVar[str] = "harness"


class SandboxError(RunError):
    """The sandbox could not be made, or was lost."""

    blame = "sandbox"


class NothingThere(SandboxError):
    """A path that was asked for is not there: for whoever asked to say what that means."""


class SeedError(RunError):
    """The seed program failed, or did not make what the spec says it makes."""

    blame = "seed"


class AgentApiError(RunError):
    """The model's API failed: overload, rate limit, sign-in, cut stream."""

    blame = "agent_api"


class AgentApiRefusal(AgentApiError):
    """The model's API will say the same again: sign-in refused, quota used up, a request that it does not take."""


class AgentCrash(RunError):
    """The agent CLI itself failed: crash, unknown flag, garbage, no closing event."""

    blame = "agent_crash"


class IdleTimeout(RunError):
    """The turn timed out and the agent had done nothing at all."""

    blame = "timeout_idle"


class ArmError(RunError):
    """The arm was not as declared: the run is void, not failed."""

    blame = "arm"


class ArmSpoiled(ArmError):
    """The agent itself changed what the arm installed: void as well, and its own doing."""


class HarnessError(RunError):
    """Our own fault: disk full, dead worker, a bug."""

    blame = "harness"
