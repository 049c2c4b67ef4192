"""Scenarios whose real transcripts are kept: what is played, and what the transcript must say of it."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_skilleval.gateway.scripted.script import Fault, ScriptTurn

Command = tuple[str, bool, bool, int | None]
"""Line, executed, denied, exit code."""


@dataclass(frozen=True)
class Scenario:
    """Turns and faults to be played, and the truth about the last turn."""

    turns: tuple[ScriptTurn, ...]
    commands: tuple[Command, ...] = ()
    reply: str | None = None
    blame: str | None = None
    refused: bool = False
    faults: tuple[Fault, ...] = ()
    deny: tuple[str, ...] = ()
    permissions: str = "bypass"
    installed: bool = True
    loads: bool = False
    subagent: bool = False
    background: bool = False
    namespaces: bool = True
    """Whether the kernel lets the CLI make namespaces of its own."""
    agents: tuple[str, ...] = ("claude-code", "codex")

    @property
    def denies(self) -> bool:
        """Whether some command is denied."""
        return any(denied for _, _, denied, _ in self.commands)


ONE: Command = ("echo one", True, False, 0)
BAD: Command = ("ls /nonexistent", True, False, 2)

MANY = tuple(f"echo {number}" for number in range(40))
LONG = (
    *(f"seq 1 {count}" for count in (10, 1000, 3000)),
    *(f'for i in $(seq {count}); do echo "web-$i   Up 3 days   example/web:1.$i   0.0.0.0:80$i->80/tcp"; done' for count in (5, 60, 200)),
)
HALVED = "python3 -c \"print('x' + chr(0x1f6a2) * 16000)\""
"""Claude Code cuts this output in the middle of a character."""

OUTSIDE = "touch /var/outside-of-the-workspace"
CONNECT = "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"/run/none.sock\")'"
FORCED = "rm -rf keep"
NO_NAMESPACES = ("unshare", "-Ur", "sh", "-c", 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"', "sh")

SCENARIOS = {
    "confined": Scenario(
        (ScriptTurn(run=("echo one", OUTSIDE, FORCED, CONNECT, CONNECT, "ls /nonexistent"), reply="Asked."),),
        commands=(ONE, (OUTSIDE, False, True, 1), (FORCED, False, True, None), *((CONNECT, False, True, 1),) * 2, BAD),
        reply="Asked.",
        permissions="default",
        agents=("codex",),
    ),
    "unconfined": Scenario(
        (ScriptTurn(run=("echo one", "ls"), reply="Hm."),),
        commands=(("echo one", False, False, 1), ("ls", False, False, 1)),
        reply="Hm.",
        permissions="default",
        blame="sandbox",
        namespaces=False,
        agents=("codex",),
    ),
    "many": Scenario((ScriptTurn(run=MANY, reply="Done."),), commands=tuple((line, True, False, 0) for line in MANY), reply="Done."),
    "halved": Scenario(
        (ScriptTurn(run=(HALVED,), reply="Done."),), commands=((HALVED, True, False, 0),), reply="Done.", agents=("claude-code",)
    ),
    "long": Scenario((ScriptTurn(run=LONG, reply="Done."),), commands=tuple((line, True, False, 0) for line in LONG), reply="Done."),
    "plain": Scenario((ScriptTurn(run=("echo one", "ls /nonexistent"), reply="Done."),), commands=(ONE, BAD), reply="Done."),
    "loads": Scenario((ScriptTurn(load=True, run=("echo one",), reply="Loaded."),), commands=(ONE,), reply="Loaded.", loads=True),
    "unknown-skill": Scenario((ScriptTurn(load=True, run=("echo one",), reply="Hm."),), commands=(ONE,), reply="Hm.", installed=False),
    "resumed": Scenario(
        (ScriptTurn(run=("true",), reply="First."), ScriptTurn(run=("echo one",), reply="Second.")), commands=(ONE,), reply="Second."
    ),
    "parallel": Scenario(
        (ScriptTurn(run=("echo one", "ls /nonexistent"), manner="parallel", reply="Done."),), commands=(ONE, BAD), reply="Done."
    ),
    "subagent": Scenario(
        (ScriptTurn(run=("echo one", "ls /nonexistent"), manner="subagent", reply="Done."),),
        commands=(ONE, BAD),
        reply="Done.",
        subagent=True,
        agents=("claude-code",),
    ),
    "background": Scenario(
        (ScriptTurn(run=("echo one",), manner="background", reply="Started."),),
        commands=(("echo one", True, False, None),),
        reply="Started.",
        background=True,
        agents=("claude-code",),
    ),
    "left-running": Scenario(
        (ScriptTurn(run=("sleep 60",), reply="Started."),),
        commands=(("sleep 60", True, False, None),),
        reply="Started.",
        background=True,
        agents=("codex",),
    ),
    "guarded": Scenario(
        (ScriptTurn(run=("echo one", "rm -r keep"), reply="Denied."),),
        commands=(ONE, ("rm -r keep", False, True, None)),
        reply="Denied.",
        deny=("rm -r",),
    ),
    "asked": Scenario(
        (ScriptTurn(run=("echo one", "curl -s http://127.0.0.1:9"), reply="Asked."),),
        commands=(ONE, ("curl -s http://127.0.0.1:9", False, True, None)),
        reply="Asked.",
        permissions="default",
        agents=("claude-code",),
    ),
    "retried": Scenario(
        (ScriptTurn(run=("echo one",), reply="Done."),), commands=(ONE,), reply="Done.", faults=(Fault(kind="overloaded", times=1),)
    ),
    "full": Scenario(
        (ScriptTurn(run=("echo one", "echo one", "ls /nonexistent"), reply="Done."),),
        commands=(ONE, ONE, BAD),
        reply="Done.",
        faults=(Fault(kind="full", step=2, times=1),),
    ),
    "refused": Scenario((ScriptTurn(reply="No."),), refused=True, faults=(Fault(kind="refusal"),), agents=("claude-code",)),
} | {
    kind: Scenario(
        (ScriptTurn(run=("echo one", "true"), reply="Never."),), commands=(ONE,), blame="agent_api", faults=(Fault(kind=kind, step=1),)
    )
    for kind in ("unauthorized", "forbidden", "rate_limited", "overloaded", "server_error", "bad_request", "cut", "garbage", "empty")
}
