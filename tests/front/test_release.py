"""A release: held-out cases run, and the plan says so for good."""

from __future__ import annotations


def test_the_plan_remembers_that_it_is_a_release(project):
    """The report of a results folder takes the stricter interval whenever it is made, for the plan says that it was a release."""
    project.spec()
    project.evaluate("--skill-release", "--skill-repeats=1", "--skill-case=one")
    assert project.plan()["release"] is True
