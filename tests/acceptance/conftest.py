"""The fixture of the acceptance tests."""

from acceptance_project import project

__all__ = ["project"]
