"""Values of individuals: those of the critic, corrected by what the surprises tell, and how far they may be off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

_STRENGTHS = tuple(10.0**k for k in range(-1, 5))
_CENTERS = 100
_REACH = 0.25


@dataclass(frozen=True, eq=False)
class SurplusRegression:
    """What the weighted surprises of an episode say on average, as a smooth function of its initial state.

    A ridge regression on kernels around some of the states, its strength by leaving out one episode after the other;
    the plain mean where that is better. `explained` is the variance that the function explains: how much the critic
    alone misses of the differences between individuals, as far as the log can tell.
    """

    center: Float[np.ndarray, " dimensions"]
    unit: Float[np.ndarray, " dimensions"]
    mean: float
    explained: float
    map: Any
    ridge: Any

    @classmethod
    def of(
        cls, states: Float[np.ndarray, "episodes dimensions"], surplus: Float[np.ndarray, " episodes"]
    ) -> SurplusRegression:
        from sklearn.kernel_approximation import Nystroem
        from sklearn.linear_model import RidgeCV

        n = len(surplus)
        spread = states.std(axis=0)
        unit = np.where(spread > 0, spread, 1.0)
        center, mean = states.mean(axis=0), float(surplus.mean())
        if n < 3 or not states.shape[1] or not spread.any() or not np.ptp(surplus) > 0:
            return cls(center, unit, mean, 0.0, None, None)
        kernels = Nystroem(gamma=_REACH / states.shape[1], n_components=min(_CENTERS, n), random_state=0)
        x = kernels.fit_transform((states - center) / unit)
        ridge = RidgeCV(alphas=_STRENGTHS, store_cv_results=True).fit(x, surplus)
        left_out = float(ridge.cv_results_.mean(axis=0)[_STRENGTHS.index(ridge.alpha_)])
        alone = float(((surplus - mean) ** 2).mean() * (n / (n - 1)) ** 2)
        better = left_out < alone
        explained = alone - left_out if better else 0.0
        return cls(center, unit, mean, explained, kernels if better else None, ridge if better else None)

    def __call__(self, states: Float[np.ndarray, "some dimensions"]) -> Float[np.ndarray, " some"]:
        if self.ridge is None:
            return np.full(len(states), self.mean)
        return self.ridge.predict(self.map.transform((states - self.center) / self.unit))


def fold_errors(parts: Float[np.ndarray, "folds some"]) -> Float[np.ndarray, " some"]:
    """Variances of V(s) from critics that each leave out a fold (the jackknife), drawn half-way to their mean.

    Five folds tell little of one individual; 1.5 times as much was needed on the development worlds.
    """
    count = len(parts)
    own = (count - 1) / count * ((parts - parts.mean(axis=0)) ** 2).sum(axis=0)
    return 1.5 * (0.5 * own + 0.5 * own.mean())
