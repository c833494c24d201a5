"""Distances between the representations of factual and counterfactual steps (integral probability metrics)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from jaxtyping import Bool, Float

from repbm.core import InputError
from repbm.models.transitions._arrays import AnyArray, constant, module_of

_NARROW = 1e-6
"""A component that varies less than so much of the widest one counts as constant."""


@dataclass(frozen=True)
class IPM(ABC):
    """The distance between two weighted samples of representations: rows z_i with weights a_i and with weights b_i.

    For a deterministic policy the weights are the indicators f_t and c_t; they need not add up to 1. A distance to an
    empty group is exactly 0. `scale_free` standardises z by the pooled mean and deviation of the two groups first, each
    counting one half: then neither a smaller nor a shifted representation is any nearer, and the gradient points along
    neither (it passes through mean and deviation; held constant, they would let the gradient shrink z for ever).
    """

    scale_free: bool = False

    @property
    def needs_pairs(self) -> bool:
        """Whether a group of a single row is as good as none."""
        return False

    def __call__(
        self,
        z: Float[AnyArray, "rows components"],
        factual_weights: Float[AnyArray, " rows"],
        counterfactual_weights: Float[AnyArray, " rows"],
    ) -> Float[AnyArray, ""]:
        a, some = _normalized(factual_weights, self.needs_pairs)
        b, others = _normalized(counterfactual_weights, self.needs_pairs)
        if self.scale_free:
            z = _standardized(z, (a + b) / 2)
        return module_of(z).where(some & others, self.measure(z, a, b), 0.0)

    @abstractmethod
    def measure(
        self, z: Float[AnyArray, "rows components"], a: Float[AnyArray, " rows"], b: Float[AnyArray, " rows"]
    ) -> Float[AnyArray, ""]:
        """The distance, for weights that add up to 1; finite, with a finite gradient, also where they are all 0."""


@dataclass(frozen=True)
class LinearMMD(IPM):
    """|sum a_i z_i - sum b_i z_i|, the maximum mean discrepancy of the linear kernel; `squared`, as published."""

    squared: bool = True

    def measure(
        self, z: Float[AnyArray, "rows components"], a: Float[AnyArray, " rows"], b: Float[AnyArray, " rows"]
    ) -> Float[AnyArray, ""]:
        square = (((a - b) @ z) ** 2).sum()
        return square if self.squared else safe_root(square)


@dataclass(frozen=True)
class RadialMMD(IPM):
    """The maximum mean discrepancy of the kernel k(x, y) = exp(-|x - y|^2 / 2h^2).

    MMD^2 = sum_ij (a_i a_j + b_i b_j - 2 a_i b_j) k_ij, the V-statistic; `unbiased` leaves out i = j within a group and
    divides the rest by 1 - sum a_i^2, the U-statistic, which may be negative and is therefore never rooted. h is the
    median distance between rows that count, constant in the gradient, unless `bandwidth` is given.
    """

    unbiased: bool = False
    squared: bool = True
    bandwidth: float | None = None

    def __post_init__(self) -> None:
        if self.unbiased and not self.squared:
            raise InputError("the unbiased discrepancy may be negative and has no root", fix="take it squared")

    @property
    def needs_pairs(self) -> bool:
        return self.unbiased

    def measure(
        self, z: Float[AnyArray, "rows components"], a: Float[AnyArray, " rows"], b: Float[AnyArray, " rows"]
    ) -> Float[AnyArray, ""]:
        squares = squared_distances(z)
        width = _median(squares, (a + b) > 0) if self.bandwidth is None else self.bandwidth**2
        kernel = module_of(z).exp(-squares / (2 * width))
        within = self._within(kernel, a) + self._within(kernel, b)
        square = within - 2 * a @ kernel @ b
        return square if self.squared else safe_root(square)

    def _within(self, kernel: Float[AnyArray, "rows rows"], a: Float[AnyArray, " rows"]) -> Float[AnyArray, ""]:
        if not self.unbiased:
            return a @ kernel @ a
        alone = (a**2).sum()
        others = module_of(a).where(alone < 1, 1 - alone, 1.0)
        # k_ii is 1.
        return (a @ kernel @ a - alone) / others


def safe_root(square: Float[AnyArray, "*shape"]) -> Float[AnyArray, "*shape"]:
    """The square root, with a gradient of 0 instead of infinity at 0."""
    numpy, positive = module_of(square), square > 0
    return numpy.where(positive, numpy.sqrt(numpy.where(positive, square, 1.0)), 0.0)


def squared_distances(z: Float[AnyArray, "rows components"]) -> Float[AnyArray, "rows rows"]:
    """|z_i - z_j|^2, from differences: the expansion into products cancels for near rows."""
    return ((z[:, None] - z[None]) ** 2).sum(axis=-1)


def _normalized(weights: Float[AnyArray, " rows"], pairs: bool) -> tuple[Float[AnyArray, " rows"], Bool[AnyArray, ""]]:
    """Weights that add up to 1, and whether the group is large enough; all 0 where it is empty."""
    total = weights.sum()
    shares = weights / module_of(weights).where(total > 0, total, 1.0)
    enough = (weights > 0).sum() > (1 if pairs else 0)
    return shares, enough & (total > 0)


def _standardized(
    z: Float[AnyArray, "rows components"], pooled: Float[AnyArray, " rows"]
) -> Float[AnyArray, "rows components"]:
    numpy = module_of(z)
    centered = z - pooled @ z
    variance = pooled @ centered**2
    wide = variance > constant(_NARROW**2 * variance.max())
    return centered / numpy.where(wide, numpy.sqrt(numpy.where(wide, variance, 1.0)), 1.0)


def _median(squares: Float[AnyArray, "rows rows"], counts: Bool[AnyArray, " rows"]) -> Float[AnyArray, ""]:
    """The median squared distance between different rows that count; 1 where there is none."""
    numpy = module_of(squares)
    pairs = counts[:, None] & counts[None] & ~numpy.eye(len(counts), dtype=bool)
    found = numpy.nanmedian(numpy.where(pairs, constant(squares), numpy.nan))
    return numpy.where(found > 0, found, 1.0)
