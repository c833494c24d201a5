"""A mean over episodes that may depend on the initial state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.special import log_ndtr

from repbm.data import Trajectories, few_states, found_states

_STRENGTHS = tuple(10.0**k for k in range(-1, 5))
_CENTERS = 100
_REACH = 0.25
_EPISODES_A_DIRECTION, _FEWEST_DIRECTIONS, _MOST_DIRECTIONS = 10, 3, 30
_RANK = 1e-6

Features = Callable[[Float[np.ndarray, "some dimensions"]], Float[np.ndarray, "some features"]]


@dataclass(frozen=True, eq=False)
class InitialRegression:
    """E[ y | s_0 ]: a ridge regression on features of the initial state.

    Its strength is chosen by leaving out one episode after the other. The plain mean is taken unless the regression is
    better than it by `evidence` standard errors. `explained` is the variance of y that the state may explain (see
    `explained_variance`), seen or not; `taken` says whether the regression is.
    """

    mean: float
    explained: float
    features: Features
    ridge: Any

    @classmethod
    def of(
        cls,
        features: Features,
        states: Float[np.ndarray, "episodes dimensions"],
        y: Float[np.ndarray, " episodes"],
        evidence: float,
    ) -> InitialRegression:
        from sklearn.linear_model import RidgeCV

        n, mean = len(y), float(y.mean())
        x = features(states)
        if n < 3 or not x.size or not np.ptp(x, axis=0).any() or not np.ptp(y) > 0:
            return cls(mean, 0.0, features, None)
        ridge = RidgeCV(alphas=_STRENGTHS, store_cv_results=True).fit(x, y)
        left_out = ridge.cv_results_[:, _STRENGTHS.index(ridge.alpha_)]
        gain = ((y - mean) * n / (n - 1)) ** 2 - left_out
        better = gain.mean() > evidence * gain.std() / np.sqrt(n)
        return cls(mean, explained_variance(x, y), features, ridge if better else None)

    @property
    def taken(self) -> bool:
        return self.ridge is not None

    def __call__(self, states: Float[np.ndarray, "some dimensions"]) -> Float[np.ndarray, " some"]:
        return self.ridge.predict(self.features(states)) if self.taken else np.full(len(states), self.mean)


def explained_variance(x: Float[np.ndarray, "episodes features"], y: Float[np.ndarray, " episodes"]) -> float:
    """How much of the variance of y features may explain: what can be expected of it, given the log.

    With U an orthonormal basis of their main directions and e = y - mean, sum_{i != j} (U U')_ij e_i e_j / n has no
    bias: noise of one episode does not go with that of another. Its standard error is that of noise alone. The
    variance is not negative, and nothing else is known of it: v + se phi(v / se) / Phi(v / se), the mean of a normal
    distribution that is cut off at 0. A log that is too noisy to show what is missed is no sign that nothing is.
    """
    n = len(y)
    directions = int(np.clip(n // _EPISODES_A_DIRECTION, _FEWEST_DIRECTIONS, _MOST_DIRECTIONS))
    left, sizes, _ = np.linalg.svd(x - x.mean(axis=0), full_matrices=False)
    basis = left[:, sizes > sizes[0] * _RANK][:, :directions]
    squares = (y - y.mean()) ** 2
    own = (basis**2).sum(axis=1)
    variance = (((basis.T @ (y - y.mean())) ** 2).sum() - own @ squares) / n
    pairs = ((basis.T * squares) @ basis) ** 2
    error = float(np.sqrt(2 * max(pairs.sum() - (own**2) @ squares**2, 0.0))) / n
    if not error > 0:
        return max(float(variance), 0.0)
    beyond = variance / error
    return float(variance + error * np.exp(-0.5 * beyond**2 - log_ndtr(beyond)) / np.sqrt(2 * np.pi))


def initial_features(data: Trajectories) -> Features:
    """In a table which state it is; else the state itself, and kernels around some of the logged ones."""
    states = data.initial_observations
    return _Cells(np.unique(states, axis=0)) if few_states(data) else _Kernels.of(states)


@dataclass(frozen=True, eq=False)
class _Cells:
    known: Float[np.ndarray, "cells dimensions"]

    def __call__(self, asked: Float[np.ndarray, "some dimensions"]) -> Float[np.ndarray, "some features"]:
        place, there = found_states(self.known, asked)
        return np.eye(len(self.known))[place] * there[:, None]


@dataclass(frozen=True, eq=False)
class _Kernels:
    center: Float[np.ndarray, " dimensions"]
    unit: Float[np.ndarray, " dimensions"]
    kernels: Any
    """None where all states are the same."""

    @classmethod
    def of(cls, states: Float[np.ndarray, "episodes dimensions"]) -> _Kernels:
        from sklearn.kernel_approximation import Nystroem

        spread = states.std(axis=0)
        center, unit = states.mean(axis=0), np.where(spread > 0, spread, 1.0)
        if not spread.any():
            return cls(center, unit, None)
        kernels = Nystroem(gamma=_REACH / states.shape[1], n_components=min(_CENTERS, len(states)), random_state=0)
        return cls(center, unit, kernels.fit((states - center) / unit))

    def __call__(self, asked: Float[np.ndarray, "some dimensions"]) -> Float[np.ndarray, "some features"]:
        if self.kernels is None:
            return np.zeros((len(asked), 0))
        scaled = (asked - self.center) / self.unit
        return np.column_stack([scaled, self.kernels.transform(scaled)])
