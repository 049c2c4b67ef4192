"""The JSON Schema that is shipped for editors."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml
from spec_builder import SPEC

from pytest_skilleval.core.schema import SCHEMA_FILE, schema_text

SPECS = Path(__file__).parents[3] / "specs"
VALIDATOR = jsonschema.Draft202012Validator(json.loads(SCHEMA_FILE.read_text(encoding="utf-8")))


def test_schema_is_up_to_date() -> None:
    """The shipped file is what the model generates (else: call ``pytest_skilleval.core.schema.write_schema()``)."""
    assert SCHEMA_FILE.read_text(encoding="utf-8") == schema_text()


def test_schema_is_a_schema() -> None:
    """The shipped file is itself valid."""
    jsonschema.Draft202012Validator.check_schema(VALIDATOR.schema)


@pytest.mark.parametrize("path", sorted(SPECS.glob("*/spec.yaml")), ids=lambda path: path.parent.name)
def test_our_specs_fit(path: Path) -> None:
    """Every spec of this repository fits the schema."""
    VALIDATOR.validate(yaml.safe_load(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("summary:", "sumary:"),
        ("id: cleanup", "id: Clean Up"),
        ("of: executed", "reply: x"),
        ("prompt: Yes, the stopped ones.", "prompt: a\n        prompts: [b]"),
        ("exclude: [careful-docker], guard", "exclude: none, guard"),
        ("[[without, with]]", "[[without]]"),
    ],
)
def test_schema_refuses(old: str, new: str) -> None:
    """What the loader refuses for its shape, an editor marks as well."""
    VALIDATOR.validate(yaml.safe_load(SPEC))
    assert not VALIDATOR.is_valid(yaml.safe_load(SPEC.replace(old, new, 1)))
