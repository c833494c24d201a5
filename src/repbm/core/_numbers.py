"""Numbers as people read them."""

from __future__ import annotations


def number(value: float | None, signed: bool = False) -> str:
    """Four significant digits, without needless exponents; a dash for nothing."""
    if value is None:
        return "-"
    if signed and value > 0:
        return f"+{number(value)}"
    if value != 0 and not 1e-4 <= abs(value) < 1e6:
        return f"{value:.3e}"
    digits = max(0, 3 - len(str(int(abs(value)))) + 1) if abs(value) >= 1 else 4
    return f"{value:.{digits}f}"


_LARGE = ((1e6, "million"), (1e9, "billion"), (1e12, "trillion"))


def in_words(value: float | None, signed: bool = False) -> str:
    """The same for people alone: 2.4 billion, where a program would read 2.4e9, and 0 without digits."""
    if value == 0:
        return "0"
    for large, word in _LARGE:
        if value is not None and large <= abs(value) < 1000 * large:
            return f"{'+' if signed and value > 0 else ''}{value / large:.4g} {word}"
    return number(value, signed)
