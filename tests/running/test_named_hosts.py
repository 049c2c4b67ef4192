"""Hosts that a case names: which runs may reach them, and what they leave as it is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_skilleval.agents import agent
from pytest_skilleval.archive import Archive
from pytest_skilleval.core.loading import load_spec
from pytest_skilleval.core.plan import Row
from pytest_skilleval.core.spec import Limits
from pytest_skilleval.running.job import Job
from pytest_skilleval.running.preparing import hosts_of, prepared_key, request
from pytest_skilleval.sandboxes import backend

SKILL = "docker-destructive-guardrails"
SPEC = Path(__file__).parents[2] / "specs" / SKILL / "spec.yaml"


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Job:
    """A run of a real CLI with a gateway; its case names no hosts."""
    monkeypatch.setattr("pytest_skilleval.agents.codex.Codex.host_program", lambda _: {})
    loaded = load_spec(SPEC)
    case = next(case for case in loaded.spec.cases if case.kind == "outcome")
    row = Row(index=0, run_id="r", skill=SKILL, case=case.id, kind=case.kind, arm="with", agent="codex", model="m", repeat=1, block=1)
    case = case.model_copy(update={"seed": case.seed or loaded.spec.seed})
    return Job(
        row=row, loaded=loaded, case=case, archive=Archive(tmp_path), agent=agent("codex"), backend=backend("engine"), gateway="/control"
    )


def naming(job: Job, *hosts: str) -> Job:
    """The same, with hosts."""
    return replace(job, case=job.case.model_copy(update={"sandbox": Limits(hosts=hosts)}))


def test_cases_with_and_without_hosts_share_prepared_states(job: Job) -> None:
    """A seed reaches no host, so what it made is the same for all: hosts are no limit that a state is kept by."""
    assert prepared_key(naming(job, "deb.debian.org")) == prepared_key(job)


def test_the_engine_is_told_of_a_proxy_where_hosts_are_named(job: Job) -> None:
    """The engine inside gets the proxy's variables with hosts, and not one without."""
    assert dict(request(job, restore=None).engine_env) == {}
    assert request(naming(job, "deb.debian.org"), restore=None).engine_env["HTTPS_PROXY"] == "http://127.0.0.1:8318"


def test_without_a_gateway_no_host_is_reached(job: Job) -> None:
    """Nobody leads there for the scripted agent, or where there is no gateway: then nothing is told of a proxy."""
    named = naming(job, "deb.debian.org")
    assert hosts_of(named) == ("deb.debian.org",)
    for other in (replace(named, gateway=None), replace(named, agent=agent("scripted"))):
        assert (hosts_of(other), dict(request(other, restore=None).engine_env)) == ((), {})
