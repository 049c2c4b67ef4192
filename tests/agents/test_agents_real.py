"""The real agent CLIs, driven by the adapters against the scripted model on loopback."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from collections.abc import Callable
from typing import Any

import pytest
from agent_driving import BODY, DESCRIPTION, SKILL, Bench, script
from agent_scenarios import CONNECT, NO_NAMESPACES

from pytest_skilleval.agents.programs import on_path
from pytest_skilleval.core import first_requests, manipulation, model_requests
from pytest_skilleval.core.ports import AgentTurn
from pytest_skilleval.core.transcript import usage_of_run
from pytest_skilleval.gateway import reading
from pytest_skilleval.gateway.scripted import openai
from pytest_skilleval.gateway.scripted.script import Fault, Script, ScriptTurn

pytestmark = pytest.mark.npm
both = pytest.mark.parametrize("name", ["claude-code", "codex"])
Benches = Callable[..., Bench]
FLAG = re.compile(r"(?<![\w-])--?[a-zA-Z][\w-]*")
SUBCOMMANDS = {"claude-code": [[]], "codex": [["exec"], ["exec", "resume"]]}
"""Where each CLI's help tells of the flags for new sessions and resumed ones."""


def play(bench: Bench, *turns: ScriptTurn) -> None:
    """Install the skill and register these turns."""
    bench.install()
    bench.open(script(*turns))


@both
def test_a_turn_is_read_whole(bench: Benches, name: str) -> None:
    """Commands with exit codes and output, the reply, session, model and usage are read from a real turn."""
    one = bench(name)
    play(one, ScriptTurn(run=("echo one > file; cat file", "ls /nonexistent"), reply="Both done."))
    turn = one.turn("Do it.")
    seen = turn.transcript
    assert (turn.exit_code, seen.failure, seen.closing, seen.broken_lines, seen.unknown_events) == (0, None, "complete", 0, 0)
    assert [(c.line, c.executed, c.denied, c.exit_code, c.subagent) for c in seen.commands] == [
        ("echo one > file; cat file", True, False, 0, False),
        ("ls /nonexistent", True, False, 2, False),
    ]
    assert seen.commands[0].output.strip() == "one"
    assert "No such file" in seen.commands[1].output
    assert (seen.reply, seen.messages) == ("Both done.", ("Both done.",))
    assert (one.workspace / "file").read_text() == "one\n"
    assert seen.session_id


@both
def test_usage_equals_what_the_gateway_counted(bench: Benches, name: str) -> None:
    """Tokens of a two-turn session, as the CLI tells them, equal the gateway's own count: nothing twice, nothing lost."""
    one = bench(name)
    play(one, ScriptTurn(run=("true", "true"), reply="One."), ScriptTurn(run=("true",), reply="Two."))
    told = usage_of_run([one.turn("First.").transcript.usage, one.turn("Second.").transcript.usage])
    counted = reading.usage_of(one.requests())
    assert (told.input, told.output, told.cache_read) == (counted.input, counted.output, counted.cache_read)


@both
def test_second_turn_goes_on_with_the_session(bench: Benches, name: str) -> None:
    """A resumed turn keeps the session id, and the model still sees the first turn."""
    one = bench(name)
    play(one, ScriptTurn(reply="The word is heliotrope."), ScriptTurn(run=("echo two",), reply="Two."))
    first, second = one.turn("Say a word."), one.turn("Go on.")
    assert first.transcript.session_id == second.transcript.session_id
    assert second.transcript.reply == "Two."
    body = next(record for record in one.requests() if record.turn == 2).body or ""
    assert "heliotrope" in body


PROMPTS = {
    "dash": "-p --help is what I typed",
    "newlines": "first line\n\n  second line\n",
    "quotes": 'it\'s "quoted" `ticks` $HOME \\n %s',
    "unicode": "Räum auf: 日本語 🚢 \u200d \u00a0end",
    "long": "x" * 100_000 + " end",
    "dashes": "--",
}


@both
@pytest.mark.parametrize("prompt", PROMPTS.values(), ids=PROMPTS.keys())
def test_prompt_reaches_the_model_unchanged(bench: Benches, name: str, prompt: str) -> None:
    """Whatever a prompt looks like, in a first turn or a resumed one, the model is shown it byte for byte."""
    one = bench(name)
    play(one, ScriptTurn(reply="Yes."), ScriptTurn(reply="Again."))
    for number, (asked, reply) in enumerate(((prompt, "Yes."), (f"{prompt}2", "Again.")), 1):
        turn = one.turn(asked)
        assert turn.transcript.reply == reply, turn.stderr
        first = next(record for record in one.requests() if record.turn == number)
        assert asked in model_requests.texts(model_requests.decode((first.body or "").encode()))


@both
def test_skill_is_loaded_and_dosed(bench: Benches, name: str) -> None:
    """A load is in the transcript, and the gateway sees the body come into the context."""
    one = bench(name)
    play(one, ScriptTurn(load=True, run=("true",), reply="Loaded."))
    seen = one.turn("Load it.").transcript
    if name == "claude-code":
        assert [(call.name, call.ok) for call in seen.skill_calls] == [(SKILL, True)]
    else:
        assert f"/{SKILL}/SKILL.md" in seen.commands[0].line
    dose = reading.dose_of(one.requests(), SKILL)
    assert dose is not None
    assert (dose.highest, dose.course, dose.first_call is not None) == (1.0, "fully read", True)
    assert one.requests()[0].dose == 0.0


@both
def test_failed_load_is_no_load(bench: Benches, name: str) -> None:
    """Loading a skill that is not there fails visibly in the transcript, and the dose stays 0."""
    one = bench(name)
    one.open(script(ScriptTurn(load=True, reply="Hm.")))
    seen = one.turn("Load it.").transcript
    assert [call.ok for call in seen.skill_calls] == ([False] if name == "claude-code" else [])
    assert [command.exit_code for command in seen.commands] == ([] if name == "claude-code" else [1])
    dose = reading.dose_of(one.requests(), SKILL)
    assert dose is not None
    assert dose.course == "unseen"


@both
def test_model_is_shown_exactly_the_arm(bench: Benches, name: str) -> None:
    """The first request lists the installed skill with its description and the instructions, and no MCP server."""
    one = bench(name)
    one.instruct("House style: be brief.\n")
    (one.workspace / ".mcp.json").write_text(json.dumps({"mcpServers": {"stray": {"command": "true", "args": []}}}))
    play(one, ScriptTurn(reply="Yes."))
    offered = one.turn("Hello.").transcript.offered
    shown = reading.first_shown(one.requests())
    assert shown is not None
    assert {skill.name: skill.description for skill in shown.skills}[SKILL] == DESCRIPTION
    assert [text.strip() for text in shown.instructions] == ["House style: be brief."]
    assert shown.mcp_servers == ()
    assert offered.mcp_servers in {(), None}
    assert offered.skills is None or SKILL in offered.skills


@both
def test_arms_differ_by_the_declared_bytes_only(bench: Benches, name: str) -> None:
    """Between an arm with the skill and one without, first requests differ by the listing entry and nothing else."""
    bodies = []
    for arm in ("with", "without"):
        one = bench(name, run=arm)
        one.install("other-skill", description="Something else.")
        one.instruct("House style: be brief.\n")
        if arm == "with":
            one.install()
        one.open(script(ScriptTurn(reply="Yes.")))
        one.turn("Hello.")
        text = json.dumps(reading.first_request(one.requests())).replace(str(one.folder), "")
        bodies.append(json.loads(text.replace(re.sub(r"[^A-Za-z0-9]", "-", str(one.folder)), "")))
    entry = {f"- {SKILL}: {DESCRIPTION}", f"- {SKILL}: {DESCRIPTION} (file: r0/{SKILL}/SKILL.md)"}
    differing = {one.line for one in first_requests.differences(*bodies)}
    assert differing
    assert differing <= entry
    assert first_requests.undeclared_part(bodies[0], "") == first_requests.undeclared_part(bodies[1], "")


@both
def test_guard_bites(bench: Benches, name: str) -> None:
    """A denied command is attempted and not executed, and what follows still runs."""
    one = bench(name, deny=("rm -r",))
    (one.workspace / "keep").mkdir()
    play(one, ScriptTurn(run=("ls", "rm -r keep", "cd . && rm -r keep", "echo after"), reply="Denied."))
    seen = one.turn("Clean up.").transcript
    state = {command.line: (command.executed, command.denied) for command in seen.commands}
    assert state["rm -r keep"] == state["cd . && rm -r keep"] == (False, True)
    assert state["ls"] == state["echo after"] == (True, False)
    assert (one.workspace / "keep").is_dir()
    assert (seen.denials, seen.failure, seen.reply) == (2, None, "Denied.")
    assert sum(call.denied for call in seen.tool_calls) == 2


def test_default_permissions_deny_and_count(bench: Benches) -> None:
    """Claude Code under default permissions denies what a human would be asked, and the denials are counted."""
    one = bench("claude-code", permissions="default")
    play(one, ScriptTurn(run=("ls", "curl -s http://127.0.0.1:9"), reply="Asked."))
    seen = one.turn("Fetch.").transcript
    assert [(command.executed, command.denied) for command in seen.commands] == [(True, False), (False, True)]
    assert (seen.denials, seen.failure) == (1, None)


def test_codex_sandbox_denies_and_counts(bench: Benches) -> None:
    """Codex under default permissions: what its sandbox or a rule stopped was attempted and not executed, whether its stream shows it."""
    one = bench("codex", permissions="default")
    tries = ("echo one > file", CONNECT, "rm -rf file", *(CONNECT,) * 4, "cat file")
    play(one, ScriptTurn(run=tries, reply="Asked."))
    (seen,) = one.agent.supplement([one.turn("Go.").transcript], one.records())
    denied = [line in {CONNECT, "rm -rf file"} for line in tries]
    assert [(c.line, c.denied, c.executed) for c in seen.commands] == [(line, no, not no) for line, no in zip(tries, denied, strict=True)]
    assert (seen.denials, seen.failure, (one.workspace / "file").read_text()) == (6, None, "one\n")


def test_a_sandbox_that_codex_cannot_make_is_the_machines_fault(bench: Benches) -> None:
    """Where the kernel gives Codex no namespaces not one command runs: an error of the sandbox, not an agent that failed."""
    if subprocess.run([*NO_NAMESPACES, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine does not let us make namespaces: root on Linux can")
    one = bench("codex", permissions="default", prefix=NO_NAMESPACES)
    play(one, ScriptTurn(run=("echo one > file",), reply="Hm."))
    seen = one.turn("Go.").transcript
    assert ([command.executed for command in seen.commands], (one.workspace / "file").exists()) == ([False], False)
    assert seen.failure is not None
    assert (seen.failure.blame, "namespaces" in seen.failure.reason) == ("sandbox", True)


@both
def test_parallel_calls_keep_their_results(bench: Benches, name: str) -> None:
    """Tool calls sent in one message each get their own result."""
    one = bench(name)
    play(one, ScriptTurn(run=("echo one", "echo two", "exit 3"), manner="parallel", reply="Done."))
    seen = one.turn("Go.").transcript
    assert sorted((c.line, c.exit_code, c.output.strip()) for c in seen.commands) == [
        ("echo one", 0, "one"),
        ("echo two", 0, "two"),
        ("exit 3", 3, ""),
    ]


def test_subagent_commands_are_commands(bench: Benches) -> None:
    """What a sub-agent of Claude Code runs is in the transcript, marked, and its tokens are counted once."""
    one = bench("claude-code")
    play(one, ScriptTurn(run=("echo one > file", "echo two"), manner="subagent", reply="Delegated."))
    seen = one.turn("Go.").transcript
    assert [(c.line, c.subagent, c.executed) for c in seen.commands] == [("echo one > file", True, True), ("echo two", True, True)]
    assert (seen.reply, seen.messages) == ("Delegated.", ("Delegated.",))
    assert seen.usage.input == reading.usage_of(one.requests()).input
    assert (one.workspace / "file").exists()


@pytest.mark.parametrize("model", ["scripted", None], ids=["plain-tools", "default-model"])
def test_subagent_of_codex_is_in_its_session_record(bench: Benches, model: str | None) -> None:
    """Codex' stream hides what a sub-agent did, and says so; its session record adds the commands to the right turn."""
    one = bench("codex", model=model)
    play(
        one,
        ScriptTurn(run=("true",), reply="First."),
        ScriptTurn(run=("echo one > file", "ls /nonexistent"), manner="subagent", reply="Done."),
    )
    turns = [one.turn("Go.").transcript, one.turn("Go on.").transcript]
    assert (one.workspace / "file").exists()
    assert any("sub-agent" in warning for warning in turns[1].warnings)
    records = [path.read_bytes() for path in (one.home / ".codex/sessions").rglob("rollout-*.jsonl")]
    first, second = one.agent.supplement(turns, records)
    assert [command.line for command in first.commands] == ["true"]
    assert [(c.line, c.subagent, c.exit_code) for c in second.commands] == [("echo one > file", True, 0), ("ls /nonexistent", True, 2)]
    assert not any("sub-agent" in warning for warning in second.warnings)


def test_background_command_is_marked(bench: Benches) -> None:
    """A background command is executed, marked, and has no exit code of its own."""
    one = bench("claude-code")
    play(one, ScriptTurn(run=("echo one",), manner="background", reply="Started."))
    (command,) = one.turn("Go.").transcript.commands
    assert (command.background, command.executed, command.exit_code) == (True, True, None)


@both
def test_big_output_is_survived(bench: Benches, name: str) -> None:
    """A command that prints megabytes leaves a whole transcript."""
    one = bench(name)
    play(one, ScriptTurn(run=("seq 1 300000",), reply="Long."))
    seen = one.turn("Go.").transcript
    assert (seen.reply, seen.commands[0].exit_code, seen.broken_lines) == ("Long.", 0, 0)


@both
def test_a_full_context_is_summed_up_and_the_play_goes_on(bench: Benches, name: str) -> None:
    """The CLI asks for a summary, each command still runs once, and the dose tells whether the skill's text got over it."""
    one = bench(name)
    one.install()
    turns = (ScriptTurn(load=True, run=("echo one", "echo two"), reply="One."), ScriptTurn(run=("echo three",), reply="Two."))
    one.open(script(*turns), faults=(Fault(kind="full", step=2, times=1),))
    first, second = one.turn("Go.").transcript, one.turn("Go on.").transcript
    ran = [[command.line for command in seen.commands if "SKILL.md" not in command.line] for seen in (first, second)]
    assert (ran, first.reply, second.reply) == ([["echo one", "echo two"], ["echo three"]], "One.", "Two.")
    assert (first.failure, first.broken_lines, first.unknown_events) == (None, 0, 0)
    dose = reading.dose_of(one.requests(), SKILL)
    assert dose is not None
    assert (dose.highest, dose.course) == (1.0, "fully read" if name == "claude-code" else "lost")


@both
def test_unknown_flag_is_named(bench: Benches, name: str) -> None:
    """A flag that the installed version rejects is a crash that names the flag."""
    one = bench(name)
    play(one, ScriptTurn(reply="Never."))
    seen = one.turn("Go.", extra=("--no-such-flag",)).transcript
    assert seen.failure is not None
    assert (seen.failure.blame, "--no-such-flag" in seen.failure.reason, seen.reply) == ("agent_crash", True, None)


@both
def test_no_secret_in_argv_and_a_version_to_ask(bench: Benches, name: str) -> None:
    """The version command answers, and no credential stands in an argv."""
    one = bench(name)
    play(one, ScriptTurn(reply="Yes."))
    command = one.agent.version_command()
    assert command is not None
    done = subprocess.run(
        command.argv,
        check=False,
        env={"PATH": f"{one.program.parent}:/usr/bin:/bin", "HOME": str(one.home)},
        capture_output=True,
        timeout=30,
    )
    assert any(character.isdigit() for character in done.stdout.decode())


@both
def test_default_model_plays_too(bench: Benches, name: str) -> None:
    """The scripted model serves the CLI's own default model as well, whichever tools that one is given."""
    one = bench(name, model=None)
    play(one, ScriptTurn(load=True, run=("echo one > file",), reply="Done."))
    seen = one.turn("Go.").transcript
    assert (seen.reply, (one.workspace / "file").exists()) == ("Done.", True)
    dose = reading.dose_of(one.requests(), SKILL)
    assert dose is not None
    assert dose.highest == 1.0


@both
def test_rules_arm_has_the_dose_from_the_start(bench: Benches, name: str) -> None:
    """Instructions that hold the skill's body give the full dose in the first call."""
    one = bench(name)
    one.instruct(BODY)
    one.open(Script())
    one.turn("Go.")
    assert one.requests()[0].dose == 1.0


@both
def test_every_flag_is_known_to_the_installed_version(bench: Benches, name: str) -> None:
    """The CLI's own help names every flag that the adapter uses, resumed turns and guards included; a made-up one is found out."""
    one = bench(name, deny=("rm -r",))
    play(one, ScriptTurn(reply="Yes."))
    environ = {"PATH": f"{one.program.parent}:/usr/bin:/bin", "HOME": str(one.home)}
    quiet = dict(one.agent.version_command().env)
    help_texts = [
        subprocess.run([one.program, *words, "--help"], env=environ | quiet, capture_output=True, timeout=30, check=True).stdout.decode()
        for words in SUBCOMMANDS[name]
    ]
    known = {word for text in help_texts for word in FLAG.findall(text)}
    assert "--no-such-flag" not in known
    for session in (None, "01a229d8-5656-76b0-bd62-794992054ef2"):
        command = one.agent.command(AgentTurn(prompt="x", setup=one.setup, session_id=session))
        flags = {word for word in command.argv[len(on_path("", "")) :] if FLAG.fullmatch(word)}
        assert flags
        assert flags <= known


def test_codex_preview_shows_what_a_turn_shows(bench: Benches) -> None:
    """`codex debug prompt-input`, which asks no model, shows the skills and instructions that the first request shows."""
    one = bench("codex")
    one.instruct("House style: be brief.\n")
    play(one, ScriptTurn(reply="Yes."))
    command = one.agent.preview_command(one.setup)
    environ = {"PATH": f"{one.program.parent}:/usr/bin:/bin", "HOME": str(one.home), **command.env}
    done = subprocess.run(command.argv, input=b"hello", env=environ, cwd=one.workspace, capture_output=True, timeout=30, check=True)
    preview = manipulation.read_preview(done.stdout)
    one.turn("Hello.")
    first = reading.first_shown(one.requests())
    assert first is not None
    assert (preview.skills, preview.instructions) == (first.skills, first.instructions)


@both
def test_manipulation_check_on_real_requests(bench: Benches, name: str) -> None:
    """The check passes on the arm as declared, and names each departure from it."""
    one = bench(name)
    one.instruct("House style: be brief.\n")
    play(one, ScriptTurn(reply="Yes."))
    one.turn("Hello.")
    seen = reading.first_shown(one.requests())
    assert seen is not None
    told = {SKILL: DESCRIPTION}
    rules = ["House style: be brief.\n"]
    assert manipulation.check(seen, installed=told, absent=["other-skill"], instructions=rules).violations == ()
    for arm, word in (
        ({"installed": told | {"gone": "x"}, "instructions": rules}, "gone is installed"),
        ({"installed": {}, "absent": [SKILL], "instructions": rules}, "the arm excludes"),
        ({"installed": {SKILL: "Other words."}, "instructions": rules}, "shown changed"),
        ({"installed": told, "instructions": []}, "does not have"),
        ({"installed": told, "instructions": [*rules, "More."]}, "not shown whole"),
    ):
        (violation, *_) = manipulation.check(seen, **arm).violations
        assert word in violation


def test_a_prompt_that_is_a_command_is_no_measurement(bench: Benches) -> None:
    """A prompt that Claude Code takes for a command of its own asks no model: a crash, not an agent that did nothing wrong."""
    one = bench("claude-code")
    play(one, ScriptTurn(reply="Never."))
    seen = one.turn("/clear").transcript
    assert seen.failure is not None
    assert (seen.failure.blame, "without asking a model" in seen.failure.reason) == ("agent_crash", True)
    assert reading.model_calls(one.requests()) == ()


SERVER = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("method") == "initialize":
        version = asked["params"]["protocolVersion"]
        told = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "t", "version": "1"}}
    elif asked.get("method") == "tools/list":
        told = {"tools": [{"name": "list_issues", "description": "List", "inputSchema": {"type": "object", "properties": {}}}]}
    else:
        told = {}
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": told}), flush=True)
"""


@pytest.mark.parametrize(("name", "model"), [("claude-code", "scripted"), ("codex", "scripted"), ("codex", None)])
def test_a_leaked_mcp_server_is_found(bench: Benches, name: str, model: str | None) -> None:
    """An MCP server that reaches the agent is seen in what the model is shown, whether its tools are declared or deferred."""
    one = bench(name, model=model)
    program, config = one.folder / "server.py", one.folder / "mcp.json"
    play(one, ScriptTurn(reply="Yes."))
    program.write_text(SERVER)
    config.write_text(json.dumps({"mcpServers": {"tracker": {"command": "python3", "args": [str(program)]}}}))
    if name == "codex":
        path = one.home / ".codex/config.toml"
        path.write_text(path.read_text() + f'\n[mcp_servers.tracker]\ncommand = "python3"\nargs = ["{program}"]\n')
    one.turn("Hello.", extra=("--mcp-config", str(config)) if name == "claude-code" else ())
    shown = reading.first_shown(one.requests())
    assert shown is not None
    assert shown.mcp_servers == ("tracker",)


def test_codex_counts_what_a_cache_served_and_took_up_as_the_gateway_does(bench: Benches, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both are part of the input that the API tells, and are told apart: by the CLI and by the gateway alike."""
    whole = openai._response

    def cached(*args: Any, **more: Any) -> Any:
        response = whole(*args, **more)
        response["usage"]["input_tokens_details"] = {"cached_tokens": 300, "cache_write_tokens": 70}
        return response

    monkeypatch.setattr(openai, "_response", cached)
    one = bench("codex")
    play(one, ScriptTurn(run=("true",), reply="One."))
    told, counted = one.turn("First.").transcript.usage, reading.usage_of(one.requests())
    assert (counted.cache_read, counted.cache_write_5m) == (600, 140)
    assert (told.input, told.cache_read, told.cache_write) == (counted.input, counted.cache_read, counted.cache_write)


@both
def test_the_mending_command_takes_a_server_out(bench: Benches, name: str) -> None:
    """The command that a void run names is one that the CLI knows, and the server is gone afterwards."""
    one = bench(name)
    environ = {"HOME": str(one.home), "PATH": os.defpath}

    def call(*argv: str) -> str:
        done = subprocess.run([one.program, *argv], cwd=one.workspace, env=environ, capture_output=True, timeout=60, check=True, text=True)
        return done.stdout

    call("mcp", "add", "tracker", "--", "true")
    assert "tracker" in call("mcp", "list")
    called, *argv = shlex.split(one.agent.without_server("tracker").strip("`"))
    assert called == one.program.name
    call(*argv)
    assert "tracker" not in call("mcp", "list")
