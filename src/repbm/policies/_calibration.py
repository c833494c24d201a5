"""Probabilities as bold as held-out actions bear out, and mixtures of several guesses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import minimize

_SMALLEST = 1e-12
_ROUNDS = 200


@dataclass(frozen=True, eq=False)
class Calibration:
    """(1 - mixed) p^(1 / temperature) / sum + mixed * share, with `shares` how often the log takes each action: none is
    then impossible."""

    temperature: float
    mixed: float
    shares: Float[np.ndarray, " actions"]

    @classmethod
    def of(
        cls,
        guessed: Float[np.ndarray, "steps actions"],
        codes: Int[np.ndarray, " steps"],
        shares: Float[np.ndarray, " actions"],
    ) -> Calibration:
        """The one under which the actions taken are most likely."""
        logs = np.log(np.maximum(guessed, _SMALLEST))
        # The largest is 0: then powers are sums of what never overflows, several times as fast as logaddexp.
        logs -= logs.max(axis=1, keepdims=True)
        taken, shared = logs[np.arange(len(codes)), codes], shares[codes]

        def settings(at: np.ndarray) -> tuple[float, float]:
            return float(np.exp(np.clip(at[0], -3, 3))), float(1 / (1 + np.exp(-np.clip(at[1], -12, 6))))

        def loss(at: np.ndarray) -> float:
            temperature, mixed = settings(at)
            own = np.exp(taken / temperature) / np.exp(logs / temperature).sum(axis=1)
            return float(-np.log((1 - mixed) * own + mixed * shared).mean())

        found = minimize(loss, np.array([0.0, -4.0]), method="Nelder-Mead", options={"xatol": 1e-3, "fatol": 1e-7})
        return cls(*settings(found.x), shares)

    def __call__(self, guessed: Float[np.ndarray, "steps actions"]) -> Float[np.ndarray, "steps actions"]:
        powers = np.maximum(guessed, _SMALLEST) ** (1 / self.temperature)
        return (1 - self.mixed) * powers / powers.sum(axis=1, keepdims=True) + self.mixed * self.shares


def log_likelihoods(
    chances: Float[np.ndarray, "steps actions"], codes: Int[np.ndarray, " steps"]
) -> Float[np.ndarray, " steps"]:
    """Of the actions taken."""
    return np.log(np.maximum(chances[np.arange(len(codes)), codes], _SMALLEST))


def mixture(
    guesses: Sequence[Float[np.ndarray, "steps actions"]], codes: Int[np.ndarray, " steps"], least: float
) -> Float[np.ndarray, " guesses"]:
    """What each guess counts in the mean of all under which the actions taken are most likely (by EM).

    One that counts less than `least` is left out.
    """
    odds = np.exp(np.stack([log_likelihoods(each, codes) for each in guesses]))
    kept = np.ones(len(guesses), dtype=bool)
    while True:
        counts = _most_likely(odds * kept[:, None])
        few = kept & (counts < least)
        if not few.any() or kept.sum() == 1:
            return counts
        # The least of them alone: another one may take its place.
        kept[np.argmin(np.where(kept, counts, np.inf))] = False


def _most_likely(odds: Float[np.ndarray, "guesses steps"]) -> Float[np.ndarray, " guesses"]:
    counts = (odds > 0).any(axis=1) / (odds > 0).any(axis=1).sum()
    for _ in range(_ROUNDS):
        told = counts[:, None] * odds
        counts = (told / told.sum(axis=0)).mean(axis=1)
    return counts
