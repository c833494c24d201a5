"""Customs by which actions are chosen, ways that lead from one to another, and what they leave undone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from repbm.domains.worlds._rows import Choice, Grid, Mask, Table

Custom = Callable[[Table], Grid]
"""How probable every action is, by what is seen."""

Path = Callable[[float], Custom]
"""Customs that lead away from one: at 0 it, at 1 the farthest."""


def floored(weights: Grid, least: float) -> Grid:
    """Weights as probabilities, none below least."""
    shares = weights / weights.sum(axis=1, keepdims=True)
    return least + (1.0 - least * shares.shape[1]) * shares


def soft(scores: Callable[[Table], Grid], least: float) -> Custom:
    """The likelier the higher the score, and never less than least."""

    def custom(seen: Table) -> Grid:
        liked = scores(seen)
        return floored(np.exp(liked - liked.max(axis=1, keepdims=True)), least)

    return custom


def firm(pick: Callable[[Table], Choice], actions: int) -> Custom:
    """One action in every row."""
    return lambda seen: np.eye(actions)[pick(seen)]


def blend(one: Custom, other: Custom, share: float) -> Custom:
    """The other custom in a share of all decisions."""
    return lambda seen: (1.0 - share) * one(seen) + share * other(seen)


def toward(usual: Custom, other: Custom) -> Path:
    return lambda size: blend(usual, other, size)


def leaning(usual: Custom, wish: Callable[[Table], Grid], most: float) -> Path:
    """What is wished for becomes likelier, what is not becomes rarer; what is never done stays undone."""

    def path(size: float) -> Custom:
        def custom(seen: Table) -> Grid:
            odds = usual(seen) * np.exp(size * most * np.clip(wish(seen), -3.0, 3.0))
            return odds / odds.sum(axis=1, keepdims=True)

        return custom

    return path


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
        return np.where(there(seen)[:, None], (1.0 - share) * odds + share * np.eye(odds.shape[1])[action], odds)

    return daring
