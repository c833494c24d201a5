"""JSON that every reader understands: it knows neither NaN nor infinity."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any


def as_json(content: Any, indent: int | None = 2) -> str:
    """The content as JSON, with null in place of numbers that are not finite."""
    separators = None if indent else (",", ":")
    return json.dumps(_plain(content), indent=indent, separators=separators, allow_nan=False)


def _plain(content: Any) -> Any:
    if isinstance(content, Mapping):
        return {str(key): _plain(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_plain(value) for value in content]
    if isinstance(content, float) and not math.isfinite(content):
        return None
    return content
