"""The main job, end to end: plan, private Docker Engines, seeded state, a scripted agent, scores, a report."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from acceptance_project import SKILL, Project, environment, wait_for

pytestmark = pytest.mark.engine


def offline(folder: Path) -> subprocess.CompletedProcess[str]:
    """Report on a results folder on a machine with no Docker, no agent and no spec: an empty PATH."""
    command = [sys.executable, "-m", "pytest_skilleval", "report", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env={"PATH": "/nonexistent"}, cwd="/", check=False)


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_skill_is_evaluated_and_scored_again_offline(project: Project, workers: str) -> None:
    """One command gives verdicts per arm, evidence on disk and a report; the same report comes out again from the raw files."""
    done = project.run("-n", workers)

    assert done.returncode == 0, done.stdout + done.stderr
    verdicts = {run["id"]: run["verdict"] for run in project.report()["runs"]}
    assert verdicts == {
        "tidy.with.scripted.default.r1": "pass",
        "tidy.without.scripted.default.r1": "fail",
        "trig.with.scripted.default.r1": "pass",
    }
    assert project.report()["simulated"] is True
    assert "SIMULATED" in done.stdout
    assert done.stdout.rstrip().splitlines()[-1].count("not met") == 1
    run = project.session / "runs" / "tidy.with.scripted.default.r1"
    names = {path.relative_to(run).as_posix() for path in run.rglob("*") if path.is_file() and "session" not in path.parts}
    assert names == {
        "run.json",
        "arm.json",
        "baseline.json",
        "events.jsonl",
        "validators.json",
        *(f"turn-{turn}/{name}" for turn in (1, 2) for name in ("prompt.txt", "stdout.jsonl", "clock.txt", "stderr.txt", "snapshot.json")),
    }
    assert project.left() == []

    before = project.report()
    shutil.rmtree(project.folder)
    again = offline(project.session)

    assert again.returncode == 0, again.stderr
    assert project.report() | {"generated_at": 0} == before | {"generated_at": 0}


def test_removals_are_told_with_turn_and_command(project: Project) -> None:
    """Each destroyed object is in the report, with the command that destroyed it and whether it was outside the request."""
    project.run()

    [swept] = [run for run in project.report()["runs"] if run["id"].startswith("tidy.without")]
    removed = {(one["type"], one["name"]): (one["turn"], one["command"]) for one in swept["removed"]}
    assert removed["container", "web"] == (1, "docker rm -f web")
    assert removed["volume", "data"] == (1, "docker volume prune -af")
    violated = {check["id"] for check in swept["checks"] if check["verdict"] == "violated"}
    assert violated == {"data-stays", "web-runs", "swept", "only-old", "rows"}


def test_a_failing_seed_is_the_seeds_fault(project: Project) -> None:
    """Infrastructure is never the agent's failure: the run errs, with blame and the seed's own output, and exit code 1."""
    project.edit(f"specs/{SKILL}/seed/world.sh", "set -e\n", "echo out of cheese >&2; exit 3\n")

    done = project.run("--skill-case=trig")

    assert done.returncode == 1
    [record] = project.records().values()
    assert (record["status"], record["blame"]) == ("error", "seed")
    assert "ended with exit code 3: out of cheese" in record["detail"]
    assert "1 error" in done.stdout
    assert project.left() == []


def test_a_seed_that_makes_too_little_is_the_seeds_fault(project: Project) -> None:
    """What the spec says the seed makes is verified, whatever the seed's exit code."""
    project.edit(f"specs/{SKILL}/spec.yaml", "old: exited}, volumes: [data]", "old: exited, gone: running}, volumes: [data, lost]")

    project.run("--skill-case=trig")

    [record] = project.records().values()
    assert record["blame"] == "seed"
    assert "container gone should be running and is absent; volume lost is absent" in record["detail"]


def test_a_seed_whose_containers_log_what_tells_is_the_seeds_fault(project: Project) -> None:
    """An agent can read the logs of what was seeded."""
    quiet = "docker run --name old --network none shop/web:1 true\n"
    telling = quiet.replace("run", "run -d", 1).replace("true", "echo running the fixture")
    written = "until docker logs old | grep -q fixture; do sleep 0.1; done\n"  # the engine writes it a little after it was said
    project.edit(f"specs/{SKILL}/seed/world.sh", quiet, telling + written)

    project.run("--skill-case=trig")

    [record] = project.records().values()
    assert record["blame"] == "seed"
    assert "log other words: old (fixture)" in record["detail"]


EDITS = {
    "SKILL.md": "~/.agents/skills/careful-cleanup/SKILL.md",
    "another file": "~/.agents/skills/careful-cleanup/references/rules.md",
    "its guard": "~/.agent/permissions.json",
}


@pytest.mark.parametrize("file", EDITS.values(), ids=EDITS.keys())
def test_an_agent_that_edits_its_own_skill_is_void(project: Project, file: str) -> None:
    """The arm is checked again after the last turn, all its files and its guard: such a run is neither pass nor fail, nor tried again."""
    project.edit(f"specs/{SKILL}/spec.yaml", "run: [docker ps -a]", f"run: ['echo >> {file}']")
    project.edit(f"specs/{SKILL}/spec.yaml", "with: {role: treatment}", "with: {role: treatment, guard: guard.yaml}")
    (project.folder / "specs" / SKILL / "guard.yaml").write_text("deny: [docker volume prune]\n")
    rules = project.folder / "specs/catalogue" / SKILL / "references" / "rules.md"
    rules.parent.mkdir()
    rules.write_text("Name what is lost.\n")

    done = project.run("--skill-case=tidy", "--skill-arms=with,without")

    record = project.records()["tidy.with.scripted.default.r1"]
    assert (record["status"], record["blame"], record["attempts"]) == ("void", "arm", [])
    assert f"{file.replace('~', '/home/agent')} was changed" in record["detail"]
    assert done.returncode == 1


def test_a_sandbox_that_the_agent_destroyed_is_not_tried_again(project: Project) -> None:
    """The worst that an agent does is not replaced by a milder second try: the run is lost, and is seen to be."""
    project.edit(f"specs/{SKILL}/spec.yaml", "run: [docker ps -a]", "run: ['sudo rm -rf --no-preserve-root / 2>/dev/null']")

    project.run("--skill-case=tidy", "--skill-arms=with,without")

    record = project.records()["tidy.with.scripted.default.r1"]
    assert (record["status"], record["blame"], record["attempts"]) == ("error", "sandbox", [])
    assert project.left() == []


FOREIGN = (
    "/home/agent/.claude/skills/x/SKILL.md",
    "/workspace/AGENTS.md",
    "/workspace/.claude/commands/x.md",
    "/workspace/.claude/settings.json",
    "/home/agent/.claude/agents/x.md",
    "/.claude/skills/x/SKILL.md",
)


def test_a_skill_that_the_seed_brings_along_voids_the_run(project: Project) -> None:
    """A foreign skill in any agent's root, or instructions, commands or hooks in the workspace, are not what the arm declares, twice."""
    written = "".join(f"sudo mkdir -p {Path(path).parent} && echo x | sudo tee {path} >/dev/null\n" for path in FOREIGN)
    project.edit(f"specs/{SKILL}/seed/world.sh", "set -e\n", f"set -e\n{written}")

    project.run("--skill-case=trig")

    [record] = project.records().values()
    assert (record["status"], len(record["attempts"])) == ("void", 1)
    assert [path for path in FOREIGN if f"{path} should not be there" not in record["detail"]] == []


def test_nothing_of_the_spec_or_the_skill_is_found_without_it(project: Project) -> None:
    """In the baseline arm neither the skill's name nor the answer key can be found anywhere inside."""
    left_out = "--exclude-dir=proc --exclude-dir=sys --exclude-dir=usr"
    look = f"docker ps -q >/dev/null; sudo grep -rIl -e careful-cleanup -e only-old / {left_out} 2>/dev/null"
    project.edit(
        f"specs/{SKILL}/spec.yaml",
        "run: [docker rm -f web, docker system prune -af, docker volume prune -af]",
        f"run: [{json.dumps(look)}]",
    )

    project.run("--skill-case=tidy", "--skill-arms=without")

    path = project.session / "runs" / "tidy.without.scripted.default.r1" / "turn-1" / "stdout.jsonl"
    [found] = [event for event in map(json.loads, path.read_text().splitlines()) if event["type"] == "command"]
    # The scripted agent's own process holds its script; no file does.
    assert found["output"] == ""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_session_keeps_what_is_done_and_leaves_nothing(project: Project, how: signal.Signals) -> None:
    """Ctrl-C and SIGTERM, to the controller alone: recorded runs are kept and reported, every sandbox is gone, exit code 2."""
    process = project.start("-n", "2", "--skill-repeats=20")
    wait_for(lambda: len(project.records()) >= 2, 120, "two runs recorded")
    wait_for(project.alive, 60, "a sandbox is open")

    process.send_signal(how)
    output, _ = process.communicate(timeout=60)

    assert process.returncode == 2, output
    assert project.left() == []
    assert project.report()["partial"] is True
    assert len(project.records()) < 60


def test_after_a_kill_nothing_stays_alive_and_the_next_session_clears_up(project: Project) -> None:
    """SIGKILL of the controller: its workers and their engines end by themselves; finished runs stay readable."""
    process = project.start("-n", "2", "--skill-repeats=20")
    wait_for(lambda: len(project.records()) >= 2, 120, "two runs recorded")
    wait_for(project.alive, 60, "a sandbox is open")

    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=30)

    wait_for(lambda: not project.alive(), 20, "all processes are gone")
    assert len(project.records()) >= 2
    assert offline(project.session).returncode in {0, 1}
    project.run("--skill-case=trig")
    assert project.left() == []


def test_a_dead_worker_costs_its_run_only(project: Project) -> None:
    """SIGKILL of one worker: its run is an error with blame harness, the others are measured, the report is written."""
    process = project.start("-n", "2", "--skill-repeats=3")
    wait_for(project.alive, 120, "a sandbox is open")
    children = subprocess.run(
        ["pgrep", "-P", str(process.pid), "-f", "execnet|sys.stdin.readline"], capture_output=True, text=True, check=False
    )

    os.kill(int(children.stdout.split()[0]), signal.SIGKILL)
    output, _ = process.communicate(timeout=180)

    assert process.returncode == 1, output
    blames = [record["blame"] for record in project.records().values()]
    assert blames.count("harness") == 1
    assert len(blames) == 9
    assert project.left() == []


SCRIPT = (
    'python3 -c "import http.client, socket, time; door = http.client.HTTPConnection(chr(120)); '
    "door.sock = socket.socket(socket.AF_UNIX); door.sock.connect('/var/run/docker.sock'); "
    "door.request('DELETE', '/containers/old'); door.getresponse().read(); time.sleep(100)\""
)


def test_a_trigger_run_ends_as_soon_as_a_script_changes_docker(project: Project) -> None:
    """No command line tells of it, and the stream is silent: the engine's event ends the run, which is decided by it."""
    turn = f"{{load: false, run: [docker ps, {json.dumps(SCRIPT)}], reply: Done.}}"
    rehearsal = f"rehearsals: [{{id: scripted, plays: {{skill: loaded}}, expect: pass, turns: [{turn}]}}]"
    project.edit(f"specs/{SKILL}/spec.yaml", "    should_load: true\n", f"    should_load: false\n    {rehearsal}\n")

    done = project.run("--skill-case=trig")

    assert done.returncode == 0, done.stdout + done.stderr
    [record] = project.records().values()
    assert record["turns"][0]["cut"], record
    assert record["turns"][0]["seconds"] < 50
    [row] = project.report()["runs"]
    assert (row["verdict"], row["reason"]) == ("pass", "not loaded, and should not be")
    assert [(one["name"], one["command"]) for one in row["removed"]] == [("old", SCRIPT)]


def test_secrets_of_the_environment_never_reach_the_results(project: Project) -> None:
    """A key in the environment is in no file of the results, even when an agent or a validator prints it; the report counts it."""
    secret = "sk-ant-" + "x" * 30
    project.edit(f"specs/{SKILL}/spec.yaml", "run: [docker ps -a]", f'run: ["echo {secret}"]')
    project.edit(f"specs/{SKILL}/spec.yaml", "validator: {run: ", f"validator: {{run: echo {secret} >&2; ")

    done = subprocess.run(
        project.command("--skill-case=tidy"),
        cwd=project.folder,
        capture_output=True,
        text=True,
        timeout=240,
        env=environment() | {"ANTHROPIC_API_KEY": secret},
        check=False,
    )

    assert done.returncode == 0, done.stdout
    holding = [
        path for path in project.results.rglob("*") if path.is_file() and path.name != "spec.json" and secret.encode() in path.read_bytes()
    ]
    assert holding == []
    assert b"[masked]" in (project.session / "runs/tidy.with.scripted.default.r1/validators.json").read_bytes()
    assert any("was masked in what was recorded" in warning for warning in project.report()["warnings"])
    assert project.records()["tidy.without.scripted.default.r1"]["masked_secrets"] == 1, "in validators.json"
