"""What all figures share: their size, colors, shapes and logarithmic axes, and how they become PNG files."""

from __future__ import annotations

import math
import re
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import altair as alt
import polars as pl

Chart = Any
"""Altair's charts have no common public type."""

BLUE, BLACK, GRAY = "#0072B2", "#000000", "#666666"
_COLORS = (BLUE, "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", BLACK, "#7F7F7F")
"""These can be told apart with any kind of color vision (Okabe and Ito)."""
_SHAPES = ("circle", "square", "diamond", "triangle-up", "triangle-down", "cross", "triangle-right", "triangle-left")

_WIDTH = 800
_PADDING = 8
_TRIALS = 8
# It comes with vl-convert: the same picture on every machine.
_FONT = "Liberation Sans"

_FEWEST_TICKS = 3


def color_of(field: str, names: Sequence[str], legend: alt.Legend | None) -> alt.Color:
    """A color for each name."""
    return alt.Color(
        field, title=None, scale=alt.Scale(domain=list(names), range=_cycled(_COLORS, names)), legend=legend
    )


def shape_of(field: str, names: Sequence[str], legend: alt.Legend | None) -> alt.Shape:
    """A shape for each name."""
    return alt.Shape(
        field, title=None, scale=alt.Scale(domain=list(names), range=_cycled(_SHAPES, names)), legend=legend
    )


def _cycled(choices: Sequence[str], names: Sequence[str]) -> list[str]:
    return [choices[k % len(choices)] for k in range(len(names))]


def with_ends(value: str, low: str, high: str) -> list[pl.Expr]:
    """The columns value, low and high; an interval without ends is its value."""
    ends = (pl.col(end).fill_null(pl.col(value)).alias(name) for name, end in (("low", low), ("high", high)))
    return [pl.col(value).alias("value"), *ends]


def logarithmic(numbers: Iterable[float], most: int = 10) -> tuple[alt.Scale, alt.Axis]:
    """A scale with room for all of these numbers, and ticks as people would choose them: 3, or up to `most`."""
    shown = [number for number in numbers if number is not None and 0 < number < math.inf]
    low, high = (min(shown), max(shown)) if shown else (0.1, 10.0)
    room = max(0.04 * math.log10(high / low), 0.05)
    low, high = low / 10**room, high * 10**room
    scale = alt.Scale(type="log", domain=[low, high], nice=False, clamp=True)
    return scale, alt.Axis(values=_ticks(low, high, most), format=",~g")


def _ticks(low: float, high: float, most: int) -> list[float]:
    """1, 2 and 5 times powers of ten; the powers alone if those are too many; even steps if they are too few."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    usual = [digit * 10.0**power for power in powers for digit in (1, 2, 5) if low <= digit * 10.0**power <= high]
    if len(usual) < _FEWEST_TICKS:
        return _even_ticks(low, high)
    if len(usual) <= most:
        return usual
    inside = [power for power in powers if low <= 10.0**power <= high]
    return [10.0**power for power in inside[:: math.ceil(len(inside) / most)]]


def _even_ticks(low: float, high: float) -> list[float]:
    unit = 10.0 ** math.floor(math.log10((high - low) / _FEWEST_TICKS))
    step = max(digit * unit for digit in (1, 2, 5) if digit * unit <= (high - low) / _FEWEST_TICKS)
    return [round(k * step, 12) for k in range(math.ceil(low / step), math.floor(high / step) + 1)]


def png(draw: Callable[[int], Chart], panels: int = 1) -> bytes:
    """`draw(width)`, with panels of such a width that all is 800 dots wide; the same bytes for the same figure."""
    import vl_convert

    width, rest = _WIDTH // panels, 0
    spec = {}
    for _ in range(_TRIALS):
        padding = {"left": _PADDING, "top": _PADDING, "right": _PADDING + rest, "bottom": _PADDING}
        spec = _styled(draw(width).properties(padding=padding)).to_dict(format="vega-lite")
        # Labels take what room they need: drawn once, it is known.
        found = re.search(r'<svg[^>]* width="(\d+)"', vl_convert.vegalite_to_svg(spec))
        assert found is not None
        spare = _WIDTH - int(found[1])
        if spare == 0:
            break
        more, rest = divmod(spare + rest, panels)
        width += more
    return _compressed(vl_convert.vegalite_to_png(spec, scale=1))


def _compressed(png: bytes) -> bytes:
    """The same picture in a fraction of the bytes: vl-convert compresses fast, not well."""
    head, chunks = png[:8], list(_chunks(png))
    pixels = zlib.decompress(b"".join(content for kind, content in chunks if kind == b"IDAT"))
    others = [(kind, content) for kind, content in chunks if kind not in (b"IDAT", b"IEND")]
    parts = [*others, (b"IDAT", zlib.compress(pixels, 9)), (b"IEND", b"")]
    return head + b"".join(
        struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
        for kind, content in parts
    )


def _chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The kind and the content of every chunk after the signature of a PNG file."""
    place = 8
    while place < len(png):
        (size,) = struct.unpack(">I", png[place : place + 4])
        yield png[place + 4 : place + 8], png[place + 8 : place + 8 + size]
        place += 12 + size


def _styled(chart: Chart) -> Chart:
    return (
        chart.configure(font=_FONT, background="white")
        .configure_axis(
            labelFontSize=12,
            titleFontSize=13,
            titleFontWeight="normal",
            titlePadding=8,
            gridColor="#e6e6e6",
            labelLimit=0,
        )
        .configure_view(stroke="#999999")
        .configure_legend(labelFontSize=12, labelLimit=0, symbolStrokeWidth=1.5, titleFontSize=12)
        .configure_title(fontSize=14, fontWeight="normal", subtitleFontSize=12, subtitleColor=GRAY, offset=12)
        .configure_text(fontSize=12)
    )
