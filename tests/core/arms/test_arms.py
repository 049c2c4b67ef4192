"""What an arm installs."""

from __future__ import annotations

import io
import tarfile

from hypothesis import given
from hypothesis import strategies as st

from pytest_skilleval.core import arms
from pytest_skilleval.core.contrasts import installs
from pytest_skilleval.core.loaded import Skill
from pytest_skilleval.core.ports import SandboxFile
from pytest_skilleval.core.spec import Arm, Sham


def skill(name: str, body: str = "# Body\nText.\n") -> Skill:
    """A skill with a second file that may be executed."""
    text = f"---\nname: {name}\ndescription: About {name}.\n---\n{body}".encode()
    return Skill(id=name, name=name, description=f"About {name}.", body=body, files={"SKILL.md": (0o600, text), "a/b.sh": (0o700, b"x")})


CATALOGUE = {name: skill(name) for name in ("one", "two", "three")}


def test_exclude_takes_exactly_the_named_skills_away() -> None:
    """The rest of the catalogue stays, byte for byte."""
    shown = arms.installed_skills(Arm(role="baseline", exclude=("two",)), "two", CATALOGUE)

    assert shown == {"one": CATALOGUE["one"], "three": CATALOGUE["three"]}


def test_exclude_all_installs_nothing() -> None:
    """The bare arm has no catalogue at all."""
    assert arms.installed_skills(Arm(role="reference", exclude="all"), "two", CATALOGUE) == {}
    assert not installs(Arm(role="reference", exclude="all"), "two")


@given(st.text(min_size=1, max_size=300), st.sampled_from(["real", "neutral"]), st.sampled_from(["real", "inert"]))
def test_a_sham_has_the_length_of_the_real_skill(body: str, description: str, kind: str) -> None:
    """Length can't be what makes the difference between skill and sham."""
    real = skill("two", body)

    sham = arms.sham_of(real, Sham.model_validate({"description": description, "body": kind}))

    assert (len(sham.description), len(sham.body)) == (len(real.description), len(real.body))
    assert (sham.description == real.description) == (description == "real")
    assert sham.files["SKILL.md"][1].decode().endswith(sham.body)


files = st.lists(
    st.builds(SandboxFile, path=st.from_regex(r"[a-z]{1,5}(/[a-z]{1,5}){0,3}", fullmatch=True), content=st.binary(max_size=40)),
    unique_by=lambda file: file.path,
    max_size=6,
).filter(lambda made: not any(other.path.startswith(f"{file.path}/") for file in made for other in made))


@given(files, st.randoms())
def test_the_tarball_is_the_same_whatever_the_order(made: list[SandboxFile], random: object) -> None:
    """Same files, same bytes: so its hash tells what an arm installed."""
    shuffled = list(made)
    random.shuffle(shuffled)  # type: ignore[attr-defined]

    archive = arms.tarball(shuffled)

    assert archive == arms.tarball(made)
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        content = {entry.name: opened.extractfile(entry) for entry in opened if entry.isfile()}
    assert {name: file.read() for name, file in content.items() if file} == {file.path: file.content for file in made}


def test_installed_files_are_readable_by_the_agent_whatever_the_checkout_says() -> None:
    """A skill with mode 0600 in the repository is still a skill inside."""
    modes = {file.path: file.mode for file in arms.skills_as_files({"one": skill("one")}, ".claude/skills")}

    assert modes == {".claude/skills/one/SKILL.md": 0o644, ".claude/skills/one/a/b.sh": 0o744}
