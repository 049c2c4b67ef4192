"""One spelling for each Docker command: the program's name without its path, global flags taken away."""

from __future__ import annotations

DOCKER = frozenset({"docker", "docker-compose", "podman", "nerdctl"})

_GLOBAL_VALUES = frozenset({"--config", "-c", "--context", "-H", "--host", "-l", "--log-level", "--tlscacert", "--tlscert", "--tlskey"})
_GLOBAL_PLAIN = frozenset({"-D", "--debug", "--tls", "--tlsverify"})
_COMPOSE_VALUES = frozenset(
    {"-f", "--file", "-p", "--project-name", "--profile", "--env-file", "--project-directory", "--parallel", "--ansi", "--progress"}
)
_COMPOSE_PLAIN = frozenset({"--compatibility", "--all-resources", "--verbose", "--no-ansi"})
_TAKES_FOREIGN_WORDS = frozenset({"run", "exec", "create", "compose", "buildx", "build", "plugin", "sbx", "agent"})
_HELP = "--help"


def normal_docker(words: tuple[str, ...]) -> tuple[str, ...]:
    """A Docker command line without global flags, so that ``docker -H tcp://x system prune`` reads ``docker system prune``.

    A call for help does nothing: ``docker system prune --help`` reads ``docker help system prune``. ``docker compose``'s own
    global flags go as well, except ``--dry-run``, which must stay visible between ``compose`` and the verb.
    """
    program, rest = words[0], words[1:]
    if program == "docker-compose":
        return (program, *_without(rest, _COMPOSE_VALUES, _COMPOSE_PLAIN))
    rest = _without(rest, _GLOBAL_VALUES, _GLOBAL_PLAIN)
    if rest[:1] == ("compose",):
        rest = ("compose", *_without(rest[1:], _COMPOSE_VALUES, _COMPOSE_PLAIN))
    if _asks_for_help(rest):
        return (program, "help", *(word for word in rest if word != _HELP))
    return (program, *rest)


def _without(words: tuple[str, ...], values: frozenset[str], plain: frozenset[str]) -> tuple[str, ...]:
    index = 0
    while index < len(words) and words[index].startswith("-"):
        flag = words[index]
        name = flag.partition("=")[0]
        if flag in plain or (name in plain and "=" in flag) or (name in values and "=" in flag):
            index += 1
        elif flag in values:
            index += 2
        elif not flag.startswith("--") and flag[:2] in values:
            index += 1
        else:
            break
    return words[index:]


def _asks_for_help(words: tuple[str, ...]) -> bool:
    if _HELP not in words:
        return False
    verbs = words[: words.index(_HELP)]
    foreign = _TAKES_FOREIGN_WORDS.intersection(verbs[:2])
    return not foreign or (all(not word.startswith("-") for word in verbs) and len(verbs) <= (2 if "compose" in verbs else 1))
