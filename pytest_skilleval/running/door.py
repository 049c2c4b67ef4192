"""A run's own door to the gateway: how its agent reaches a model, and what was seen on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from pytest_skilleval.core.choosing import SCRIPTED
from pytest_skilleval.core.transcript import Failure
from pytest_skilleval.gateway import reading
from pytest_skilleval.gateway.client import GatewayClient
from pytest_skilleval.gateway.scripted.script import Script
from pytest_skilleval.gateway.values import EGRESS_PORT, INSIDE_PORT, Door, RequestRecord, RunRequest, to_lines
from pytest_skilleval.running.conversation import script
from pytest_skilleval.running.preparing import hosts_of

if TYPE_CHECKING:
    from pytest_skilleval.archive import RunFolder
    from pytest_skilleval.core.ports import Sandbox
    from pytest_skilleval.running.job import Job


def lead(sandbox: Sandbox, door: Door) -> None:
    """Let the sandbox's own port lead to the model, and a second one to the hosts that the spec names, if it names any."""
    sandbox.listen(INSIDE_PORT, door.target)
    if door.egress is not None:
        sandbox.listen(EGRESS_PORT, door.egress)


class ModelDoor:
    """Open from before the arm is made until the run's records are fetched."""

    def __init__(self, job: Job, folder: RunFolder, attempt: int, control: str) -> None:
        self._client, self._folder, self._mask = GatewayClient(control), folder, job.mask
        self._run = f"{job.archive.folder}/{job.row.run_id}/{attempt}"
        skill = job.loaded.catalogue.get(job.row.skill)
        self.door = self._client.open(
            RunRequest(
                run=self._run,
                models="scripted" if job.row.model == SCRIPTED else "live",
                skill_body=skill.body if skill else "",
                script=msgspec.convert(script(job), Script),
                guard=job.row.arm in job.loaded.guards,
                hosts=hosts_of(job),
                turn=1,
            )
        )
        self.records: tuple[RequestRecord, ...] = ()

    def lead_from(self, sandbox: Sandbox) -> None:
        """Let the sandbox's own ports lead here: its only way out."""
        lead(sandbox, self.door)

    def begin_turn(self, number: int) -> None:
        """Requests from now on belong to this turn; the first began with the door."""
        if number > 1:
            self._client.turn(self._run, number)

    def failure(self) -> Failure | None:
        """What the gateway saw fail last, if anything."""
        return reading.failure_of(self._client.records(self._run))

    def close(self) -> None:
        """Shut the door, and keep what was recorded in ``requests.jsonl``. Safe to call twice."""
        if self.records:
            return
        self.records = self._client.close(self._run)
        self._mask.count += sum(record.masked for record in self.records)
        self._folder.keep("requests.jsonl", to_lines(self.records))

    def provenance(self) -> dict[str, str]:
        """What the first request tells of the agent's set-up."""
        calls = reading.model_calls(self.records)
        if not calls:
            return {}
        first = calls[0]
        return {
            "request.system": first.system_sha256,
            "request.tools": first.tools_sha256,
            "request.effort": first.effort or "not said",
            "request.thinking": first.thinking or "not said",
            "model.reported": ",".join(sorted({call.model_reported for call in calls if call.model_reported})),
        }
