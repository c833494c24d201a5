"""Numbers as people read them."""

from __future__ import annotations

_LARGE = ((1e6, "million"), (1e9, "billion"), (1e12, "trillion"))


def number(value: float | None, signed: bool = False) -> str:
    """Four significant digits, without needless exponents; a dash for nothing."""
    if value is None:
        return "-"
    if signed and value > 0:
        return f"+{number(value)}"
    for large, word in _LARGE:
        if large <= abs(value) < 1000 * large:
            return f"{value / large:.4g} {word}"
    if value != 0 and not 1e-4 <= abs(value) < 1e6:
        return f"{value:.3e}"
    digits = max(0, 3 - len(str(int(abs(value)))) + 1) if abs(value) >= 1 else 4
    return f"{value:.{digits}f}"
