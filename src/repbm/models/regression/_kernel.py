"""Sums of kernels: functions that follow the data closely where it is dense and stay smooth between."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from repbm.models.parts._part import Part
from repbm.models.transitions._arrays import AnyArray, by_action, module_of

_ROWS = 1 << 12


class KernelSum(Part):
    """y_k = sum_c coefficients[a, c, k] m(|x - centers[a, c]|) + trend[a, 0, k] + sum_j trend[a, 1 + j, k] z_j.

    m is the Matern kernel of smoothness 5/2, z a position in the box (its border counts for positions outside), and
    x_j = z_j / lengths[j]. Centers beyond those that an action has carry coefficients of 0.
    """

    lengths: Float[AnyArray, " dimensions"]
    centers: Float[AnyArray, "actions centers dimensions"]
    coefficients: Float[AnyArray, "actions centers outputs"]
    trend: Float[AnyArray, "actions terms outputs"]

    def __call__(self, positions: Float[AnyArray, "batch dimensions"]) -> Float[AnyArray, "batch actions outputs"]:
        actions, count, size = self.centers.shape
        numpy = module_of(positions)
        inside = numpy.clip(positions, -1.0, 1.0)
        x, y = inside / self.lengths, self.centers.reshape(actions * count, size)
        squares = (x * x).sum(axis=1)[:, None] + (y * y).sum(axis=1) - 2 * x @ y.T
        s = numpy.sqrt(5 * numpy.maximum(squares, 0.0))
        near = (1 + s + s * s / 3) * numpy.exp(-s)
        terms = numpy.concatenate([numpy.ones_like(inside[:, :1]), inside], axis=1)
        near = near.reshape(-1, actions, count)
        if numpy is np:
            curved = np.stack([near[:, a] @ self.coefficients[a] for a in range(actions)], axis=1)
        else:
            curved = numpy.einsum("nac,ack->nak", near, self.coefficients)
        return curved + by_action(terms, self.trend)

    def of_actions(
        self, positions: Float[np.ndarray, "steps dimensions"], actions: Int[np.ndarray, " steps"]
    ) -> Float[np.ndarray, "steps outputs"]:
        """In NumPy, for one given action a row."""
        result = np.empty((len(positions), self.coefficients.shape[2]))
        inside = np.clip(positions, -1.0, 1.0)
        for action in range(len(self.centers)):
            centers, coefficients, trend = (
                np.asarray(part[action]) for part in (self.centers, self.coefficients, self.trend)
            )
            rows = np.flatnonzero(actions == action)
            for start in range(0, len(rows), _ROWS):
                block = rows[start : start + _ROWS]
                near = matern(inside[block] / np.asarray(self.lengths), centers)
                result[block] = near @ coefficients + linear_terms(inside[block]) @ trend
        return result


def matern(
    x: Float[np.ndarray, "rows dimensions"], y: Float[np.ndarray, "others dimensions"]
) -> Float[np.ndarray, "rows others"]:
    """m(d) = (1 + s + s^2 / 3) exp(-s), s = sqrt(5) d, for all distances d between rows of x and y."""
    s = (-2 * x) @ y.T
    s += (x * x).sum(axis=1)[:, None]
    s += (y * y).sum(axis=1)
    np.maximum(s, 0.0, out=s)
    s *= 5
    np.sqrt(s, out=s)
    result = s / 3
    result += 1
    result *= s
    result += 1
    np.negative(s, out=s)
    result *= np.exp(s, out=s)
    return result


def linear_terms(positions: Float[np.ndarray, "rows dimensions"]) -> Float[np.ndarray, "rows terms"]:
    """(1, z)."""
    return np.column_stack([np.ones(len(positions)), positions])
