"""The fit of sums of kernels: Gaussian process regression on a few centers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from repbm.core import stream
from repbm.models.regression._kernel import KernelSum, linear_terms, matern
from repbm.models.regression._kernel_scales import KernelScales, Part, likely_scales
from repbm.models.regression._pivoted_cholesky import pivoted_cholesky
from repbm.models.regression._ridge import Moments
from repbm.models.transitions._padding import bucket, padded

_ROWS = 1 << 12
_LEARNED_FROM = 256
_FEW = 10
_RIDGE = 1e-14
_LINEAR = 1e-3


@dataclass(frozen=True)
class Size:
    """At most so many centers an action, chosen among so many of its rows, and so many rows that are explained."""

    centers: int
    candidates: int
    rows: int


COARSE = Size(centers=1 << 8, candidates=1 << 11, rows=1 << 11)
FINE = Size(centers=1 << 10, candidates=1 << 13, rows=1 << 15)


@dataclass(frozen=True, eq=False)
class KernelProblem:
    """Outputs to be explained by positions in the box, for every action on its own, with weights on the rows."""

    positions: Float[np.ndarray, "steps dimensions"]
    actions: Int[np.ndarray, " steps"]
    targets: Float[np.ndarray, "steps outputs"]
    weights: Float[np.ndarray, " steps"]
    action_count: int
    seed: int

    def scales(self, rows: Bool[np.ndarray, " steps"]) -> KernelScales:
        """Lengths and noise, from some of these rows of every action, and the outputs that are not simply linear.

        The noise is that in units of the deviation of the outputs.
        """
        units = self.targets[self.weights > 0].std(axis=0)
        generator = stream(self.seed, "lengths")
        parts: list[Part] = []
        for own in self._by_action(rows):
            if len(own) >= _FEW * (1 + self.positions.shape[1]):
                left = self.targets[own] - linear_terms(self.positions[own]) @ self._trend(own)
                curved = left.std(axis=0) > _LINEAR * units
                some = generator.permutation(len(own))[:_LEARNED_FROM]
                if curved.any():
                    parts.append((self.positions[own[some]], (left[some] / np.where(units > 0, units, 1.0))[:, curved]))
        return likely_scales(parts) if parts else KernelScales(np.full(self.positions.shape[1], 2.0), 1.0, 0.0)

    def fitted(self, rows: Bool[np.ndarray, " steps"], scales: KernelScales, size: Size) -> KernelSum:
        """The sum of kernels with these scales that explains these rows best."""
        generator = stream(self.seed, "centers")
        found = [self._of_action(own, scales, size, generator) for own in self._by_action(rows)]
        count = bucket(max(len(centers) for centers, _, _ in found))
        return KernelSum(
            scales.lengths,
            np.stack([padded(centers, count) for centers, _, _ in found]),
            np.stack([padded(coefficients, count) for _, coefficients, _ in found]),
            np.stack([trend for _, _, trend in found]),
        )

    def _of_action(
        self, own: Int[np.ndarray, " rows"], scales: KernelScales, size: Size, generator: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Centers, coefficients and trend.

        argmin_c sum w (y - x'c)^2 + noise |c|^2 with whitened features x = L^-1 m(., centers), LL' the kernel matrix of
        the centers: the Gaussian process given all rows, as far as the centers can express it (Nystroem).
        """
        trend = self._trend(own)
        own = own[generator.permutation(len(own))[: size.rows]]
        first, rest = own[: size.candidates], own[size.candidates :]
        x = self.positions[first] / scales.lengths
        chosen, factor = pivoted_cholesky(x, size.centers, 0.1 * scales.noise, generator)
        centers, lower = x[chosen], factor[chosen]
        moments = Moments.zero(len(chosen), self.targets.shape[1])
        if not len(chosen):
            return centers, moments.cross, trend
        scale = self.weights[own].mean()

        def add(rows: np.ndarray, features: np.ndarray) -> None:
            left = self.targets[rows] - linear_terms(self.positions[rows]) @ trend
            moments.add(features, left, self.weights[rows] / scale)

        add(first, factor)
        for start in range(0, len(rest), _ROWS):
            block = rest[start : start + _ROWS]
            near = matern(self.positions[block] / scales.lengths, centers)
            add(block, solve_triangular(lower, near.T, lower=True).T)
        penalty = max(scales.noise, _RIDGE * len(own)) * np.eye(len(chosen))
        solved = cho_solve(cho_factor(moments.gram + penalty, lower=True), moments.cross)
        return centers, solve_triangular(lower.T, solved, lower=False), trend

    def _trend(self, own: Int[np.ndarray, " rows"]) -> Float[np.ndarray, "terms outputs"]:
        """The plain linear regression of an action's rows; a constant where they are few."""
        terms = linear_terms(self.positions[own])
        result = np.zeros((terms.shape[1], self.targets.shape[1]))
        used = terms.shape[1] if len(own) >= _FEW * terms.shape[1] else 1
        if len(own):
            root = np.sqrt(self.weights[own])[:, None]
            result[:used] = np.linalg.lstsq(root * terms[:, :used], root * self.targets[own], rcond=None)[0]
        return result

    def _by_action(self, rows: Bool[np.ndarray, " steps"]) -> list[Int[np.ndarray, " rows"]]:
        used = rows & (self.weights > 0)
        return [np.flatnonzero(used & (self.actions == action)) for action in range(self.action_count)]
