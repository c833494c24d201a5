"""Fitted Q evaluation by polynomials of the state, one an action and a number of steps left."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from repbm.core import FittedQRules, stream
from repbm.critics._action_values import ActionFunction, StepwiseValues
from repbm.critics._bellman import BellmanTable
from repbm.critics._bellman_sums import Problem, Sample, Sums
from repbm.critics._fqe_columns import relevant_columns
from repbm.critics._fqe_forest import completed
from repbm.critics._fqe_time import changes_with_time, values_by_step
from repbm.critics._ridge_choice import SELDOM, RidgeChoice
from repbm.models.regression._features import exponents, highest_degree
from repbm.models.transitions._range import Range

_MOST_UNKNOWNS = 400
_SAMPLED_CELLS = 500_000
_TOP = 8


def polynomial_values(
    transitions: BellmanTable,
    actions: int,
    discount: float,
    rewards: tuple[float, float],
    horizon: int,
    seed: int,
    rules: FittedQRules = FittedQRules(),  # noqa: B008 - frozen
    forests: bool = False,
) -> ActionFunction:
    """Q with one step left, then two, and so on: each by regressions on r + gamma sum_a' pi(a' | s') Q(s', a', h - 1).

    Every regression uses all steps of the log, since a step does the same whenever it is taken. Degree and penalty are
    those of the least error on held-out episodes, all judged by the same targets: the error of a candidate against its
    own targets would favor those whose values hardly vary. Where they miss what
    happens with a number of steps left, it is fitted to the steps that have it.
    """
    box = Range.over(np.concatenate([transitions.states, transitions.following[transitions.onward]]))
    problem = Problem(transitions, actions, discount, rewards, horizon, _folds(transitions, rules.folds, seed), box)
    powers, sets = _features(problem, seed, rules)
    found = _pooled(problem, powers, sets, seed, rules)
    if changes_with_time(problem, powers, found, rules):
        return _values(problem, powers, values_by_step(problem, powers, sets, found, rules))
    values = _values(problem, powers, found)
    return completed(problem, values, seed, rules) if forests else values


def _values(problem: Problem, powers: np.ndarray, coefficients: np.ndarray) -> StepwiseValues:
    needed = np.flatnonzero((coefficients != 0).any(axis=(0, 1)))
    needed = needed if len(needed) else np.array([0])
    return StepwiseValues(problem.box.center, problem.box.half_width, powers[needed], coefficients[:, :, needed])


def _pooled(
    problem: Problem, powers: np.ndarray, sets: tuple[np.ndarray, ...], seed: int, rules: FittedQRules
) -> Float[np.ndarray, "horizon actions features"]:
    """The coefficients of Q by regressions of all steps.

    What bounds change of the targets is summed over a sample of the steps. Where a regression runs away from them that
    is too coarse: what the sample does not show goes on growing. It is then summed over all.
    """
    chain = Chain.of(problem, powers, sets, seed, rules, _SAMPLED_CELLS)
    found, beyond = chain.values(problem.horizon)
    if beyond <= rules.runaway or chain.sample.share == 1.0:
        return found
    return replace(
        chain, sample=Sample.of(problem, powers, _rows(rules.most_cells, powers), stream(seed, "fqe"))
    ).values(problem.horizon)[0]


@dataclass(frozen=True, eq=False)
class Chain:
    """Regressions of all steps, one after the other."""

    first: Sums
    later: Sums
    sample: Sample
    sets: tuple[Int[np.ndarray, " _"], ...]
    penalties: tuple[float, ...]

    @classmethod
    def of(
        cls,
        problem: Problem,
        powers: np.ndarray,
        sets: tuple[np.ndarray, ...],
        seed: int,
        rules: FittedQRules,
        cells: int,
    ) -> Chain:
        rows = np.arange(len(problem.transitions))
        return cls(
            Sums.over(problem, rows, powers, onward=False),
            Sums.over(problem, problem.later, powers, onward=True),
            Sample.of(problem, powers, _rows(cells, powers), stream(seed, "fqe")),
            sets,
            rules.penalties,
        )

    def values(self, horizon: int) -> tuple[Float[np.ndarray, "horizon actions features"], float]:
        """The coefficients of Q for every number of steps left, and how many times the range of returns bounds moved a
        target."""
        _, actions, size, _ = self.first.gram.shape
        result = np.zeros((horizon, actions, size))
        result[0] = self._fitted(self.first, self.first.paid, self._choices(self.first), [None] * actions)[0]
        choices, chosen, compared, moved = self._choices(self.later), [None] * actions, 1, 0.0
        for left in range(2, horizon + 1):
            change = self.sample.targets(result[left - 2], left - 1)[1]
            moments = self.later.moments(result[left - 2])
            if change.any():
                moments += self.sample.correction(change)
                moved = max(moved, float(np.abs(change).max()))
            if left >= SELDOM * compared:
                chosen, compared = [None] * actions, left
            result[left - 1], chosen = self._fitted(self.later, moments, choices, chosen)
        return result, moved / self.sample.problem.reach

    def _choices(self, sums: Sums) -> list[RidgeChoice]:
        folds_rows = sums.gram[:, :, 0, 0]
        return [
            RidgeChoice(sums.gram[:, a], _affordable(self.sets, folds_rows[:, a].sum()), self.penalties)
            for a in range(sums.gram.shape[1])
        ]

    def _fitted(
        self, sums: Sums, moments: np.ndarray, choices: list[RidgeChoice], chosen: list
    ) -> tuple[np.ndarray, list]:
        picked = [c if c else one.best(moments[:, a]) for a, (one, c) in enumerate(zip(choices, chosen, strict=True))]
        found = [choices[a].coefficients(c, moments[:, a]) for a, c in enumerate(picked)]
        return np.stack(found), picked


def _rows(cells: int, powers: np.ndarray) -> int:
    """How many rows a sample of so many numbers has."""
    return max(cells // len(powers), 1)


def _affordable(sets: tuple[np.ndarray, ...], rows: float) -> tuple[np.ndarray, ...]:
    """Those with at most half as many features as there are rows; the constant in any case."""
    return tuple(one for one in sets if len(one) <= max(rows / 2, 1)) or (np.array([0]),)


def _features(
    problem: Problem, seed: int, rules: FittedQRules
) -> tuple[Int[np.ndarray, "features dimensions"], tuple[np.ndarray, ...]]:
    """Powers of the columns in every feature, and the sets of features that are compared.

    All columns up to a degree; where some columns tell nothing, the others up to a higher one, too.
    """
    dimensions = problem.transitions.states.shape[1]
    counts = np.bincount(problem.transitions.actions, minlength=problem.actions)
    known = min(int(counts[counts >= 10].min(initial=counts.max())), 10 * _MOST_UNKNOWNS // problem.actions)
    screened = _screened(dimensions, known)
    kept = np.arange(dimensions)
    if dimensions > 1:
        sums = Sums.over(problem, problem.later, screened, onward=True)
        sample = Sample.of(problem, screened, _rows(_SAMPLED_CELLS, screened), stream(seed, "fqe"))
        kept = relevant_columns(sums, sample, problem.horizon, screened, rules)
    if len(kept) == dimensions:
        powers = exponents(dimensions, highest_degree(dimensions, known, _TOP))
        degrees = powers.sum(axis=1)
        return powers, tuple(np.flatnonzero(degrees <= d) for d in range(int(degrees.max()) + 1))
    inner = np.zeros((0, dimensions), dtype=np.int64)
    if len(kept):
        own = exponents(len(kept), highest_degree(len(kept), known, _TOP))
        inner = np.zeros((len(own), dimensions), dtype=np.int64)
        inner[:, kept] = own
    powers = np.unique(np.concatenate([screened, inner]), axis=0)
    powers = powers[np.argsort(powers.sum(axis=1), kind="stable")]
    degrees = powers.sum(axis=1)
    among = powers[:, np.setdiff1d(np.arange(dimensions), kept)].sum(axis=1) == 0
    simple = (powers[:, None] == screened[None]).all(axis=2).any(axis=1)
    whole = [np.flatnonzero(simple & (degrees <= d)) for d in range(1, int(screened.sum(axis=1).max()) + 1)]
    return powers, (*(np.flatnonzero(among & (degrees <= d)) for d in range(int(degrees[among].max()) + 1)), *whole)


def _screened(dimensions: int, known: int) -> Int[np.ndarray, "features dimensions"]:
    """The features that tell which columns matter: all up to degree 2; without products where those are many."""
    if highest_degree(dimensions, known, 2) == 2:
        return exponents(dimensions, 2)
    powers = exponents(dimensions, 1)
    return np.concatenate([powers, 2 * powers[1:]]) if 10 * (2 * dimensions + 1) <= known else powers


def _folds(transitions: BellmanTable, count: int, seed: int) -> Int[np.ndarray, " rows"]:
    """The fold of every row: whole episodes, or steps where there are few episodes."""
    generator = stream(seed, "held-out")
    episodes = int(transitions.episodes.max()) + 1
    if episodes < 2 * count:
        return generator.permutation(len(transitions)) % count
    return (generator.permutation(episodes) % count)[transitions.episodes]
