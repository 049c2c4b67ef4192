"""The types of objects that a Docker Engine keeps, by the names that checks and reports give them."""

from __future__ import annotations

from typing import Literal

ObjectType = Literal["container", "volume", "image", "network", "build cache"]
TYPES: tuple[ObjectType, ...] = ("container", "volume", "image", "network")
"""Those of which checks speak by type."""
BUILD_CACHE: Literal["build cache"] = "build cache"
"""Type and name of the build cache."""
ALL_TYPES: tuple[ObjectType, ...] = (*TYPES, BUILD_CACHE)
DANGLING = "<none>"
"""Stands for every untagged image, as in Docker's own listings."""
