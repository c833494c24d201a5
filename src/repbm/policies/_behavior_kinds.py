"""Kinds of behavior: ways to tell from a state how probable every action was."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from repbm.core import one_thread

Chances = Callable[[Float[np.ndarray, "batch features"]], Float[np.ndarray, "batch actions"]]
"""The probabilities of all actions, for a batch of states."""

Kind = Callable[[Float[np.ndarray, "steps features"], Int[np.ndarray, " steps"], int], Chances]
"""(features, codes of the actions taken, number of actions) -> the chances that fit them."""

_MOST_NEIGHBORS_FROM = 20_000
_PRIOR = 1.0
_ROUNDS, _RATE = 60, 0.06
_LEAVES, _LEAVES_FOR = 6, 8_000
"""Trees have so many leaves up to so many steps, and more as their root grows."""


def by_frequencies(x: Float[np.ndarray, "steps features"], taken: Int[np.ndarray, " steps"], actions: int) -> Chances:
    """Every state alike: how often the log takes each action."""
    shares = _shares(taken, actions)
    return lambda asked: np.broadcast_to(shares, (len(asked), actions))


def by_table(x: Float[np.ndarray, "steps features"], taken: Int[np.ndarray, " steps"], actions: int) -> Chances:
    """State by state, for states that are few: (n_sa + share_a) / (n_s + 1); the features must be whole numbers."""
    states, place = np.unique(x[:, 0], return_inverse=True)
    counts = np.bincount(place * actions + taken, minlength=len(states) * actions).reshape(-1, actions)
    shares = _shares(taken, actions)
    table = (counts + _PRIOR * shares) / (counts.sum(axis=1, keepdims=True) + _PRIOR)

    def chances(asked: Float[np.ndarray, "batch features"]) -> Float[np.ndarray, "batch actions"]:
        at = np.searchsorted(states, asked[:, 0]).clip(0, len(states) - 1)
        known = states[at] == asked[:, 0]
        return np.where(known[:, None], table[at], shares)

    return chances


def by_logistic(x: Float[np.ndarray, "steps features"], taken: Int[np.ndarray, " steps"], actions: int) -> Chances:
    """Multinomial logistic regression on standardized features."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return _classified(make_pipeline(StandardScaler(), LogisticRegression(max_iter=300)), x, taken, actions)


def by_curves(x: Float[np.ndarray, "steps features"], taken: Int[np.ndarray, " steps"], actions: int) -> Chances:
    """Multinomial logistic regression on features, their squares and products, shrunk ten times as much."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures, StandardScaler

    products = StandardScaler(), PolynomialFeatures(2, include_bias=False), StandardScaler()
    return _classified(make_pipeline(*products, LogisticRegression(C=0.1, max_iter=300)), x, taken, actions)


def by_boosting(x: Float[np.ndarray, "steps features"], taken: Int[np.ndarray, " steps"], actions: int) -> Chances:
    """Gradient boosting of few and small trees, in small steps: larger ones are often far too sure of themselves.

    On development worlds held-out actions are so more likely, with 500 and with 9,000 steps alike."""
    leaves = max(_LEAVES, round(_LEAVES * np.sqrt(len(x) / _LEAVES_FOR)))
    return _boosted(x, taken, actions, _ROUNDS, _RATE, leaves)


def by_larger_trees(x: Float[np.ndarray, "steps features"], taken: Int[np.ndarray, " steps"], actions: int) -> Chances:
    """Gradient boosting as it is usually done: for rules of many cases, such as stripes."""
    return _boosted(x, taken, actions, 100, 0.1, 15)


def _boosted(x: np.ndarray, taken: np.ndarray, actions: int, rounds: int, rate: float, leaves: int) -> Chances:
    from sklearn.ensemble import HistGradientBoostingClassifier

    # Many actions need as many trees a round.
    rounds = max(20, rounds // max(1, actions // 4))
    model = HistGradientBoostingClassifier(
        max_iter=rounds, learning_rate=rate, max_leaf_nodes=leaves, l2_regularization=1.0, random_state=0
    )
    return _classified(model, x, taken, actions)


def by_neighbors(x: Float[np.ndarray, "steps features"], taken: Int[np.ndarray, " steps"], actions: int) -> Chances:
    """What was done in the nearest states, as many of them as the root of the number of steps (appendix A)."""
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    x, taken = (each[:: -(-len(x) // _MOST_NEIGHBORS_FROM)] for each in (x, taken))
    count = max(1, round(np.sqrt(len(x))))
    return _classified(make_pipeline(StandardScaler(), KNeighborsClassifier(count)), x, taken, actions)


def _classified(model: Any, x: np.ndarray, taken: np.ndarray, actions: int) -> Chances:
    if len(np.unique(taken)) < 2:
        return by_frequencies(x, taken, actions)
    with warnings.catch_warnings(), one_thread():
        # One that has not converged is judged by what it says of other episodes, as all are.
        warnings.simplefilter("ignore")
        model.fit(x, taken)
    return _Classifier(model, actions)


@dataclass(frozen=True, eq=False)
class _Classifier:
    """A fitted classifier of scikit-learn, which knows the actions that it was shown."""

    model: Any
    actions: int

    def __call__(self, asked: Float[np.ndarray, "batch features"]) -> Float[np.ndarray, "batch actions"]:
        result = np.zeros((len(asked), self.actions))
        with one_thread():
            result[:, self.model.classes_] = self.model.predict_proba(asked)
        return result


KINDS: Mapping[str, Kind] = {
    "frequencies": by_frequencies,
    "logistic": by_logistic,
    "curves": by_curves,
    "neighbors": by_neighbors,
    "boosting": by_boosting,
    "larger trees": by_larger_trees,
}
"""Those that need nothing but numbers; the one that takes longest comes last."""

MOST_FEATURES: Mapping[str, int] = {"curves": 23}
"""Kinds that are not tried with more features: products of more are hundreds."""

EFFORT: Mapping[str, int] = {"neighbors": 20}
"""Kinds that take many times as long to be asked as the others, and about how many times."""


def _shares(taken: Int[np.ndarray, " steps"], actions: int) -> Float[np.ndarray, " actions"]:
    return np.bincount(taken, minlength=actions) / max(len(taken), 1)
