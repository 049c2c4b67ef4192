"""YAML for people: one line a text, long texts as blocks, and read back by our own reader as exactly what was written."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from typing import Any

import yaml

from pytest_skilleval.core.scalars import scalar

_BLOCK = re.compile(r"(?!\s)[^\ufeff]*[^\s\ufeff]", re.DOTALL)
_TRAILING_BLANK = re.compile(r"[ \t]\n")
_ONE_LINE = 10**6
_COMMENT_WIDTH = 116


class Inline(tuple[Any, ...]):
    """A list written on one line: ``[1, 2]``."""

    __slots__ = ()


class InlineMap(dict[str, Any]):
    """A mapping written on one line: ``{container: shop-db, is: running}``."""


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, _data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002  (lists stand further in)
        return super().increase_indent(flow, False)


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = None
    if "\n" in text:
        style = "|" if _BLOCK.fullmatch(text) and not _TRAILING_BLANK.search(text) else '"'
    elif not isinstance(scalar(text), str):
        style = '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _inline(dumper: yaml.SafeDumper, values: Inline) -> yaml.SequenceNode:
    return dumper.represent_sequence("tag:yaml.org,2002:seq", values, flow_style=True)


def _inline_map(dumper: yaml.SafeDumper, values: InlineMap) -> yaml.MappingNode:
    return dumper.represent_mapping("tag:yaml.org,2002:map", values.items(), flow_style=True)


_Dumper.add_representer(str, _text)
_Dumper.add_representer(tuple, yaml.SafeDumper.represent_list)
_Dumper.add_representer(Inline, _inline)
_Dumper.add_representer(InlineMap, _inline_map)


def block(value: Mapping[str, Any] | tuple[Any, ...]) -> str:
    """A mapping or list as YAML lines."""
    written: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_ONE_LINE, default_flow_style=False)
    return written


def comment(text: str, indent: str = "") -> str:
    """`text` as comment lines, long ones wrapped."""
    wrapped = (
        part
        for line in text.split("\n")
        for part in textwrap.wrap(line, _COMMENT_WIDTH, break_long_words=False, break_on_hyphens=False) or [""]
    )
    return "".join(f"{indent}# {line}".rstrip() + "\n" for line in wrapped)


def indented(text: str, by: str) -> str:
    """Every line of `text` that is not blank, further in."""
    return "".join(f"{by}{line}" if line.strip() else line for line in text.splitlines(keepends=True))
