"""What is recorded of one run (``run.json``), and the same run with its score: the values that cross layers."""

from __future__ import annotations

import msgspec

from pytest_skilleval.core.evidence import RunScore, Status
from pytest_skilleval.core.plan import Row
from pytest_skilleval.core.transcript import Usage

FORMAT = 1
"""Number of the on-disk format; older ones are read, newer ones refused."""


class TurnRecord(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Facts about one sent turn that its raw streams don't hold."""

    number: int
    exit_code: int | None
    seconds: float
    started: float
    """Seconds since the run's baseline snapshot."""
    timed_out: bool = False
    cut: bool = False
    """A trigger case, ended by the runner once it was decided."""
    masked_secrets: int = 0
    """How often a credential was removed from the turn's streams."""


class Attempt(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An earlier try of a retried run, kept under ``attempts/<k>/``."""

    number: int
    blame: str
    detail: str


class RunRecord(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One finished run: ``run.json``, written last."""

    format: int = FORMAT
    row: Row
    status: Status
    """``scored`` here means: measured, to be scored from the raw files."""
    blame: str | None = None
    detail: str = ""
    simulated: bool = False
    started_at: str = ""
    """UTC, ISO 8601."""
    seconds: float = 0.0
    """From asking for the sandbox to its removal."""
    phases: dict[str, float] = {}
    """Seconds by phase: sandbox, arm, seed, snapshot, agent, validators, teardown."""
    turns: tuple[TurnRecord, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    provenance: dict[str, str] = {}
    warnings: tuple[str, ...] = ()
    masked_secrets: int = 0
    """How often a credential was removed from what was recorded besides the turns' streams."""


class TokenSplit(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The tokens of a run by what they are spent on, over all model calls; listing and body are estimated from characters."""

    listing: float
    """Names and descriptions of all skills, in every call that shows them."""
    body: float
    """The skill's text, in every call that has it before it, from whatever place."""
    work: float
    """All the rest: prompts, tools, commands and their output, replies."""


class MeasuredRun(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One row with what became of it: the input of the report.

    ``score`` is None unless the status is ``scored``. ``record`` is None for a selected row that left no record.
    """

    row: Row
    record: RunRecord | None
    score: RunScore | None = None
    usage: Usage = Usage()
    cost_usd: float | None = None
    """As billed."""
    uncached_usd: float | None = None
    """The same tokens at the price without a cache: who ran first does not matter then."""
    split: TokenSplit | None = None
    """None: no gateway saw the run's model calls."""
    dose: float | None = None
    seconds: float = 0.0
    """Agent time over all turns."""
    turns_sent: int = 0
    tool_calls: int = 0
    family: str | None = None
    expects: str | None = None
    models_reported: tuple[str, ...] = ()
    damaged_requests: int = 0
    """Lines of ``requests.jsonl`` that can't be read: tokens, money and dose are without them."""
    hosts_reached: tuple[str, ...] = ()
    hosts_refused: tuple[str, ...] = ()
    """Names and ports, besides the model's."""

    @property
    def status(self) -> Status:
        """``scored | void | error``; a row without a record is the harness' loss."""
        return self.record.status if self.record else "error"

    @property
    def blame(self) -> str | None:
        """Whose fault it is that the run could not be measured."""
        return self.record.blame if self.record else "harness"
