"""What polynomials miss of action values, told by forests: steps, waves, exceptions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.sparse import csr_array
from sklearn.tree import ExtraTreeRegressor

from repbm.core import FittedQRules, in_threads, stream
from repbm.critics._action_values import ActionFunction, StepwiseValues
from repbm.critics._bellman_sums import Problem

_ROWS, _CELLS = 1 << 13, 1 << 21


@dataclass(frozen=True, eq=False)
class Leaves:
    """The leaves that a state falls into, one a tree, numbered through all trees."""

    trees: tuple[ExtraTreeRegressor, ...]
    numbers: tuple[Int[np.ndarray, " _"], ...]
    """Of the nodes of every tree those that are leaves."""
    count: int

    @classmethod
    def of(cls, trees: tuple[ExtraTreeRegressor, ...]) -> Leaves:
        numbers, count = [], 0
        for tree in trees:
            ends = tree.tree_.children_left < 0
            numbers.append((count + np.cumsum(ends) - 1).astype(np.int32))
            count += int(ends.sum())
        return cls(trees, tuple(numbers), count)

    def __call__(self, states: Float[np.ndarray, "rows dimensions"]) -> Int[np.ndarray, "trees rows"]:
        x = np.ascontiguousarray(states, np.float32)
        each = zip(self.trees, self.numbers, strict=True)
        return np.stack(list(in_threads(lambda one: one[1][one[0].apply(x, check_input=False)], each)))


@dataclass(frozen=True, eq=False)
class CompletedValues(ActionFunction):
    """Q(s, a, h) by polynomials, plus the mean over trees of what these miss in the leaf of s."""

    polynomials: StepwiseValues
    leaves: dict[int, Leaves]
    """By action,"""
    missed: dict[int, Float[np.ndarray, "horizon _"]]
    """and what is missed in every leaf; row h - 1 for h steps left."""

    def __call__(self, observations: np.ndarray, left: np.ndarray) -> np.ndarray:
        result = self.polynomials(observations, left)
        for action, leaves in self.leaves.items():
            missed = self.missed[action]
            for start in range(0, len(left), _ROWS):
                block = slice(start, start + _ROWS)
                result[block, action] += missed[left[block] - 1, leaves(observations[block])].mean(axis=0)
        return result


def completed(problem: Problem, polynomials: StepwiseValues, seed: int, rules: FittedQRules) -> ActionFunction:
    """These values, and what forests tell of what they miss; the values alone where that is nothing.

    Of a longer log a few trees on few steps say whether it is worth the time.
    """
    asked = sorted({1, -(-problem.horizon // 3), problem.horizon})
    few = replace(rules, trees=rules.few_trees, forest_steps=rules.few_steps)
    long = len(problem.transitions) > rules.few_steps
    if long and not _any(_Forests.grown(problem, polynomials, asked, seed, few).added(asked)):
        return polynomials
    forests = _Forests.grown(problem, polynomials, asked, seed, rules)
    missed = forests.added(range(1, problem.horizon + 1))
    return CompletedValues(polynomials, forests.leaves, missed) if _any(missed) else polynomials


def _any(missed: dict[int, Float[np.ndarray, "horizon _"]]) -> bool:
    return any(each.any() for each in missed.values())


@dataclass(frozen=True, eq=False)
class _Forest:
    """The trees of an action: what each knows teaches its leaves, and what it does not know judges them."""

    rows: Int[np.ndarray, " some"]
    leaves: Leaves
    places: Int[np.ndarray, "trees some"]
    known: Bool[np.ndarray, "trees some"]

    @classmethod
    def grown(
        cls,
        rows: Int[np.ndarray, " some"],
        states: Float[np.ndarray, "some dimensions"],
        targets: Float[np.ndarray, "some outputs"],
        known: Bool[np.ndarray, "trees some"],
        seeds: list[int],
        smallest_leaf: int,
    ) -> _Forest:
        x = np.ascontiguousarray(states, np.float32)

        def tree(number: int) -> ExtraTreeRegressor:
            empty = ExtraTreeRegressor(min_samples_leaf=smallest_leaf, max_features=1.0, random_state=seeds[number])
            return empty.fit(x[known[number]], targets[known[number]], check_input=False)

        # Trees grow, and are asked, without the interpreter.
        leaves = Leaves.of(tuple(in_threads(tree, range(len(seeds)))))
        return cls(rows, leaves, leaves(states), known)

    def means(self, told: Bool[np.ndarray, " some"]) -> csr_array:
        """Makes of rows the means of leaves, each over those rows that its tree knows and that are told."""
        trees, some = np.nonzero(self.known & told)
        place = self.places[trees, some]
        counts = np.bincount(place, minlength=self.leaves.count)
        return csr_array((1.0 / counts[place], (place, some)), shape=(self.leaves.count, len(self.rows)))

    @cached_property
    def judged(self) -> csr_array:
        """Makes of the means of leaves what trees say of the rows that they do not know."""
        some, trees = np.nonzero(~self.known.T)
        counts = np.bincount(some, minlength=len(self.rows))
        shape = len(self.rows), self.leaves.count
        return csr_array((1.0 / counts[some], (some, self.places[trees, some])), shape=shape)


@dataclass(frozen=True, eq=False)
class _Forests:
    """Trees of every action, grown on what polynomials miss; each knows half of the episodes.

    With the trees fixed, to regress on their leaves is to take means: what is worth with h steps left is added up from
    what is with h - 1, and cannot run away (Ernst, Geurts & Wehenkel 2005). The halves that trees do not know say how
    far their means must shrink, to nothing where they are noise.
    """

    problem: Problem
    polynomials: StepwiseValues
    evidence: float
    forests: dict[int, _Forest]
    """By action."""

    @classmethod
    def grown(
        cls, problem: Problem, polynomials: StepwiseValues, asked: list[int], seed: int, rules: FittedQRules
    ) -> _Forests:
        problem = _part(problem, rules.forest_steps)
        part, generator = problem.transitions, stream(seed, "fqe-forest")
        missed = np.stack(list(_missed(problem, polynomials, asked))).T
        missed /= np.maximum(missed.std(axis=0), np.finfo(float).tiny)
        halves = [generator.permutation(int(part.episodes.max()) + 1) % 2 == 0 for _ in range(rules.trees)]
        seeds = generator.integers(np.iinfo(np.int32).max, size=rules.trees).tolist()
        means = rules.trees * problem.horizon * problem.actions
        # Of very many actions and steps more would be kept than that: then trees are as small as they can be.
        leaves = max(1, min(rules.most_leaves, rules.most_means // means))
        forests = {}
        for action in range(problem.actions):
            rows = np.flatnonzero(part.actions == action)
            known = np.stack([half[part.episodes[rows]] for half in halves])
            if known.sum(axis=1).min() >= 2 * rules.smallest_leaf:
                smallest = max(rules.smallest_leaf, len(rows) // (2 * leaves))
                forests[action] = _Forest.grown(rows, part.states[rows], missed[rows], known, seeds, smallest)
        return cls(problem, polynomials, rules.forest_evidence, forests)

    @property
    def leaves(self) -> dict[int, Leaves]:
        return {action: forest.leaves for action, forest in self.forests.items()}

    def added(self, asked: Sequence[int]) -> dict[int, Float[np.ndarray, "horizon _"]]:
        """What every leaf adds with so many steps left, if it is asked for all numbers in order."""
        shapes = {a: (self.problem.horizon, forest.leaves.count) for a, forest in self.forests.items()}
        result = {a: np.zeros(shape, dtype=np.float32) for a, shape in shapes.items()}
        following: dict[int, tuple[np.ndarray, csr_array]] | None = None
        for left, missed in zip(asked, _missed(self.problem, self.polynomials, asked), strict=True):
            if left > 1 and any(each[left - 2].any() for each in result.values()):
                following = following or {a: self._following(a) for a in self.forests}
                for a, (rows, expected) in following.items():
                    missed[rows] += expected @ result[a][left - 2]
            for a, mean in self._shrunk(missed, left).items():
                result[a][left - 1] = mean
        return result

    def _following(self, action: int) -> tuple[Int[np.ndarray, " some"], csr_array]:
        """The rows after which the policy may take an action, and what its leaves then add."""
        part, leaves = self.problem.transitions, self.forests[action].leaves
        rows = np.flatnonzero(part.onward & (part.policy[:, action] > 0))
        places, trees = leaves(part.following[rows]), len(leaves.trees)
        chance = np.repeat(self.problem.discount * part.policy[rows, action] / trees, trees)
        starts = np.arange(0, len(chance) + 1, trees)
        return rows, csr_array((chance, places.T.ravel(), starts), shape=(len(rows), leaves.count))

    def _shrunk(self, missed: Float[np.ndarray, " rows"], left: int) -> dict[int, Float[np.ndarray, " _"]]:
        """The means of leaves, shrunk so that trees miss least of what they do not know: to 0 if that may be chance."""
        part = self.problem.transitions
        told = np.ones(len(part), dtype=bool) if left == 1 else part.left > 1
        guessed, means = np.zeros(len(part)), {}
        for a, forest in self.forests.items():
            means[a] = self._taught[left > 1, a] @ missed[forest.rows]
            guessed[forest.rows] = forest.judged @ means[a]
        products = np.bincount(part.episodes[told], (missed * guessed)[told])
        right, spread = products.sum(), np.sqrt((products**2).sum())
        share = min(right / (guessed[told] ** 2).sum(), 1.0) if right > self.evidence * spread else 0.0
        return {a: share * mean for a, mean in means.items()}

    @cached_property
    def _taught(self) -> dict[tuple[bool, int], csr_array]:
        """What makes means of leaves by all steps, and by those after which another may follow."""
        later = self.problem.transitions.left > 1
        told = {False: np.ones(len(later), dtype=bool), True: later}
        return {
            (k, a): forest.means(rows[forest.rows]) for k, rows in told.items() for a, forest in self.forests.items()
        }


def _part(problem: Problem, most: int) -> Problem:
    """Of very many steps those of evenly spread episodes."""
    part = problem.transitions
    apart = -(-len(part) // most)
    if apart == 1:
        return problem
    rows = np.flatnonzero(part.episodes % apart == 0)
    return replace(problem, transitions=part.take(rows), folds=problem.folds[rows])


def _missed(problem: Problem, values: StepwiseValues, asked: Sequence[int]) -> Iterator[Float[np.ndarray, " rows"]]:
    """r + gamma V - Q with each of these numbers of steps left; 0 at steps that do not tell what follows so many.

    A few numbers at a time: of episodes with thousands of steps all would be gigabytes.
    """
    at_once = max(1, _CELLS // len(problem.transitions))
    for start in range(0, len(asked), at_once):
        yield from _missed_together(problem, values, asked[start : start + at_once])


def _missed_together(problem: Problem, values: StepwiseValues, asked: Sequence[int]) -> Float[np.ndarray, "asked rows"]:
    part, coefficients = problem.transitions, values.coefficients
    result = np.empty((len(asked), len(part)))
    for start in range(0, len(part), _ROWS):
        block = slice(start, start + _ROWS)
        here = part.take(np.arange(len(part))[block])
        now, then = problem.now(here, values.powers), problem.then(here, values.powers)
        for k, left in enumerate(asked):
            targets, told = here.rewards, np.ones(len(here), dtype=bool)
            if left > 1:
                targets = targets + problem.expected(here, then @ coefficients[left - 2].T, left - 1)[1]
                told = here.left > 1
            found = (now @ coefficients[left - 1].T)[np.arange(len(here)), here.actions]
            result[k, block] = np.where(told, targets - found, 0.0)
    return result
