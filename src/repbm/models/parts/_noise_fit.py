"""The noise of a log: alike everywhere, or of a spread and a shape that depend on the state, as held-out steps tell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from repbm.core import FitRules
from repbm.models.parts._noise import LocalNoise, Noise
from repbm.models.parts._noise_leaves import DEPTH, MOST_LEAVES, Leaves, grown
from repbm.models.parts._noise_spread import Spread, fit_spread
from repbm.models.transitions._range import Range

_RESIDUALS = 2048
_LEAF_DRAWS = 256
_FEW = 10
_FEWEST = 200
_MOST = 1 << 13


@dataclass(frozen=True, eq=False)
class Missed:
    """What is missed on rows that were not fitted to, of all that there is to tell, and where that was."""

    residuals: Float[np.ndarray, "rows outputs"]
    changes: Float[np.ndarray, "rows outputs"]
    """How far states move, or what is earned."""
    states: Float[np.ndarray, "rows dimensions"]
    actions: Int[np.ndarray, " rows"]
    folds: Int[np.ndarray, " rows"]

    def take(self, rows: np.ndarray) -> Missed:
        return Missed(*(each[rows] for each in (self.residuals, self.changes, self.states, self.actions, self.folds)))

    def __len__(self) -> int:
        return len(self.residuals)


def residual_noise(
    missed: Missed, action_count: int, box: Range, generator: np.random.Generator, rules: FitRules
) -> Noise | None:
    """Residuals to draw from, where they are more than a small share of the change itself."""
    if not len(missed):
        return None
    spread = missed.changes.std(axis=0)
    share = np.divide(missed.residuals.std(axis=0), spread, out=np.zeros_like(spread), where=spread > 0)
    if share.max(initial=0.0) < rules.noise_share:
        return None
    some = missed.take(np.arange(0, len(missed), 1 + len(missed) // _MOST))
    form = _chosen(some, action_count, box, rules) if len(some) >= _FEWEST else _Form(False, False)
    if form == _Form(False, False):
        return Noise(np.stack([_drawn(pool, _RESIDUALS, generator) for pool in _pools(missed, action_count)]))
    fitted = [form.fitted(*_own(some, action, box)) for action in range(action_count)]
    return _local(fitted, box, generator)


@dataclass(frozen=True)
class _Form:
    """Whether the spread depends on the state, and whether the shape does."""

    spread: bool
    leaves: bool

    def fitted(self, positions: np.ndarray, residuals: np.ndarray, spread: Spread | None = None) -> _Fitted:
        """With this spread, where it is known."""
        spread = spread or fit_spread(positions, residuals, self.spread)
        scaled = residuals / spread(positions)
        leaves = grown(positions, scaled, self.leaves)
        place = leaves(positions)
        pools = [_centered(scaled[place == leaf]) for leaf in range(leaves.count)]
        return _Fitted(spread, leaves, pools)


@dataclass(frozen=True, eq=False)
class _Fitted:
    """The noise of one action."""

    spread: Spread
    leaves: Leaves
    pools: list[Float[np.ndarray, "_ _"]]

    def scores(self, positions: np.ndarray, residuals: np.ndarray) -> Float[np.ndarray, "rows outputs"]:
        """Continuous ranked probability scores of residuals: the smaller, the better."""
        unit = self.spread(positions)
        scaled, place, result = residuals / unit, self.leaves(positions), np.empty_like(residuals)
        for leaf, pool in enumerate(self.pools):
            rows = place == leaf
            result[rows] = _ranked(pool, scaled[rows])
        return result * unit


def _chosen(missed: Missed, action_count: int, box: Range, rules: FitRules) -> _Form:
    """The form with the best held-out scores, if it beats noise that is alike everywhere by enough standard errors."""
    forms = [_Form(False, False), _Form(True, False), _Form(False, True), _Form(True, True)]
    unit = missed.residuals.std(axis=0)
    unit = np.where(unit > 0, unit, 1.0)
    scores = np.zeros((len(missed), len(forms)))
    for fold in np.unique(missed.folds):
        kept, judged = missed.take(missed.folds != fold), missed.take(missed.folds == fold)
        own = np.flatnonzero(missed.folds == fold)
        if not len(kept):
            return forms[0]
        for action in range(action_count):
            rows = judged.actions == action
            if rows.any():
                given, asked = _own(kept, action, box), (box.place(judged.states[rows]), judged.residuals[rows])
                spreads = {varies: fit_spread(*given, varies) for varies in (False, True)}
                for number, form in enumerate(forms):
                    found = form.fitted(*given, spreads[form.spread]).scores(*asked)
                    scores[own[rows], number] = (found / unit).sum(axis=1)
    best = int(scores.mean(axis=0).argmin())
    gain = scores[:, 0] - scores[:, best]
    return forms[best] if gain.mean() > rules.local_noise * gain.std() / np.sqrt(len(gain)) else forms[0]


def _own(missed: Missed, action: int, box: Range) -> tuple[np.ndarray, np.ndarray]:
    """Positions and residuals of an action; of all, where it has few."""
    rows = missed.actions == action
    rows = rows if rows.sum() >= _FEW else np.ones(len(missed), dtype=bool)
    return box.place(missed.states[rows]), missed.residuals[rows]


def _pools(missed: Missed, action_count: int) -> list[np.ndarray]:
    whole = Range(np.zeros(missed.states.shape[1]), np.ones(missed.states.shape[1]))
    return [_centered(_own(missed, action, whole)[1]) for action in range(action_count)]


def _centered(pool: np.ndarray) -> np.ndarray:
    return pool - pool.mean(axis=0)


def _drawn(pool: np.ndarray, count: int, generator: np.random.Generator) -> np.ndarray:
    return pool[generator.integers(0, len(pool), count)]


def _ranked(pool: Float[np.ndarray, "draws outputs"], seen: Float[np.ndarray, "rows outputs"]) -> np.ndarray:
    """E|X - y| - E|X - X'| / 2 for X, X' drawn from the pool."""
    count = len(pool)
    result = np.empty_like(seen)
    ranks = 2 * np.arange(count) - count + 1
    for k, (values, asked) in enumerate(zip(np.sort(pool.T, axis=1), np.ascontiguousarray(seen.T), strict=True)):
        sums = np.append(0.0, np.cumsum(values))
        below = np.searchsorted(values, asked)
        distance = asked * (2 * below - count) - 2 * sums[below] + sums[-1]
        result[:, k] = (distance - (ranks * values).sum() / count) / count
    return result


def _local(fitted: list[_Fitted], box: Range, generator: np.random.Generator) -> LocalNoise:
    """In one shape for all logs of these columns: every new one is compiled anew."""
    degree = max(each.spread.degree for each in fitted)
    spreads = [each.spread.raised(degree, len(box.center)) for each in fitted]
    trees = [each.leaves.filled(2 * MOST_LEAVES - 1) for each in fitted]
    residuals = []
    for each in fitted:
        pools = [_drawn(pool, _LEAF_DRAWS, generator) for pool in each.pools]
        residuals.append(np.concatenate(pools + [pools[-1]] * (MOST_LEAVES - len(pools))))
    return LocalNoise(
        residuals=np.stack(residuals),
        center=box.center,
        half_width=box.half_width,
        scores=np.stack([spread.coefficients for spread in spreads]),
        least=np.stack([spread.least for spread in spreads]),
        most=np.stack([spread.most for spread in spreads]),
        column=np.stack([tree.column for tree in trees]),
        threshold=np.stack([tree.threshold for tree in trees]),
        child=np.stack([tree.child for tree in trees]),
        leaf=np.stack([tree.leaf for tree in trees]),
        degree=degree,
        depth=DEPTH,
        draws=_LEAF_DRAWS,
    )
