"""What a page found: ratios against limits or references of the same run, and points for charts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Figure:
    """A ratio: the less, the better. Without a limit it is only kept, and watched."""

    name: str
    ratio: float
    limit: float | None = None

    @property
    def kept(self) -> bool:
        return self.limit is None or self.ratio <= self.limit

    @property
    def line(self) -> str:
        allowed = "" if self.limit is None else f" (at most {self.limit:g}) {'ok' if self.kept else 'FALLS SHORT'}"
        return f"{self.name}: {self.ratio:.2f}{allowed}"


@dataclass(frozen=True)
class Point:
    """One mark of a chart: `series` at (x, y)."""

    chart: str
    series: str
    x: float
    y: float


@dataclass
class Sheet:
    """What one page writes on."""

    figures: list[Figure] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    """What else is to be said, in absolute terms of this machine."""

    def figure(self, name: str, ratio: float, limit: float | None = None) -> None:
        found = Figure(name, float(ratio), limit)
        self.figures.append(found)
        print(f"  {found.line}", flush=True)

    def point(self, chart: str, series: str, x: float, y: float) -> None:
        self.points.append(Point(chart, series, float(x), float(y)))

    def say(self, line: str) -> None:
        self.lines.append(line)
        print(f"  {line}", flush=True)

    def slope(self, chart: str, series: str) -> float:
        """How y grows with x between the last two points: 1 is in proportion."""
        own = [point for point in self.points if (point.chart, point.series) == (chart, series)]
        one, two = own[-2:]
        return math.log(two.y / one.y) / math.log(two.x / one.x)

    @property
    def kept(self) -> bool:
        return all(figure.kept for figure in self.figures)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Sheet:
        return cls(
            [Figure(**each) for each in stored["figures"]],
            [Point(**each) for each in stored["points"]],
            list(stored["lines"]),
        )
