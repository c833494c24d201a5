"""Paper and pens for figures: sizes, colors, PNG bytes; nothing global is touched."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F")
_MARKERS = "osD^vPX*"
_WIDTH, _DOTS = 8.0, 100
"""Inches, and dots an inch: 800 dots wide."""

PAPER = {"color": "black", "marker": "D", "markersize": 6, "markerfacecolor": "none", "linestyle": "none"}
"""How published figures look."""


def pen(k: int) -> dict[str, Any]:
    """Color and marker of series k; colors that are told apart also by those who see fewer (Okabe and Ito)."""
    return {"color": _COLORS[k % len(_COLORS)], "marker": _MARKERS[k % len(_MARKERS)]}


def sheet(height: float, columns: int = 1, **sharing: Any) -> tuple[Figure, list[Axes]]:
    """An empty figure, its panels side by side."""
    # Loaded when needed: most commands draw nothing.
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_WIDTH, height), dpi=_DOTS, layout="constrained")
    panels = figure.subplots(1, columns, squeeze=False, **sharing)[0]
    for panel in panels:
        panel.grid(True, color="0.9", linewidth=0.8)
        panel.set_axisbelow(True)
    return figure, list(panels)


def png(figure: Figure) -> bytes:
    """The same bytes for the same figure."""
    buffer = BytesIO()
    figure.savefig(buffer, format="png", metadata={"Software": None})
    return buffer.getvalue()


def reach(middle: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """How far intervals reach below and above, as error bars want it; not at all where there is none."""
    return np.abs(np.stack([np.where(np.isnan(end), middle, end) for end in (low, high)]) - middle)


def column(table: pl.DataFrame, name: str) -> np.ndarray:
    """Numbers of a table, NaN where there is none."""
    return table[name].cast(pl.Float64).to_numpy().astype(float)


def plain_logarithmic(axis: Any) -> None:
    """Numbers as people write them on a logarithmic axis; for what is already drawn.

    At 1, 2 and 5 in every power of ten, or evenly where that would leave fewer than three.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    low, high = axis.get_view_interval()
    usual = [f * 10.0**k for k in range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high)))) for f in (1, 2, 5)]
    enough = sum(low <= tick <= high for tick in usual) >= 3
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)) if enough else MaxNLocator(5))
    axis.set_major_formatter(FuncFormatter(lambda number, _: f"{number:g}"))
    axis.set_minor_formatter(NullFormatter())
