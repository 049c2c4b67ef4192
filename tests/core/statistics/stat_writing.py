"""How tests look into a frozen value as a whole."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any


def written(value: Any) -> str:
    """A statistic as strict JSON, with all that is in it; ValueError where that holds NaN or an infinity."""
    return json.dumps(asdict(value), default=float, allow_nan=False)
