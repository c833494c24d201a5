"""What every action is worth in any state, with any number of steps left: the outcome of fitting a critic."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, Num

from repbm.core import Label
from repbm.data import annuity, found_states, return_bounds
from repbm.models.regression._features import exponents, features

_ROWS = 1 << 14


class ActionFunction(ABC):
    """A function of observations and steps left to one number an action, made of plain arrays."""

    @abstractmethod
    def __call__(
        self, observations: Float[np.ndarray, "batch dimensions"], left: Int[np.ndarray, " batch"]
    ) -> Float[np.ndarray, "batch actions"]: ...


@dataclass(frozen=True, eq=False)
class PolynomialValues(ActionFunction):
    """Q(s, a, h) = sum_f c[f, a] x_f(z), with x_f the Chebyshev products up to `degree`, and z the position of (s, h),
    the state and the steps left, in the box of those logged."""

    center: Float[np.ndarray, " inputs"]
    half_width: Float[np.ndarray, " inputs"]
    coefficients: Float[np.ndarray, "features actions"]
    degree: int

    def __call__(self, observations: np.ndarray, left: np.ndarray) -> np.ndarray:
        powers = exponents(len(self.center), self.degree)
        result = np.empty((len(observations), self.coefficients.shape[1]))
        for start in range(0, len(result), _ROWS):
            block = slice(start, start + _ROWS)
            positions = (np.column_stack([observations[block], left[block]]) - self.center) / self.half_width
            result[block] = features(positions, powers, np) @ self.coefficients
        return result


@dataclass(frozen=True, eq=False)
class StepwiseValues(ActionFunction):
    """Q(s, a, h) = sum_f c[h, a, f] x_f(z): a polynomial of the state for every number of steps left."""

    center: Float[np.ndarray, " dimensions"]
    half_width: Float[np.ndarray, " dimensions"]
    powers: Int[np.ndarray, "features dimensions"]
    coefficients: Float[np.ndarray, "horizon actions features"]
    """Row h - 1 for h steps left."""

    def __call__(self, observations: np.ndarray, left: np.ndarray) -> np.ndarray:
        result = np.empty((len(observations), self.coefficients.shape[1]))
        order = np.argsort(left, kind="stable")
        for start in range(0, len(result), _ROWS):
            rows = order[start : start + _ROWS]
            x = features((observations[rows] - self.center) / self.half_width, self.powers, np)
            values, firsts = np.unique(left[rows], return_index=True)
            for number, first, last in zip(values, firsts, [*firsts[1:], len(rows)], strict=True):
                result[rows[first:last]] = x[first:last] @ self.coefficients[number - 1].T
        return result


@dataclass(frozen=True, eq=False)
class TableValues(ActionFunction):
    """Q(s, a, h) from a table; a state that is not in it counts as the states of the table do on average."""

    states: Float[np.ndarray, "states dimensions"]
    table: Float[np.ndarray, "horizon states actions"]
    """Row h - 1 for h steps left."""

    def __call__(self, observations: np.ndarray, left: np.ndarray) -> np.ndarray:
        place, known = found_states(self.states, observations)
        return np.where(known[:, None], self.table[left - 1, place], self.table.mean(axis=1)[left - 1])


@dataclass(frozen=True, eq=False)
class NetworkValues(ActionFunction):
    """Q(s, a, h) = G(h) f_a(s, h), G(h) = 1 + gamma + ... + gamma^(h-1): a tanh network f gives the value a step."""

    center: Float[np.ndarray, " inputs"]
    spread: Float[np.ndarray, " inputs"]
    scale: float
    discount: float
    weights: tuple[Float[np.ndarray, "_ _"], ...]
    biases: tuple[Float[np.ndarray, " _"], ...]

    def __call__(self, observations: np.ndarray, left: np.ndarray) -> np.ndarray:
        hidden = (np.column_stack([observations, left]) - self.center) / self.spread
        for k, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            hidden = (np.tanh(hidden) if k else hidden) @ weight.T + bias
        return annuity(self.discount, left)[:, None] * self.scale * hidden


@dataclass(frozen=True, eq=False)
class ActionValues:
    """Q(s, a, h) for every action of the log, kept within the returns that h rewards like the logged ones can make.

    With G(h) = 1 + gamma + ... + gamma^(h-1) and rewards from r_low to r_high, a return of 1 to h steps lies between
    min(r_low, r_low G(h)) and max(r_high, r_high G(h)): no true value lies outside.
    """

    function: ActionFunction
    labels: tuple[Label, ...]
    horizon: int
    discount: float
    rewards: tuple[float, float]
    """The lowest and the highest logged reward."""

    def __call__(
        self, observations: Num[np.ndarray, "batch dimensions"], steps_left: Int[np.ndarray, " batch"]
    ) -> Float[np.ndarray, "batch actions"]:
        left = np.clip(steps_left, 1, self.horizon)
        found = self.function(np.asarray(observations, dtype=np.float64), left)
        low, high = return_bounds(self.rewards, self.discount, left)
        return np.clip(found, low[:, None], high[:, None])
