"""The plan as a pure value."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from front_specs import CASE, SPEC
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from pytest_skilleval.core.choosing import agents_with_models, choose, same_model, slugs
from pytest_skilleval.core.errors import UsageProblem
from pytest_skilleval.core.estimates import ASSUMED, Pace, estimate
from pytest_skilleval.core.loaded import LoadedSpec
from pytest_skilleval.core.loading import load_spec
from pytest_skilleval.core.plan import Plan, Row
from pytest_skilleval.core.planning import Nothing, Request, make_plan

AGENTS = ("claude-code", "codex", "scripted")
SIX = tuple(CASE.format(id=f"case-{number}", check="reply: 'yes'") for number in range(6))


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> LoadedSpec:
    """A spec with six cases, three paraphrases each."""
    root = tmp_path_factory.mktemp("planning")
    return write(root, "tidy-up", SIX)


def write(root: Path, skill: str, cases: tuple[str, ...]) -> LoadedSpec:
    """Write a spec with its skill, and load it."""
    (root / f"catalogue/{skill}").mkdir(parents=True)
    (root / f"catalogue/{skill}/SKILL.md").write_text(f"---\nname: {skill}\ndescription: How to tidy up.\n---\nTidy up with care.\n")
    (root / skill).mkdir()
    path = root / skill / "spec.yaml"
    path.write_text(SPEC.format(skill=skill, agent="claude-code") + "".join(cases))
    return load_spec(path)


def draws(plan: Plan) -> dict[tuple[str, int], set[tuple[object, ...]]]:
    """What was drawn for each repeat of each case."""
    found: dict[tuple[str, int], set[tuple[object, ...]]] = {}
    for row in plan.rows:
        found.setdefault((row.case, row.repeat), set()).add((row.paraphrases, row.skin))
    return found


seeds = st.integers(min_value=0, max_value=2**32)


@given(seed=seeds, repeats=st.integers(1, 4))
@settings(max_examples=25, deadline=None)
def test_blocks(loaded, seed, repeats):
    """A block holds every arm of one repeat of one case once, stands together, and shares its draws; ids are unique."""
    plan = make_plan([loaded], Request(random_seed=seed, repeats=repeats))
    assert [row.index for row in plan.rows] == list(range(6 * 2 * repeats))
    blocks = [list(rows) for _, rows in itertools.groupby(plan.rows, key=lambda row: row.block)]
    assert [rows[0].block for rows in blocks] == list(range(6 * repeats))
    for rows in blocks:
        assert sorted(row.arm for row in rows) == ["with", "without"]
        assert len({(row.case, row.repeat, row.paraphrases, row.skin) for row in rows}) == 1
    assert len({row.run_id for row in plan.rows}) == len({(row.case, row.label) for row in plan.rows}) == len(plan.rows)


@given(seed=seeds)
@settings(max_examples=25, deadline=None)
def test_draws_do_not_depend_on_what_else_is_run(loaded, seed):
    """Another agent, arm or case changes no draw of the others, and not the order in which they stand."""
    whole = make_plan([loaded], Request(random_seed=seed, agents=("claude-code", "codex")))
    part = make_plan([loaded], Request(random_seed=seed, agents=("codex",), cases=("case-1", "case-4"), arms=("with",)))
    assert all(len(drawn) == 1 for drawn in draws(whole).values())
    assert draws(part).items() <= draws(whole).items()
    chosen = {row.run_id for row in part.rows}
    assert [row.run_id for row in whole.rows if row.run_id in chosen] == [row.run_id for row in part.rows]


def test_every_paraphrase_before_any_twice(loaded):
    """Over as many repeats as there are paraphrases, each is drawn once."""
    plan = make_plan([loaded], Request(random_seed=3, repeats=6))
    for case in range(6):
        drawn = [next(iter(draws(plan)[f"case-{case}", repeat]))[0][0] for repeat in range(1, 7)]
        assert sorted(drawn[:3]) == sorted(drawn[3:]) == [0, 1, 2]


def test_the_order_is_random(loaded):
    """Different random seeds give different orders of blocks and of arms within them."""
    plans = [make_plan([loaded], Request(random_seed=seed)) for seed in range(8)]
    assert len({tuple(row.run_id for row in plan.rows) for plan in plans}) == 8
    assert {plan.rows[0].arm for plan in plans} == {"with", "without"}


def test_the_plan_is_known(loaded):
    """The first rows of one plan, written down: the same on every machine and Python."""
    plan = make_plan([loaded], Request(random_seed=7, repeats=1))
    assert [row.run_id for row in plan.rows[:4]] == KNOWN


KNOWN = [
    "case-4.with.claude-code.default.r1",
    "case-4.without.claude-code.default.r1",
    "case-1.with.claude-code.default.r1",
    "case-1.without.claude-code.default.r1",
]


def test_several_specs_share_one_order(tmp_path):
    """Blocks of several specs are interleaved, and each spec's part keeps its places."""
    specs = [write(tmp_path / name, name, SIX) for name in ("tidy-up", "mop-up")]
    plan = make_plan(specs, Request(random_seed=1))
    assert plan.skills == ("mop-up", "tidy-up")
    assert len(list(itertools.groupby(row.skill for row in plan.rows))) > 4
    part = plan.of("mop-up")
    assert part.rows == tuple(row for row in plan.rows if row.skill == "mop-up")
    assert set(part.locks) == {"mop-up"}


def test_nothing_to_run(tmp_path):
    """An empty selection says why."""
    draft = SIX[0].replace("kind: outcome", "kind: outcome\n    draft: true")
    with pytest.raises(Nothing, match="draft"):
        make_plan([write(tmp_path, "tidy-up", (draft,))], Request())


def test_keeping_rows(loaded):
    """Rows that are left out keep their first reason."""
    plan = make_plan([loaded], Request(random_seed=1))
    first = plan.rows[0]
    once = plan.keep({first.key}, "first")
    twice = once.keep(set(), "second")
    assert once.selected == (first,)
    assert once.partial
    assert {row.reason for row in twice.rows} == {"first", "second"}
    assert [row.reason for row in twice.rows].count("second") == 1


@pytest.mark.parametrize(
    ("agents", "models", "pairs"),
    [
        (["codex"], [], [("codex", "default")]),
        (["claude-code", "codex"], ["opus", "codex:gpt-5"], [("claude-code", "opus"), ("codex", "opus"), ("codex", "gpt-5")]),
        (["codex:gpt-5", "claude-code"], [], [("codex", "gpt-5"), ("claude-code", "default")]),
        (["codex"], ["qwen3:8b"], [("codex", "qwen3:8b")]),
    ],
)
def test_agents_with_models(agents, models, pairs):
    """``agent:model`` binds a model where the prefix is an agent; other colons belong to the model."""
    assert agents_with_models(agents, models, AGENTS) == tuple(pairs)


def test_a_model_for_an_agent_that_is_not_run():
    """A model bound to an agent that is not run is refused."""
    with pytest.raises(UsageProblem, match="'codex:gpt-5' is for an agent that is not run"):
        agents_with_models(["claude-code"], ["codex:gpt-5"], AGENTS)


@given(st.lists(st.text(min_size=1, max_size=80), max_size=6))
def test_slugs(names):
    """Slugs are safe for folders, short, and never shared, not even where case is ignored."""
    found = slugs(names)
    assert set(found) == set(names)
    assert len({slug.lower() for slug in found.values()}) == len(found)
    assert all(
        set(slug) <= set("abcdefghijklmnopqrstuvwxyz0123456789._-") and len(slug) <= 60 and slug[0] not in ".-" for slug in found.values()
    )


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("claude-haiku-4-5", "claude-haiku-4-5-20251001", True),
        ("anthropic/claude-haiku-4-5", "claude-haiku-4-5-latest", True),
        ("claude-haiku-4-5@20251001", "Claude-Haiku-4-5", True),
        ("claude-haiku-4-5", "claude-sonnet-4-5", False),
        ("gpt-5", "gpt-5-mini", False),
    ],
)
def test_same_model(one, other, same):
    """Provider, date and -latest don't make it another model; another size does."""
    assert same_model(one, other) is same


def test_choosing():
    """Ids, globs and `all` keep the order of what there is; all unknown ones are told at once."""
    known = ("alpha", "beta", "beta-2")
    assert choose(["beta*", "alpha"], known, what="skill", option="--x") == known
    assert choose(["all"], known, what="skill", option="--x") == known
    with pytest.raises(UsageProblem, match=r"(?s)no skill 'alhpa'.*alpha.*no skill 'zz\*'"):
        choose(["alhpa", "zz*"], known, what="skill", option="--x")


ROW = Row(
    index=0,
    run_id="c.a.codex.default.r1",
    skill="s",
    case="c",
    kind="outcome",
    arm="a",
    agent="codex",
    model="default",
    repeat=1,
    block=0,
)


def test_estimate():
    """Time is shared by workers, money is not."""
    pace = {"codex": Pace(seconds=10.0, usd=0.5, sandbox=2.0)}
    found = estimate([ROW] * 4, {("s", "c"): 2}, workers=2, pace=pace)
    assert (found.seconds, found.usd) == (44.0, 4.0)
    assert set(ASSUMED) == set(AGENTS)


def test_estimate_of_a_scripted_model():
    """A real agent with the scripted model waits for nobody to think, and costs nothing."""
    asked, scripted = (estimate([row], {("s", "c"): 1}, workers=1) for row in (ROW, replace(ROW, model="scripted")))
    assert scripted.seconds < asked.seconds / 5
    assert scripted.usd == 0
