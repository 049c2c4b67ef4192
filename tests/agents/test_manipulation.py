"""What a listing shows is held against the arm."""

from __future__ import annotations

from pytest_skilleval.core import manipulation, model_requests

LISTING = """<system-reminder>
The following skills are available for use with the Skill tool:

- first: Does one thing.
  And another.
- second
- third: Cut in the mid
- own:part: The CLI's own.
</system-reminder>"""
SHOWN = model_requests.shown({"messages": [{"role": "user", "content": [{"type": "text", "text": LISTING}]}]})
TOLD = {"first": "Does one thing. And another.", "second": "Does more.", "third": "Cut in the middle."}


def test_an_entry_that_is_a_name_alone_is_listed() -> None:
    """A skill whose description fell out of the budget is still shown by name."""
    assert [(skill.name, skill.description.split("\n")[0]) for skill in SHOWN.skills] == [
        ("first", "Does one thing."),
        ("second", ""),
        ("third", "Cut in the mid"),
        ("own:part", "The CLI's own."),
    ]


def test_a_shortened_description_is_told_and_no_violation() -> None:
    """What the CLI does to every user's listing does not void the run, but it is known."""
    found = manipulation.check(SHOWN, installed=TOLD)

    assert (found.violations, found.shortened, found.others) == ((), ("second", "third"), ("own:part",))


def test_a_changed_description_voids() -> None:
    """Other words than the arm's are not the arm."""
    (violation,) = manipulation.check(SHOWN, installed=TOLD | {"first": "Does nothing."}).violations

    assert violation.startswith("the description of skill first is shown changed")
