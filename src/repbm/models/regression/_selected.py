"""Polynomials whose terms are selected by cross-validation: few columns of many, and no higher a degree than helps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Bool, Float, Int

from repbm.models.regression._features import exponents, features, highest_degree
from repbm.models.regression._forward import Path, forward_path
from repbm.models.regression._polynomial import Polynomial, feature_blocks
from repbm.models.regression._ridge import Moments

FOLDS = 5
_MOST_TERMS = 350
_HIGHEST_DEGREE = 4
_LONGEST = 30
_FEW = 10
_MOST_JUDGED = 200_000
_MOST_KEPT = 1 << 24
_ROWS = 1 << 12


@dataclass(frozen=True, eq=False)
class _Blocks:
    """Features of the rows of every fold and action, a block at a time; kept where they are few, else made anew."""

    positions: Float[np.ndarray, "rows dimensions"]
    powers: Int[np.ndarray, "features dimensions"]
    rows: list[tuple[int, int, np.ndarray]]
    """Fold, action and rows."""
    _kept: dict[int, np.ndarray] = field(default_factory=dict)

    @classmethod
    def of(
        cls, positions: np.ndarray, actions: np.ndarray, folds: np.ndarray, powers: np.ndarray, action_count: int
    ) -> _Blocks:
        parts = []
        for action in range(action_count):
            own = np.flatnonzero(actions == action)
            for start in range(0, len(own), _ROWS):
                block = own[start : start + _ROWS]
                parts += [(k, action, block[folds[block] == k]) for k in range(FOLDS)]
        return cls(positions, powers, parts)

    def __iter__(self) -> Iterator[tuple[int, int, np.ndarray, np.ndarray]]:
        """Fold, action, rows and their features."""
        keep = len(self.positions) * len(self.powers) <= _MOST_KEPT
        for number, (k, action, rows) in enumerate(self.rows):
            x = self._kept.get(number)
            if x is None:
                x = features(self.positions[rows], self.powers, np)
            if keep:
                self._kept[number] = x
            yield k, action, rows, x


@dataclass(frozen=True, eq=False)
class Selected:
    """A polynomial, and what those that were fitted to other episodes miss on every row."""

    polynomial: Polynomial
    missed: Float[np.ndarray, "rows outputs"]


def fit_selected(
    positions: Float[np.ndarray, "rows dimensions"],
    actions: Int[np.ndarray, " rows"],
    targets: Float[np.ndarray, "rows outputs"],
    weights: Float[np.ndarray, " rows"],
    folds: Int[np.ndarray, " rows"],
    action_count: int,
    simpler: float,
) -> Selected:
    """For every output all terms up to a degree, or some that are selected one by one.

    The one with the fewest terms whose held-out error exceeds the least by at most `simpler` standard errors of the
    difference.
    """
    dimensions, outputs = positions.shape[1], targets.shape[1]
    counts = np.bincount(actions[weights > 0], minlength=action_count)
    observations = int(counts[counts >= _FEW].min(initial=counts.max()))
    degree = _searched(dimensions)
    powers = exponents(dimensions, degree)
    totals = powers.sum(axis=1)
    full = [int((totals <= d).sum()) for d in range(min(degree, highest_degree(dimensions, observations)) + 1)]
    longest = min(_LONGEST, max(1, observations // _FEW), len(powers))
    blocks = _Blocks.of(positions, actions, folds, powers, action_count)
    parts = [[Moments.zero(len(powers), outputs) for _ in range(action_count)] for _ in range(FOLDS)]
    for k, action, rows, x in blocks:
        parts[k][action].add(np.ascontiguousarray(x), targets[rows], weights[rows])
    whole = [_summed([part[action] for part in parts]) for action in range(action_count)]

    sizes = np.asarray([*range(1, longest + 1), *full])
    rest = [_without(whole, part) for part in parts]
    paths = [[forward_path(each, output, longest) for output in range(outputs)] for each in rest]
    complete = [[moments.solutions(full) for moments in each] for each in rest]
    # A part of the rows is enough to choose by.
    apart = 1 + len(positions) * outputs // _MOST_JUDGED
    judged = np.arange(0, len(positions), apart)
    missed = np.empty((outputs, len(judged), len(sizes)))
    for k, action, rows, x in blocks:
        some = np.flatnonzero(rows % apart == 0)
        x = x if apart == 1 else x[some]
        here = rows[some] // apart
        for output, path in enumerate(paths[k]):
            found = path.predictions(action, x)
            missed[output, here, :longest] = found[:, np.minimum(np.arange(longest), found.shape[1] - 1)]
        for d, size in enumerate(full):
            missed[:, here, longest + d] = (x[:, :size] @ complete[k][action][d][:size]).T
    best = [_simplest(targets[judged, k, None] - missed[k], weights[judged], sizes, simpler) for k in range(outputs)]

    def coefficients(paths: list[Path], complete: list[list[np.ndarray]]) -> Float[np.ndarray, "actions terms outputs"]:
        result = np.zeros((action_count, len(powers), outputs))
        for k, choice in enumerate(best):
            for action in range(action_count):
                if choice >= longest:
                    result[action, :, k] = complete[action][choice - longest][:, k]
                else:
                    count = min(int(sizes[choice]), len(paths[k].chosen))
                    result[action, paths[k].chosen[:count], k] = paths[k].coefficients(action, count)
        return result

    left = targets.copy()
    found = [coefficients(paths[k], complete[k]) for k in range(FOLDS)]
    for k, action, rows, x in blocks:
        left[rows] -= x @ found[k][action]
    final = coefficients(
        [forward_path(whole, output, longest) for output in range(outputs)], [each.solutions(full) for each in whole]
    )
    used = (final != 0).any(axis=(0, 2))
    used[0] = True
    return Selected(Polynomial.of(final[:, used], powers[used]), left)


def selected_or(
    fuller: Polynomial,
    squares: Float[np.ndarray, " outputs"],
    positions: Float[np.ndarray, "rows dimensions"],
    actions: Int[np.ndarray, " rows"],
    targets: Float[np.ndarray, "rows outputs"],
    weights: Float[np.ndarray, " rows"],
    held_out: Bool[np.ndarray, " rows"],
    folds: Int[np.ndarray, " rows"],
    simpler: float,
    fuller_gain: float,
) -> tuple[Polynomial, Float[np.ndarray, "rows outputs"], Float[np.ndarray, " outputs"]]:
    """The selected polynomial, or for some outputs the fuller one; what they miss, cross-fitted; held-out squares.

    `squares` are those of the fuller one; it is kept where it has less than a share of the selected one's.
    """
    given = positions, actions, targets, weights, folds
    found = fit_selected(*given, len(fuller.coefficients), simpler)
    judged = held_out & (weights > 0)
    if not judged.any():
        return found.polynomial, found.missed, squares
    own = weights[judged] @ found.missed[judged] ** 2 / weights[judged].sum()
    kept = squares < fuller_gain * own
    if not kept.any():
        return found.polynomial, found.missed, own
    missed = np.where(kept, cross_fitted(*given, fuller), found.missed)
    return found.polynomial.joined(fuller, kept), missed, np.where(kept, squares, own)


def cross_fitted(
    positions: Float[np.ndarray, "rows dimensions"],
    actions: Int[np.ndarray, " rows"],
    targets: Float[np.ndarray, "rows outputs"],
    weights: Float[np.ndarray, " rows"],
    folds: Int[np.ndarray, " rows"],
    polynomial: Polynomial,
) -> Float[np.ndarray, "rows outputs"]:
    """What polynomials of the same terms, fitted to the other folds, miss on every row."""
    count, outputs = len(polynomial.coefficients), targets.shape[1]
    powers = polynomial.terms
    parts = [[Moments.zero(len(powers), outputs) for _ in range(count)] for _ in range(FOLDS)]
    for action, rows, x in feature_blocks(positions, actions, powers, count):
        for k in range(FOLDS):
            own = folds[rows] == k
            parts[k][action].add(x[own], targets[rows[own]], weights[rows[own]])
    missed = targets.copy()
    for action in range(count):
        for k in range(FOLDS):
            rest = _summed([parts[other][action] for other in range(FOLDS) if other != k])
            rows = np.flatnonzero((folds == k) & (actions == action))
            missed[rows] -= features(positions[rows], powers, np) @ rest.solutions([len(powers)])[0]
    return missed


def _searched(dimensions: int) -> int:
    """The degree up to which terms are looked for one by one."""
    degree = 1
    while degree < _HIGHEST_DEGREE and len(exponents(dimensions, degree + 1)) <= _MOST_TERMS:
        degree += 1
    return degree


def _summed(parts: list[Moments]) -> Moments:
    return Moments(sum(part.gram for part in parts), sum(part.cross for part in parts))  # type: ignore[arg-type]


def _without(whole: list[Moments], part: list[Moments]) -> list[Moments]:
    return [Moments(w.gram - p.gram, w.cross - p.cross) for w, p in zip(whole, part, strict=True)]


def _simplest(
    missed: Float[np.ndarray, "rows candidates"], weights: np.ndarray, sizes: np.ndarray, simpler: float
) -> int:
    losses = weights[:, None] * missed**2
    means = losses.mean(axis=0)
    least = int(means.argmin())
    losses -= losses[:, [least]]
    error = losses.std(axis=0) / np.sqrt(max((weights > 0).sum(), 1))
    fine = means - means[least] <= simpler * error
    # Of equally many terms those of the smaller error.
    return int(np.lexsort((means, np.where(fine, sizes, sizes.max() + 1)))[0])
