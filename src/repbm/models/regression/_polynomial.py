"""One polynomial an action, by weighted least squares; the degree of every output by held-out error."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int

from repbm.models.parts._part import Part, static
from repbm.models.regression._features import exponents, features, highest_degree
from repbm.models.regression._ridge import Moments
from repbm.models.transitions._arrays import AnyArray, by_action, module_of
from repbm.models.transitions._padding import bucket, padded

_ROWS = 1 << 12
_FEW = 10
_LEAST_FEATURES = 16
_HIGHEST = (2, 4, 8, 16)


class Polynomial(Part):
    """y_k = sum_f c[a, f, k] x_f(z), with x_f the product of Chebyshev polynomials of these powers at a place z."""

    coefficients: Float[AnyArray, "actions features outputs"]
    powers: Int[AnyArray, "features dimensions"]
    highest: int = static()
    """At least the largest of the powers."""

    def __post_init__(self) -> None:
        # As files may have it: powers are counted up one by one.
        if isinstance(self.powers, np.ndarray) and (
            self.powers.dtype.kind not in "iu" or not self.powers.max(initial=0) <= self.highest <= _HIGHEST[-1]
        ):
            raise ValueError(f"powers beyond {self.highest}")

    @classmethod
    def of(cls, coefficients: Float[np.ndarray, "actions features outputs"], powers: np.ndarray) -> Polynomial:
        """In few shapes, filled up with coefficients of 0: every new one is compiled anew."""
        count = bucket(len(powers), _LEAST_FEATURES)
        filled = np.stack([padded(each, count) for each in coefficients])
        highest = int(powers.max(initial=0))
        return cls(filled, padded(powers, count), next(h for h in _HIGHEST if h >= highest))

    @property
    def degree(self) -> int:
        """The largest total power of a feature that counts."""
        return int(self._used[1].sum(axis=1).max(initial=0))

    @property
    def terms(self) -> Int[np.ndarray, "some dimensions"]:
        """The powers of the features that count for an output, each once; the constant at least."""
        constant = np.zeros((1, np.shape(self.powers)[1]), dtype=np.int64)
        return np.unique(np.concatenate([constant, self._used[1]]), axis=0)

    @property
    def terms_of_outputs(self) -> tuple[Int[np.ndarray, "some dimensions"], tuple[Int[np.ndarray, " _"], ...]]:
        """All terms, each once, and the places among them of those that count for every output."""
        coefficients, powers = self._used
        constant = np.zeros((1, powers.shape[1]), dtype=np.int64)
        terms, places = np.unique(np.concatenate([constant, powers]), axis=0, return_inverse=True)
        used = (coefficients != 0).any(axis=0)
        places = places.reshape(-1)[1:]
        return terms, tuple(np.unique(places[own]) for own in used.T)

    def joined(self, other: Polynomial, outputs: Bool[np.ndarray, " outputs"]) -> Polynomial:
        """The same with these outputs of another."""
        (own, powers), (given, others) = self._used, other._used
        kept = np.concatenate([np.where(outputs, 0.0, own), np.where(outputs, given, 0.0)], axis=1)
        return Polynomial.of(kept, np.concatenate([powers, others]))

    @cached_property
    def _used(self) -> tuple[Float[np.ndarray, "actions some outputs"], Int[np.ndarray, "some dimensions"]]:
        coefficients = np.asarray(self.coefficients)
        used = (coefficients != 0).any(axis=(0, 2))
        return coefficients[:, used], np.asarray(self.powers)[used]

    def __call__(self, positions: Float[AnyArray, "batch dimensions"]) -> Float[AnyArray, "batch actions outputs"]:
        if isinstance(positions, np.ndarray):
            coefficients, powers = self._used
            return by_action(features(positions, powers, np), coefficients)
        numpy = module_of(positions)
        return by_action(features(positions, numpy.asarray(self.powers), numpy, self.highest), self.coefficients)

    def of_actions(
        self, positions: Float[np.ndarray, "steps dimensions"], actions: Int[np.ndarray, " steps"]
    ) -> Float[np.ndarray, "steps outputs"]:
        """In NumPy, for one given action a row."""
        coefficients, powers = self._used
        result = np.empty((len(positions), coefficients.shape[2]))
        for action, rows, x in feature_blocks(positions, actions, powers, len(coefficients)):
            result[rows] = x @ coefficients[action]
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
    terms = exponents(dimensions, degree)
    powers = terms.sum(axis=1)
    sizes = [int((powers <= d).sum()) for d in range(degree + 1)]

    fitted, kept = ([Moments.zero(len(powers), outputs) for _ in range(action_count)] for _ in range(2))
    for action, rows, x in feature_blocks(positions, actions, terms, action_count):
        held = held_out[rows]
        fitted[action].add(x[~held], targets[rows[~held]], weights[rows[~held]])
        kept[action].add(x[held], targets[rows[held]], weights[rows[held]])
    trials = [moments.solutions(sizes) for moments in fitted]
    errors, total = np.zeros((degree + 1, outputs)), 0.0
    judged = np.flatnonzero(held_out)
    for action, rows, x in feature_blocks(positions[judged], actions[judged], terms, action_count):
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
    return Polynomial.of(coefficients, terms[: sizes[top]]), mean


def _constant(targets: np.ndarray, actions: np.ndarray, action_count: int) -> bool:
    """Whether every action has one outcome only, as a reward of 1 a step."""
    return all((of_action[:1] == of_action).all() for of_action in (targets[actions == a] for a in range(action_count)))


def feature_blocks(
    positions: np.ndarray, actions: np.ndarray, powers: np.ndarray, action_count: int
) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Features of the rows of every action, a block at a time: memory stays small for any log."""
    for action in range(action_count):
        rows = np.flatnonzero(actions == action)
        for start in range(0, len(rows), _ROWS):
            block = rows[start : start + _ROWS]
            yield action, block, features(positions[block], powers, np)
