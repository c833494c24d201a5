"""Termination: from which states the world does not go on."""

from __future__ import annotations

import warnings
from abc import abstractmethod

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from repbm.models.parts._part import Part
from repbm.models.regression._features import exponents, features, highest_degree
from repbm.models.transitions._padding import padded
from repbm.models.transitions._range import Range
from repbm.models.transitions._table import TransitionTable

_LOGISTIC_ROWS = 20_000
_PENALTY = 1e-3
_SETTLED = 1e-12
_FOLDS = 5
_BLOCK = 4096


class Termination(Part):
    """The probability that the episode ends with arrival in a state."""

    @abstractmethod
    def __call__(self, states: Float[Array, "batch dimensions"]) -> Float[Array, " batch"]: ...


class Never(Termination):
    """The log never ends early: only the horizon ends an episode."""

    def __call__(self, states: Float[Array, "batch dimensions"]) -> Float[Array, " batch"]:
        return jnp.zeros(states.shape[0], states.dtype)


class Box(Termination):
    """The episode goes on inside a box; `inside` and `outside` are the probabilities of an end in either place.

    A face lies somewhere between the outermost state from which the log went on (`low`, `high`) and the nearest one
    beyond in which it ended (`below`, `above`): in between the probability rises in a straight line. Infinite where
    the box has no face.
    """

    below: Float[Array | np.ndarray, " dimensions"]
    low: Float[Array | np.ndarray, " dimensions"]
    high: Float[Array | np.ndarray, " dimensions"]
    above: Float[Array | np.ndarray, " dimensions"]
    inside: Float[Array | np.ndarray, ""]
    outside: Float[Array | np.ndarray, ""]

    def __call__(self, states: Float[Array, "batch dimensions"]) -> Float[Array, " batch"]:
        out = jnp.maximum(_passed(-states, -self.low, -self.below), _passed(states, self.high, self.above)).max(axis=-1)
        inside, outside = jnp.asarray(self.inside), jnp.asarray(self.outside)
        return inside + (outside - inside) * out


def _passed(states: Array, inner: Array | np.ndarray, outer: Array | np.ndarray) -> Array:
    """0 up to `inner`, 1 from `outer` on, a straight line between; 0 where `inner` is infinite."""
    inner, outer = jnp.asarray(inner), jnp.asarray(outer)
    face = jnp.isfinite(inner)
    start, stop = jnp.where(face, inner, 0.0), jnp.where(face, outer, 1.0)
    return jnp.where(face, jnp.clip((states - start) / (stop - start), 0.0, 1.0), 0.0)


class Logistic(Termination):
    """1 / (1 + exp(-score)), the score a polynomial of the position in the box of logged states."""

    center: Float[Array | np.ndarray, " dimensions"]
    half_width: Float[Array | np.ndarray, " dimensions"]
    coefficients: Float[Array | np.ndarray, " features"]
    dimensions: int = eqx.field(static=True)
    degree: int = eqx.field(static=True)

    def __call__(self, states: Float[Array, "batch dimensions"]) -> Float[Array, " batch"]:
        x = features((states - self.center) / self.half_width, exponents(self.dimensions, self.degree), jnp)
        return jax.nn.sigmoid(x @ self.coefficients)


def fit_termination(table: TransitionTable, box: Range, on_arrival: bool = True) -> Termination:
    """Box or logistic, whichever has the smaller cross-validated log loss; never, where the log shows no end.

    Steps after which the log stopped are censored: they say neither that the episode ended nor that it went on. Looks
    at the state after a step, or at the one before it.
    """
    known = table.judged & table.followed if on_arrival else table.judged
    states = (table.next_states if on_arrival else table.states)[known]
    ended = table.ended[known]
    if not ended.any():
        return Never()
    if ended.all() or ended.sum() < _FOLDS:
        return _box(states, ended)
    # Ends are few: dealt out one by one, so that every fold has its share of them.
    fold = np.empty(len(ended), dtype=np.int64)
    fold[ended], fold[~ended] = np.arange(ended.sum()) % _FOLDS, np.arange((~ended).sum()) % _FOLDS
    # From the answer for all rows few rounds are needed for those of a fold.
    logistic = _logistic(states, ended, box)
    start = np.asarray(logistic.coefficients)
    rivals = (_box(states, ended), _box), (logistic, lambda s, e: _logistic(s, e, box, start))
    losses = [
        sum(
            _log_loss(fit(states[fold != k], ended[fold != k]), states[fold == k], ended[fold == k])
            for k in range(_FOLDS)
        )
        for _, fit in rivals
    ]
    return rivals[int(np.argmin(losses))][0]


def ends_are_shown(table: TransitionTable) -> bool:
    """Whether the log shows the states in which episodes end, for most of those that do."""
    return bool(not table.ended.any() or table.followed[table.ended].mean() > 0.5)


@eqx.filter_jit
def _compiled(termination: Termination, states: Float[Array, "block dimensions"]) -> Float[Array, " block"]:
    return termination(states)


def _probabilities(termination: Termination, states: np.ndarray) -> np.ndarray:
    """For any number of states, in blocks of one size: compiled once."""
    blocks = -(-len(states) // _BLOCK)
    with jax.enable_x64(True):
        parts = [
            np.asarray(_compiled(termination, jnp.asarray(block)))
            for block in np.split(padded(states, blocks * _BLOCK), blocks)
        ]
    return np.concatenate(parts)[: len(states)]


def _log_loss(termination: Termination, states: np.ndarray, ended: np.ndarray) -> float:
    probability = _probabilities(termination, states)
    floor = 0.5 / len(ended)
    probability = np.clip(probability, floor, 1 - floor)
    return float(-np.log(np.where(ended, probability, 1 - probability)).sum())


def _box(states: np.ndarray, ended: np.ndarray) -> Box:
    """The fewest faces of the box of ongoing states that, together, cut off the ended ones."""
    size = states.shape[1]
    if ended.all():
        nowhere = np.full(size, np.inf)
        return Box(-nowhere, -nowhere, nowhere, nowhere, np.asarray(1.0), np.asarray(1.0))
    below, low, high, above = (np.full(size, sign * np.inf) for sign in (-1, -1, 1, 1))
    last = states[ended]
    inner_low, inner_high = states[~ended].min(axis=0), states[~ended].max(axis=0)
    uncut = np.ones(len(last), dtype=bool)
    while uncut.any():
        under, over = last < inner_low, last > inner_high
        gains = np.stack([(under & uncut[:, None]).sum(axis=0), (over & uncut[:, None]).sum(axis=0)])
        if gains.max() == 0:
            break
        side, j = np.unravel_index(int(gains.argmax()), gains.shape)
        if side == 0:
            below[j], low[j] = last[under[:, j], j].max(), inner_low[j]
            uncut &= ~under[:, j]
        else:
            high[j], above[j] = inner_high[j], last[over[:, j], j].min()
            uncut &= ~over[:, j]
    out = ((states < low) | (states > high)).any(axis=1)
    inside = float(ended[~out].mean()) if (~out).any() else 0.0
    outside = float(ended[out].mean()) if out.any() else 1.0
    return Box(below, low, high, above, np.asarray(inside), np.asarray(outside))


def _logistic(states: np.ndarray, ended: np.ndarray, box: Range, start: np.ndarray | None = None) -> Logistic:
    """The coefficients c of the least -log p + _PENALTY / 2 |c|^2, the intercept free: ends are as rare as in the log.

    The search begins at `start`, where that is of the right length.
    """
    degree = min(3, highest_degree(states.shape[1], len(states)))
    share = min(1.0, _LOGISTIC_ROWS / len(states))
    # A long log is thinned: all ends are kept, of the rest a share that counts for all.
    kept = ended | (np.arange(len(states)) % max(1, round(1 / share)) == 0)
    count = np.where(ended[kept], 1.0, (~ended).sum() / max((~ended & kept).sum(), 1))
    x = features(box.place(states[kept]), exponents(states.shape[1], degree), np)
    if ended[kept].all():
        rate = np.clip(ended.mean(), 1e-9, 1 - 1e-9)
        coefficients = np.append(np.log(rate / (1 - rate)), np.zeros(x.shape[1] - 1))
    else:
        start = start if start is not None and len(start) == x.shape[1] else None
        coefficients = _likeliest(x[:, 1:], ended[kept], count, start)
    return Logistic(box.center, box.half_width, coefficients, states.shape[1], degree)


def _likeliest(x: np.ndarray, ended: np.ndarray, count: np.ndarray, start: np.ndarray | None) -> np.ndarray:
    """Intercept and coefficients of a logistic regression of both kinds of rows, each counted so many times."""
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    regression = LogisticRegression(
        C=1 / _PENALTY, solver="newton-cholesky", tol=_SETTLED, warm_start=start is not None
    )
    if start is not None:
        regression.coef_, regression.intercept_ = start[None, 1:], start[:1]
    # One thread: several wait for each other at full speed, and for minutes where cores are shared.
    with warnings.catch_warnings(), threadpool_limits(1):
        # One that is not quite there is judged by its log loss, as all are.
        warnings.simplefilter("ignore")
        regression.fit(x, ended, sample_weight=count)
    return np.append(regression.intercept_, regression.coef_[0])
