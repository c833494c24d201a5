"""Kinds of behavior, compared on held-out steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Int

from repbm.core import BehaviorRules
from repbm.policies._behavior_kinds import Chances, Kind
from repbm.policies._calibration import Calibration, log_likelihoods


@dataclass(frozen=True, eq=False)
class Candidate:
    """A kind of behavior, and what it is told of every step."""

    kind: Kind
    x: Float[np.ndarray, "steps features"]
    states: Float[np.ndarray, "states dimensions"] | None = None
    """The states behind the numbers that a table is told; None where observations are looked at."""


@dataclass(frozen=True, eq=False)
class Told:
    """What a kind says of every step, fitted without its fold, and what it learned without each fold."""

    guessed: Float[np.ndarray, "steps actions"]
    pieces: Mapping[int, Chances]


@dataclass
class Trial:
    """Kinds, one after the other; one that falls far behind the best so far is given up after two folds."""

    codes: Int[np.ndarray, " steps"]
    fold: Int[np.ndarray, " steps"]
    shares: Float[np.ndarray, " actions"]
    """How often the log takes each action."""
    rules: BehaviorRules
    told: dict[str, Told] = field(default_factory=dict)
    """Of kinds that were not given up,"""
    likelihoods: dict[str, float] = field(default_factory=dict)
    """and the mean log likelihood of an action, also of those that were: as far behind the best as in two folds."""
    _best: Float[np.ndarray, " steps"] | None = field(default=None, init=False)
    """The log likelihoods of the best so far."""

    @property
    def best(self) -> str:
        return max(self.told, key=lambda name: self.likelihoods[name])

    def add(self, name: str, kind: Kind, x: Float[np.ndarray, "steps features"]) -> None:
        folds = np.unique(self.fold)
        first = np.isin(self.fold, folds[:2])
        begun = cross_fitted(kind, x, self.codes, self.fold, len(self.shares), len(x), folds[:2])
        if self._best is not None and len(folds) > 2:
            behind = self._best[first] - self._likelihoods(begun.guessed, first)
            if behind.mean() > self.rules.given_up * behind.std() / np.sqrt(len(behind)):
                self.likelihoods[name] = float(self._best.mean() - behind.mean())
                return
        rest = cross_fitted(kind, x, self.codes, self.fold, len(self.shares), len(x), folds[2:])
        told = Told(np.where(first[:, None], begun.guessed, rest.guessed), {**begun.pieces, **rest.pieces})
        likelihoods = self._likelihoods(told.guessed, np.ones(len(x), dtype=bool))
        self.told[name], self.likelihoods[name] = told, float(likelihoods.mean())
        if self._best is None or likelihoods.mean() > self._best.mean():
            self._best = likelihoods

    def _likelihoods(self, guessed: np.ndarray, rows: np.ndarray) -> Float[np.ndarray, " some"]:
        calibrated = Calibration.of(guessed[rows], self.codes[rows], self.shares)
        return log_likelihoods(calibrated(guessed[rows]), self.codes[rows])


def cross_fitted(
    kind: Kind,
    x: Float[np.ndarray, "steps features"],
    codes: Int[np.ndarray, " steps"],
    fold: Int[np.ndarray, " steps"],
    actions: int,
    most: int,
    folds: Int[np.ndarray, " some"],
) -> Told:
    """What the other folds teach about every step of these folds, from at most so many of their steps."""
    result, pieces = np.zeros((len(x), actions)), {}
    for k in folds:
        others, own = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
        learned = others[:: -(-len(others) // most)] if len(others) else own
        pieces[int(k)] = kind(x[learned], codes[learned], actions)
        result[own] = pieces[int(k)](x[own])
    return Told(result, pieces)
