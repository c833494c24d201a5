"""Where balancing is tried: settings of world, log and fit, varied one at a time."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from repbm.core import InputError
from repbm.core._toml import one_of, several, value, values
from repbm.experiments._objectives import checked_objective
from repbm.experiments._problems import WORLDS
from repbm.models import AM

FITS = ("paper", "residual", "precise", "tabular")
"""The published network, the residual network, polynomials in closed form, and a table."""


@dataclass(frozen=True)
class Point:
    """One setting of everything."""

    world: str = "cartpole-short"
    behavior: str = ""
    """The world whose policy, softened, makes the log; empty: the evaluated policy itself."""
    noise: float = 0.0
    episodes: int = 100
    epsilon: float = 0.2
    """The share of uniform draws in the behavior."""
    fit: str = "paper"
    units: int = 16
    """How many units the hidden layer of the network has."""

    def __post_init__(self) -> None:
        one_of(self.world, WORLDS, "world")
        one_of(self.fit, FITS, "fit")
        if self.behavior:
            one_of(self.behavior, WORLDS, "behavior")
        wrong = {
            "episodes": self.episodes < 2,
            "epsilon": not 0 < self.epsilon <= 1,
            "units": self.units < 1,
            "fit": (self.fit == "tabular") != (self.world == "tabular"),
            "noise": self.noise != 0 and self.world == "tabular",
            "behavior": bool(self.behavior) and self.world == "tabular",
        }
        for key in (key for key, bad in wrong.items() if bad):
            raise InputError(f"{key} = {getattr(self, key)!r} does not go with world = '{self.world}'")

    def against(self, other: Point) -> str:
        """What is different from another point, in words."""
        keys = [field.name for field in fields(self) if getattr(self, field.name) != getattr(other, field.name)]
        return ", ".join(f"{key} = {getattr(self, key)}" for key in keys) or "base"


_KINDS: dict[str, type] = {field.name: type(field.default) for field in fields(Point)}


@dataclass(frozen=True)
class Sweep:
    """One factor varied around a point; `models` are the objectives compared, AM among them."""

    name: str
    factor: str
    levels: tuple[Any, ...]
    around: Point
    models: tuple[str, ...]

    def points(self) -> list[Point]:
        return [replace(self.around, **{self.factor: level}) for level in self.levels]


def base_of(given: Mapping[str, Any], where: str) -> Point:
    return _point(Point(), given, where)


def sweep_of(given: Mapping[str, Any], base: Point, models: tuple[str, ...], where: str) -> Sweep:
    """The sweep that a table describes: a name, a factor, its levels, and what else differs from the base."""
    own = {"name": str, "factor": str, "levels": list, "models": list}
    found = values(given, own | _KINDS, where, ("name", "factor", "levels"))
    if not re.fullmatch(r"[a-z0-9-]+", found["name"]):
        raise InputError(f"name = '{found['name']}'", where=where, fix="use small letters, digits and hyphens")
    where = f"{where} '{found['name']}'"
    one_of(found["factor"], _KINDS, "factor", where)
    factor = found["factor"]
    around = _point(base, {key: found[key] for key in found if key in _KINDS}, where)
    levels = several(found["levels"], _KINDS[factor], factor, where)
    chosen = several(found["models"], str, "models", where) if "models" in found else models
    if not levels or AM.name not in chosen or len(chosen) < 2:
        raise InputError("nothing to compare", where=where, fix="list levels, and 'am' with other models")
    sweep = Sweep(found["name"], factor, levels, around, chosen)
    for level in levels:
        _check(_point(around, {factor: level}, where), chosen, where)
    return sweep


def _point(base: Point, changes: Mapping[str, Any], where: str) -> Point:
    given = {key: value(changes[key], _KINDS[key], key, where) for key in values(changes, _KINDS, where)}
    try:
        return replace(base, **given)
    except InputError as fault:
        raise fault.at(where) from fault


def _check(point: Point, models: tuple[str, ...], where: str) -> None:
    """Refuse to balance what has no representation: fits in closed form."""
    for objective in (checked_objective(model, where) for model in models):
        if objective.balances and point.fit in ("precise", "tabular"):
            raise InputError(
                f"fit = '{point.fit}' has no representation to balance ('{objective.name}')",
                where=where,
                fix="compare am and repbm(alpha=0) there",
            )
