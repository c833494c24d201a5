"""What the worlds of the sixth exam have in common: types, customs, and policies as far off as logs allow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from jaxtyping import Bool, Float, Int

from repbm.domains.worlds._world import World

Table = Float[np.ndarray, "batch columns"]
Vector = Float[np.ndarray, " batch"]
Mask = Bool[np.ndarray, " batch"]
Choice = Int[np.ndarray, " batch"]
Grid = Float[np.ndarray, "batch actions"]
Moved = tuple[Table, Vector, Mask]
"""The next states, the rewards, and where the world is over."""

Custom = Callable[[Table], Grid]
"""How probable every action is, by what is seen."""

Pick = Callable[[Table], Choice]
Path = Callable[[float], Custom]
"""Customs that lead away from one: at 0 it, or what is nearest to it; at 1 the farthest."""

_LOGS, _EPISODES = 3, 1000
_SIZES = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.42, 0.35, 0.28, 0.22, 0.17, 0.13, 0.09, 0.06, 0.04, 0.02)


def whole(generator: np.random.Generator, low: int, high: int) -> int:
    """From low to high, both included."""
    return int(generator.integers(low, high + 1))


def flip(generator: np.random.Generator, odds: float = 0.5) -> bool:
    return bool(generator.random() < odds)


def rise(x: np.ndarray) -> np.ndarray:
    """From 0 to 1, logistic."""
    return 1.0 / (1.0 + np.exp(-np.clip(x, -40.0, 40.0)))


def occurs(odds: Vector, noise: np.random.Generator) -> Mask:
    return noise.random(len(odds)) < odds


def table(*columns: np.ndarray) -> Table:
    return np.column_stack([np.asarray(column, dtype=np.float64) for column in columns])


def no_end(states: Table) -> Mask:
    return np.zeros(len(states), dtype=bool)


def codes(column: Vector) -> Choice:
    """A column of whole numbers as such."""
    return np.rint(column).astype(np.int64)


def chosen(values: Grid, taken: Choice) -> Vector:
    """Of every row what belongs to its action."""
    return values[np.arange(len(taken)), taken]


def soft(scores: Callable[[Table], Grid], least: float, allowed: Callable[[Table], Mask] | None = None) -> Custom:
    """The likelier the higher the score, and never less than least; the last action only where it is allowed."""

    def custom(seen: Table) -> Grid:
        liked = scores(seen)
        if allowed is not None:
            liked = liked.copy()
            liked[~allowed(seen), -1] = -np.inf
        weights = np.exp(liked - liked.max(axis=1, keepdims=True))
        open_to = weights > 0.0
        weights = weights / weights.sum(axis=1, keepdims=True)
        return np.where(open_to, least + (1.0 - least * open_to.sum(axis=1, keepdims=True)) * weights, 0.0)

    return custom


def firm(pick: Pick, actions: int) -> Custom:
    """One action in every row."""
    return lambda seen: np.eye(actions)[pick(seen)]


def loose(pick: Pick, actions: int, sure: float) -> Custom:
    """One action in most cases, in the others any of the rest."""
    around = np.where(np.eye(actions, dtype=bool), sure, (1.0 - sure) / (actions - 1))
    return lambda seen: around[pick(seen)]


def never_there(custom: Custom, action: int, there: Callable[[Table], Mask]) -> Custom:
    """The custom, but that an action is never taken in a region: the others share what it had."""

    def kept(seen: Table) -> Grid:
        odds = custom(seen).copy()
        odds[there(seen), action] = 0.0
        return odds / odds.sum(axis=1, keepdims=True)

    return kept


def instead_there(custom: Custom, action: int, there: Callable[[Table], Mask], share: float) -> Custom:
    """The custom, but that an action is taken in a share of all cases of a region."""

    def daring(seen: Table) -> Grid:
        odds = custom(seen)
        sure = np.eye(odds.shape[1])[action]
        return np.where(there(seen)[:, None], (1.0 - share) * odds + share * sure, odds)

    return daring


def toward(usual: Custom, other: Custom) -> Path:
    """The other custom in a share of all decisions."""
    return lambda size: lambda seen: (1.0 - size) * usual(seen) + size * other(seen)


def leaning(usual: Custom, wish: Callable[[Table], Grid], most: float) -> Path:
    """What is wished for becomes likelier, what is not becomes rarer; what is never done stays undone."""

    def path(size: float) -> Custom:
        def custom(seen: Table) -> Grid:
            odds = usual(seen) * np.exp(size * most * wish(seen))
            return odds / odds.sum(axis=1, keepdims=True)

        return custom

    return path


def tuned(world: World, path: Path, generator: np.random.Generator, low: float, high: float) -> World:
    """Asks about what is farthest on a path and yet leaves, of a log, a share that is drawn by its logarithm.

    The share is the effective one, of weights of whole episodes, and the least that some logs of 1,000 have.
    """
    target = float(np.exp(generator.uniform(np.log(low), np.log(high))))
    noise = np.random.default_rng(int(generator.integers(1 << 31)))
    log, _ = replace(world, lost=None, propensities=True).log(_LOGS * _EPISODES, noise)
    taken, usual = np.asarray(log.actions.codes), np.asarray(log.behavior)

    def left(size: float) -> float:
        ratios = chosen(path(size)(log.observations), taken) / usual
        weights = np.multiply.reduceat(ratios, log.offsets[:-1]).reshape(_LOGS, _EPISODES)
        shares = weights.sum(axis=1) ** 2 / np.maximum((weights**2).sum(axis=1), 1e-12) / _EPISODES
        return float(shares.min())

    size = next((size for size in _SIZES if left(size) >= target), 0.0)
    return replace(world, policy=path(size))
