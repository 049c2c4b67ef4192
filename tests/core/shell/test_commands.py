"""Which simple commands are seen in a shell line."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_skilleval.core.shell import simple_commands


def texts(line: str) -> list[str]:
    """The texts of all commands of `line`."""
    return [simple.text for simple in simple_commands(line)]


WRAPPED = [
    "docker rm x",
    "sudo docker rm x",
    "sudo -u root -E docker rm x",
    "sudo --user=root -- docker rm x",
    "sudo A=b docker rm x",
    "env A=b C=d docker rm x",
    "env -i -u HOME docker rm x",
    "env -S 'docker rm x'",
    "A=b docker rm x",
    "nohup docker rm x &",
    "timeout 5 docker rm x",
    "timeout -s KILL -k 1 5m docker rm x",
    "time docker rm x",
    "time -p docker rm x",
    "nice -n 10 docker rm x",
    "ionice -c3 docker rm x",
    "exec docker rm x",
    "command docker rm x",
    "builtin command docker rm x",
    "setsid -f docker rm x",
    "stdbuf -oL docker rm x",
    "flock /tmp/lock docker rm x",
    "watch -n 2 docker rm x",
    "watch 'docker rm x'",
    "xargs docker rm x",
    "xargs -r -n 1 -P4 docker rm x",
    "coproc docker rm x",
    "eval 'docker rm x'",
    "eval docker rm x",
    "bash -c 'docker rm x'",
    "bash -lc 'docker rm x'",
    'sh -ec "docker rm x"',
    "bash -o pipefail -c 'docker rm x'",
    "/bin/bash -lc 'docker rm x'",
    "zsh --no-rcs -c 'docker rm x'",
    "bash -c \"sh -c 'docker rm x'\"",
    "bash -c 'docker rm \"$0\"' x",
    "bash -c 'docker rm $1' _ x",
    "sudo timeout 5 env A=b nice bash -c 'docker rm x'",
    "su root -c 'docker rm x'",
    "trap 'docker rm x' EXIT",
    "bash <<EOF\ndocker rm x\nEOF",
    "bash -s <<'EOF'\ndocker rm x\nEOF",
    "sh <<-EOF\n\tdocker rm x\n\tEOF",
    "sudo bash <<< 'docker rm x'",
    "/usr/bin/docker rm x",
    "\\docker rm x",
    "'docker' \"rm\" x",
    "do''cker r\"m\" x",
    "docker \\\n  rm \\\n  x",
    "docker   rm\tx",
    "docker rm x # docker rm y",
    "docker rm x 2>/dev/null >/dev/null",
    "docker rm $'x'",
    "(docker rm x)",
    "{ docker rm x; }",
    "! docker rm x",
    "D=docker; $D rm x",
    "D='docker rm'; $D x",
    "NAME=x; docker rm ${NAME}",
    'NAME=x; docker rm "$NAME"',
    "for name in x; do docker rm $name; done",
    "X=$(docker rm x)",
    "export X=`docker rm x`",
    "Y=(a $(docker rm x))",
    "[[ -n $(docker rm x) ]]",
    "case a in a) docker rm x;; esac",
    "clean() { docker rm x; }",
    "function clean { docker rm x; }",
    "while docker rm x; do true; done",
    "docker --context prod rm x",
    "docker --context=prod rm x",
    "docker -c prod rm x",
    "docker -H tcp://far:2375 rm x",
    "docker -Htcp://far:2375 rm x",
    "docker --host=unix:///a.sock -D --config /c -l debug rm x",
    "docker --tls --tlsverify=true --tlscacert ca --tlskey k rm x",
]


@pytest.mark.parametrize("line", WRAPPED)
def test_a_command_is_seen_through_every_wrapper(line: str) -> None:
    """Whatever only starts another command is taken off, and what it starts is seen."""
    assert [text for text in texts(line) if text != "true"] == ["docker rm x"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("a && b || c; d | e & f\ng", ["a", "b", "c", "d", "e", "f", "g"]),
        ("if a; then b; elif c; then d; else e; fi", ["a", "b", "c", "d", "e"]),
        ("until a; do b; done; select x in 1 2; do c; done", ["a", "b", "c"]),
        ("docker rm $(docker ps -aq)", ["docker rm $(docker ps -aq)", "docker ps -aq"]),
        ('docker rm "a$(docker ps -q)b"', ["docker rm a$(docker ps -q)b", "docker ps -q"]),
        ("docker rm `docker ps -q`", ["docker rm `docker ps -q`", "docker ps -q"]),
        ("diff <(docker ps) <(docker images)", ["diff <(docker ps) <(docker images)", "docker ps", "docker images"]),
        ("echo ${x:-$(docker rm y)}", ["echo ${x:-$(docker␣rm␣y)}", "docker rm y"]),
        ("docker ps -aq | xargs -I{} sh -c 'docker rm {}'", ["docker ps -aq", "docker rm {}"]),
        (
            "find . -name 'a b' -exec docker rm {} \\; -exec ls {} +",
            ["find . -name a b -exec docker rm {} ; -exec ls {} +", "docker rm {}", "ls {}"],
        ),
        ("cat <<EOF | sudo sh\ndocker rm x\nEOF", ["cat", "docker rm x"]),
        ("cat <<EOF\n$(docker rm x)\nEOF", ["cat", "docker rm x"]),
        ("echo 'docker rm x' | bash -x", ["echo docker␣rm␣x", "docker rm x"]),
        ("cd /tmp && cat <<EOF | sh\ndocker rm x\nEOF", ["cd /tmp", "cat", "docker rm x"]),
        ("cd /tmp && bash <<EOF\ndocker rm x\nEOF", ["cd /tmp", "docker rm x"]),
        ("printf '%s\\n' 'docker rm x' 'docker rm y' | sh", ["printf %s\\n␣docker␣rm␣x␣docker␣rm␣y", "docker rm x", "docker rm y"]),
        ("echo -e 'docker rm x\\ndocker rm y' | sh", ["echo -e␣docker␣rm␣x\\ndocker␣rm␣y", "docker rm x", "docker rm y"]),
        ("printf 'docker rm x\\ndocker rm y' | sh", ["printf docker␣rm␣x\\ndocker␣rm␣y", "docker rm x", "docker rm y"]),
        ("D=a; D=b; docker rm $D", ["docker rm b"]),
        ("for c in a b; do docker rm $c; done", ["docker rm {a,b}"]),
        ("for c in a $X; do docker rm $c; done", ["docker rm $c"]),
        ("docker exec db sh -c 'rm -rf /data'", ["docker exec db sh -c rm -rf /data", "rm -rf /data"]),
        ("docker-compose -f a.yml -p x down -v", ["docker-compose down -v"]),
        ("docker compose -f a.yml --profile x down -v", ["docker compose down -v"]),
        ("docker compose --dry-run down", ["docker compose --dry-run down"]),
        ("docker system prune --help", ["docker help system prune"]),
        ("docker compose down --help", ["docker help compose down"]),
        ("docker run --rm alpine ls --help", ["docker run --rm alpine ls --help"]),
        ("command -v docker; sudo -l docker", ["command -v docker", "sudo -l docker"]),
        ("bash clean.sh a", ["bash clean.sh a"]),
        ("xargs", ["xargs"]),
        ("A=1", []),
        ("", []),
        ("  # docker rm x", []),
    ],
)
def test_the_commands_of_a_line(line: str, expected: list[str]) -> None:
    """Every simple command is listed in source order, in one spelling."""
    assert texts(line) == expected


@pytest.mark.parametrize(
    "line",
    [
        'echo "docker system prune"',
        "echo docker system prune",
        "printf 'run: docker system prune\\n'",
        "# docker system prune",
        "true # docker system prune",
        "grep -rn 'docker system prune' .",
        "git commit -m 'never docker system prune'",
        "man docker system prune",
        "docker system prune --help",
        "docker help system prune",
        "cat <<'EOF' > notes.md\ndocker system prune\nEOF",
    ],
)
def test_a_mention_is_no_command(line: str) -> None:
    """Comments, printed text, quoted arguments of searches and calls for help don't match a command pattern."""
    assert not [text for text in texts(line) if re.search(r"docker\s+system\s+prune", text)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('docker rm "unfinished', "docker rm unfinished"),
        ("if true; then docker rm x", "docker rm x"),
        ("docker ps ) docker rm x", "docker rm x"),
        ("for a in; docker rm x; (", "docker rm x"),
        ("docker rm x <<EOF\nnever closed", "docker rm x"),
    ],
)
def test_broken_syntax_still_shows_its_commands(line: str, expected: str) -> None:
    """What can be seen of a broken line is listed."""
    assert expected in texts(line)


def test_commands_of_broken_or_computed_lines_are_uncertain() -> None:
    """Certain means: the syntax is whole and the program's name is known."""
    assert [simple.certain for simple in simple_commands("docker rm x")] == [True]
    assert not any(simple.certain for simple in simple_commands("docker rm x )"))
    assert [simple.certain for simple in simple_commands("$TOOL rm x")] == [False]


def test_context_of_a_command_is_told() -> None:
    """Substitutions, shells inside containers and redirected files are marked."""
    outer, inner = simple_commands("docker rm $(docker ps -q)")
    assert (outer.nested, inner.nested) == (False, True)
    outer, inner = simple_commands("docker exec db bash -lc 'rm x'")
    assert (outer.inside, inner.inside) == (False, True)
    (read,) = simple_commands("cat < 'SKILL.md' > out 2>&1")
    assert read.reads == ("SKILL.md",)


@settings(deadline=None)
@given(st.text(max_size=200) | st.text(alphabet=" \n'\"`$(){}|&;<>\\#ab-=", max_size=60))
def test_no_text_makes_it_raise(line: str) -> None:
    """Any text gives a tuple of commands with a program each."""
    assert all(simple.words and simple.program for simple in simple_commands(line))


@settings(deadline=None)
@given(st.lists(st.text(st.characters(exclude_characters="\0\r", exclude_categories=["Cs", "Cc"]), max_size=12), max_size=6))
def test_quoting_round_trips(arguments: list[str]) -> None:
    """Words that the shell's own quoting protects come back unchanged."""
    words = ("tool", *arguments)
    (simple,) = simple_commands(shlex.join(words))
    assert simple.words == words


@settings(deadline=None)
@given(st.sampled_from(WRAPPED), st.sampled_from(WRAPPED), st.sampled_from(["; ", "\n"]))
def test_lists_are_the_sum_of_their_parts(left: str, right: str, separator: str) -> None:
    """Two whole lines written one after the other give both their commands."""
    if "#" not in left and "EOF" not in left and "\\\n" not in left and "&" not in left and "=" not in left:
        assert texts(left + separator + right) == texts(left) + texts(right)


@pytest.mark.parametrize(
    "line",
    [
        "(" * 3000 + "docker rm x" + ")" * 3000,
        "$(" * 3000,
        "bash -c '" * 50,
        "a;" * 100_000,
        '"' * 9999,
        "eval " * 5000 + "a",
        "{" * 5000,
        "sudo " * 20_000 + "a",
    ],
)
def test_hostile_lines_are_cut_at_a_bound(line: str) -> None:
    """Deep nesting and endless lists neither exhaust the stack nor take seconds."""
    start = time.process_time()
    assert len(simple_commands(line)) <= 2000
    assert time.process_time() - start < 5


def test_characters_that_no_table_holds_do_not_end_the_process() -> None:
    """The grammar's scanner asks C's tables about every character; a line with ones far beyond them is read like any other."""
    line = "[\n0\t*\\\x00\u022a*\U00099a8e{\U000fd8a9\x1c\uf1c3\n' [\ue889|<~\u01b0-"
    code = "import sys\nfrom pytest_skilleval.core.shell import simple_commands\nprint(len(simple_commands(eval(sys.argv[1]))))"
    done = subprocess.run([sys.executable, "-c", code, ascii(line)], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("word", ["Räum", "日本語", "🚢", "a\u00a0b", "ÿàààààà", "\U0010ffff"])
def test_words_beyond_ascii_come_back_as_they_were(word: str) -> None:
    """To a shell they are mere letters, in and out of quotes, behind a backslash, and in a variable."""
    (command,) = simple_commands(f"x={word} && echo {word} '{word}' \"${{x}}{word}\" \\{word} <<< {word}")
    assert command.words == ("echo", word, word, word * 2, word)
