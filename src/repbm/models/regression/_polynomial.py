"""One polynomial an action, by weighted least squares; the degree of every output by held-out error."""

from __future__ import annotations

from collections.abc import Iterator

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from repbm.models.parts._part import Part
from repbm.models.regression._features import exponents, features, highest_degree
from repbm.models.regression._ridge import Moments

_ROWS = 1 << 12
_FEW = 10


class Polynomial(Part):
    """y_k = sum_f c[a, f, k] x_f(z), with x_f the Chebyshev products up to `degree` at a position z in the box."""

    coefficients: Float[Array | np.ndarray, "actions features outputs"]
    dimensions: int = eqx.field(static=True)
    degree: int = eqx.field(static=True)

    def __call__(self, positions: Float[Array, "batch dimensions"]) -> Float[Array, "batch actions outputs"]:
        x = features(positions, exponents(self.dimensions, self.degree), jnp)
        return jnp.einsum("nf,afk->nak", x, self.coefficients)

    def of_actions(
        self, positions: Float[np.ndarray, "steps dimensions"], actions: Int[np.ndarray, " steps"]
    ) -> Float[np.ndarray, "steps outputs"]:
        """In NumPy, for one given action a row."""
        result = np.empty((len(positions), self.coefficients.shape[2]))
        for action, rows, x in _blocks(positions, actions, self.degree, len(self.coefficients)):
            result[rows] = x @ np.asarray(self.coefficients[action])
        return result


def fit_polynomial(
    positions: Float[np.ndarray, "steps dimensions"],
    actions: Int[np.ndarray, " steps"],
    targets: Float[np.ndarray, "steps outputs"],
    weights: Float[np.ndarray, " steps"],
    held_out: Bool[np.ndarray, " steps"],
    action_count: int,
    limit: int = 12,
) -> tuple[Polynomial, Float[np.ndarray, " outputs"]]:
    """The polynomial, and the held-out mean squared error of every output at its own best degree.

    The degrees are chosen on `held_out` rows with the rest fitted; then everything is fitted again.
    """
    counts = np.bincount(actions[(weights > 0) & ~held_out], minlength=action_count)
    dimensions, outputs = positions.shape[1], targets.shape[1]
    observations = int(counts[counts >= _FEW].min(initial=counts.max()))
    degree = 0 if _constant(targets, actions, action_count) else highest_degree(dimensions, observations, limit)
    powers = exponents(dimensions, degree).sum(axis=1)
    sizes = [int((powers <= d).sum()) for d in range(degree + 1)]

    fitted, kept = ([Moments.zero(len(powers), outputs) for _ in range(action_count)] for _ in range(2))
    for action, rows, x in _blocks(positions, actions, degree, action_count):
        held = held_out[rows]
        fitted[action].add(x[~held], targets[rows[~held]], weights[rows[~held]])
        kept[action].add(x[held], targets[rows[held]], weights[rows[held]])
    trials = [moments.solutions(sizes) for moments in fitted]
    errors, total = np.zeros((degree + 1, outputs)), 0.0
    judged = np.flatnonzero(held_out)
    for action, rows, x in _blocks(positions[judged], actions[judged], degree, action_count):
        y, w = targets[judged[rows]], weights[judged[rows]]
        total += float(w.sum())
        for d, size in enumerate(sizes):
            errors[d] += w @ (y - x[:, :size] @ trials[action][d][:size]) ** 2
    best = errors.argmin(axis=0) if total > 0 else np.full(outputs, min(1, degree))
    top = int(best.max())
    coefficients = np.zeros((action_count, sizes[top], outputs))
    for action, (one, other) in enumerate(zip(fitted, kept, strict=True)):
        final = (one + other).solutions(sizes[: top + 1])
        for k, d in enumerate(best):
            coefficients[action, :, k] = final[d][: sizes[top], k]
    mean = errors.min(axis=0) / total if total > 0 else np.full(outputs, np.nan)
    return Polynomial(coefficients, dimensions, top), mean


def _constant(targets: np.ndarray, actions: np.ndarray, action_count: int) -> bool:
    """Whether every action has one outcome only, as a reward of 1 a step."""
    return all((of_action[:1] == of_action).all() for of_action in (targets[actions == a] for a in range(action_count)))


def _blocks(
    positions: np.ndarray, actions: np.ndarray, degree: int, action_count: int
) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Features of the rows of every action, a block at a time: memory stays small for any log."""
    powers = exponents(positions.shape[1], degree)
    for action in range(action_count):
        rows = np.flatnonzero(actions == action)
        for start in range(0, len(rows), _ROWS):
            block = rows[start : start + _ROWS]
            yield action, block, features(positions[block], powers, np)
