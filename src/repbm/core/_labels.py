"""Labels: what users call their actions and episodes."""

from __future__ import annotations

import numpy as np

Label = int | str


def as_label(value: object) -> Label:
    """The plain label behind a NumPy or Python scalar; whole floats and booleans become whole numbers."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool | np.bool_ | int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return int(value)
    raise ValueError(f"{value!r} is neither a whole number nor text")
