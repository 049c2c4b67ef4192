"""The ways by which the same deed can be done, so that no check hangs on one spelling of a command."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_skilleval.core.generated.compose import by_compose
from pytest_skilleval.core.generated.deeds import Call, Deed

_SOCKET = "/var/run/docker.sock"
_ENGINE = f"""\
import http.client, json, socket
class Engine(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect("{_SOCKET}")
def call(method, path, body=None):
    engine = Engine("localhost")
    engine.request(method, path, body, {{"Content-Type": "application/json"}})
    return json.loads(engine.getresponse().read() or "null")
"""


def routes(deed: Deed, member: str | None) -> Iterator[tuple[str, tuple[str, ...]]]:
    """(name, shell command lines) of every way to do `deed`. `member`: a container of the Compose project it belongs to."""
    yield "docker", deed.lines
    yield "curl", tuple(_curl(call) for call in deed.calls)
    if deed.by_xargs or deed.last.endswith(f" {deed.name}"):
        yield "xargs", (*deed.before, deed.by_xargs or f"echo {deed.name} | xargs {deed.last.removesuffix(f' {deed.name}')}")
    yield "python", (in_python(deed.calls),)
    yield "script", as_script(deed.lines)
    if lines := by_compose(deed, member):
        yield "compose", lines


def as_script(lines: tuple[str, ...]) -> tuple[str, ...]:
    """A script file that is written, then run."""
    return (f"cat > /tmp/steps.sh <<'END'\n{chr(10).join(lines)}\nEND", "sh /tmp/steps.sh")


def _curl(call: Call) -> str:
    body = f" -H 'Content-Type: application/json' -d '{call.body}'" if call.body else ""
    request = f"curl -sS --unix-socket {_SOCKET} -X {call.method}{body} 'http://localhost{call.path}'"
    if call.each is None:
        return request
    ids = f"curl -sS --unix-socket {_SOCKET} 'http://localhost{call.each}' | grep -o '\"Id\":\"[^\"]*\"' | cut -d'\"' -f4"
    return f"{ids} | while read -r id; do {_with_id(request)}; done"


def _with_id(request: str) -> str:
    """Leave the single quotes where the id stands."""
    return request.replace("{id}", "'\"$id\"'")


def in_python(calls: tuple[Call, ...]) -> str:
    """A Python program that speaks to the engine's socket."""
    return f"python3 - <<'END'\n{_ENGINE}{chr(10).join(map(_python, calls))}\nEND"


def _python(call: Call) -> str:
    if call.each is None:
        return f"call({call.method!r}, {call.path!r}, {call.body!r})"
    body = "None" if call.body is None else f"{call.body!r}.replace('{{id}}', one['Id'])"
    return f"for one in call('GET', {call.each!r}): call({call.method!r}, {call.path!r}.replace('{{id}}', one['Id']), {body})"
