"""Importance sampling of a log that is read in parts: sums over groups of its episodes, which add up.

Every episode belongs to one of some hundred groups. What the eight forms need are sums over the episodes of each group;
so memory does not grow with the log, and parts may be summed in any order. For intervals a group is what an episode is
in a small log: the mean of many, which are as independent, and nearly normal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from repbm.core import say, stream
from repbm.data import added, support, totals
from repbm.estimators._case import Case
from repbm.estimators._estimate import Estimate
from repbm.estimators._importance import ImportanceSampling, PerDecisionImportanceSampling
from repbm.estimators._normalized import NormalizedTerms, PooledTerms
from repbm.estimators._one_pass import PlainSums, one_pass
from repbm.estimators._weights import vanishing_from


def group_numbers(first: int, episodes: int, count: int, seed: int) -> Int[np.ndarray, " episodes"]:
    """The groups of episodes number `first` and on: of every `count` in a row one each, in random order.

    The first `count` are in order: in a log of no more each is a group of its own.
    """
    numbers = np.arange(first, first + episodes)
    result = numbers % count
    for block in range(max(first // count, 1), (first + episodes - 1) // count + 1):
        own = slice(max(block * count - first, 0), max((block + 1) * count - first, 0))
        result[own] = stream(seed, "groups", block).permutation(count)[result[own]]
    return result


@dataclass(frozen=True, eq=False)
class WeightSums:
    """Sums of importance weights by group and step, finished episodes with their last weight.

    Those with a step t are multiples of exp(log_scales[t]), those of whole episodes of exp(last_scale); minus infinity
    where there is no weight at all.
    """

    log_scales: Float[np.ndarray, " longest"]
    sums: Float[np.ndarray, "groups longest"]
    """w_t,"""
    after: Float[np.ndarray, "groups longest"]
    """discount^t w_t r_t,"""
    squares: Float[np.ndarray, " longest"]
    """and w_t^2, of all groups together."""
    last_scale: float
    last: Float[np.ndarray, " groups"]
    """w_{L-1},"""
    last_returns: Float[np.ndarray, " groups"]
    """w_{L-1} G,"""
    last_squares: float
    """and w_{L-1}^2 of all groups together."""
    whole: Float[np.ndarray, " groups"]
    """w_{L-1} G itself, and the sum of discount^t w_t r_t: inf beyond floating point."""
    stepwise: Float[np.ndarray, " groups"]

    @classmethod
    def of(cls, case: Case, groups: Int[np.ndarray, " episodes"], count: int) -> WeightSums:
        weights, rewards, returns = case.weights, case.rewards, case.returns
        pooled = NormalizedTerms(weights, rewards).pool(groups, count)
        scales = np.zeros(case.data.longest) if weights.log_scales is None else weights.log_scales
        effective, sums = weights.effective_episodes, weights.sums
        last = weights.last
        with np.errstate(over="ignore", invalid="ignore"):
            whole = np.bincount(groups, np.exp(weights.log_last) * returns, count)
            stepwise = totals(lambda at: weights.plain(at) * rewards(at), case.data.offsets)
            return cls(
                log_scales=np.where(sums > 0, scales, -np.inf),
                sums=pooled.sums,
                after=pooled.after,
                squares=np.divide(sums**2, effective, out=np.zeros_like(sums), where=effective > 0),
                last_scale=float(scales[-1]) if last.any() else -np.inf,
                last=np.bincount(groups, last, count),
                last_returns=np.bincount(groups, last * returns, count),
                last_squares=float((last**2).sum()),
                whole=whole,
                stepwise=np.bincount(groups, stepwise, count),
            )

    @classmethod
    def of_plain(cls, found: PlainSums, returns: Float[np.ndarray, " episodes"], groups: np.ndarray) -> WeightSums:
        """Where weights are their own scales."""
        sums, after, squares, last = found
        count = len(sums)
        with np.errstate(over="ignore", invalid="ignore"):
            last_returns = np.bincount(groups, last * returns, count)
            return cls(
                log_scales=np.where(sums.any(axis=0), 0.0, -np.inf),
                sums=sums,
                after=after,
                squares=squares,
                last_scale=0.0 if last.any() else -np.inf,
                last=np.bincount(groups, last, count),
                last_returns=last_returns,
                last_squares=float((last**2).sum()),
                whole=last_returns,
                stepwise=after.sum(axis=1),
            )

    def __add__(self, other: WeightSums) -> WeightSums:
        longest = max(len(self.squares), len(other.squares))
        one, two = self._until(longest), other._until(longest)
        scales = np.maximum(one.log_scales, two.log_scales)
        last = max(one.last_scale, two.last_scale)
        one, two = one._scaled(scales, last), two._scaled(scales, last)
        with np.errstate(invalid="ignore"):
            added = {
                name: getattr(one, name) + getattr(two, name)
                for name in (field.name for field in fields(self))
                if name not in ("log_scales", "last_scale")
            }
        return WeightSums(log_scales=scales, last_scale=last, **added)

    def _until(self, longest: int) -> WeightSums:
        """The same for more steps: all episodes are finished there, and keep their last weights."""
        more = longest - len(self.squares)
        if more <= 0:
            return self
        return replace(
            self,
            log_scales=np.append(self.log_scales, np.full(more, self.last_scale)),
            sums=np.column_stack([self.sums, np.repeat(self.last[:, None], more, axis=1)]),
            after=np.column_stack([self.after, np.zeros((len(self.after), more))]),
            squares=np.append(self.squares, np.full(more, self.last_squares)),
        )

    def _scaled(self, scales: Float[np.ndarray, " longest"], last: float) -> WeightSums:
        """In multiples of larger scales."""
        with np.errstate(invalid="ignore"):
            each = np.where(np.isfinite(self.log_scales), np.exp(self.log_scales - scales), 0.0)
            factor = float(np.exp(self.last_scale - last)) if np.isfinite(self.last_scale) else 0.0
        return replace(
            self,
            sums=self.sums * each,
            after=self.after * each,
            squares=self.squares * each**2,
            last=self.last * factor,
            last_returns=self.last_returns * factor,
            last_squares=self.last_squares * factor**2,
        )

    @cached_property
    def effective_episodes(self) -> Float[np.ndarray, " longest"]:
        """(sum w_t)^2 / sum w_t^2 over all episodes, for every step t."""
        total = self.sums.sum(axis=0)
        return np.divide(total**2, self.squares, out=np.zeros_like(total), where=self.squares > 0)

    @property
    def vanishing(self) -> str:
        """In words, where no episode has any weight; nothing where some always have."""
        gone = np.flatnonzero(self.sums.sum(axis=0) == 0)
        if not len(gone):
            return ""
        return vanishing_from(int(gone[0]))


@dataclass(frozen=True, eq=False)
class GroupSums:
    """A log and a policy, summed within groups of episodes: what importance sampling and diagnostics need.

    `len` is the number of groups. Softened weights by how much the policy is softened.
    """

    sizes: Float[np.ndarray, " groups"]
    """Episodes of each group,"""
    returns: Float[np.ndarray, " groups"]
    """and the sum of their returns."""
    squared_returns: float
    alive: Int[np.ndarray, " longest"]
    factual: Float[np.ndarray, " longest"]
    counterfactual: Float[np.ndarray, " longest"]
    weights: dict[float, WeightSums]

    @classmethod
    def of(cls, case: Case, first: int, count: int, seed: int, softenings: tuple[float, ...] = (0.0,)) -> GroupSums:
        """Of a part of a log, whose first episode has this number."""
        groups = group_numbers(first, len(case.data), count, seed)
        found = one_pass(case, groups, count, softenings)
        if found is None:
            followed = support(case.data, case.decisions.logged)
            factual, counterfactual = followed.factual_count, followed.counterfactual_count
            weights = {each: WeightSums.of(case.softened(each), groups, count) for each in softenings}
        else:
            factual, counterfactual = found.factual, found.counterfactual
            weights = {each: WeightSums.of_plain(own, case.returns, groups) for each, own in found.weights.items()}
        return cls(
            sizes=np.bincount(groups, minlength=count).astype(np.float64),
            returns=np.bincount(groups, case.returns, count),
            squared_returns=float((case.returns**2).sum()),
            alive=case.data.alive,
            factual=factual,
            counterfactual=counterfactual,
            weights=weights,
        )

    def __add__(self, other: GroupSums) -> GroupSums:
        return GroupSums(
            sizes=self.sizes + other.sizes,
            returns=self.returns + other.returns,
            squared_returns=self.squared_returns + other.squared_returns,
            alive=added(self.alive, other.alive),
            factual=added(self.factual, other.factual),
            counterfactual=added(self.counterfactual, other.counterfactual),
            weights={each: own + other.weights[each] for each, own in self.weights.items()},
        )

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def longest(self) -> int:
        return len(self.alive)

    @property
    def episodes(self) -> int:
        return int(self.sizes.sum())

    @property
    def mean_returns(self) -> Float[np.ndarray, " groups"]:
        """One number a group, whose mean is the mean return of all episodes."""
        return self.returns * (len(self) / self.episodes)

    def estimate(self, estimator: ImportanceSampling | PerDecisionImportanceSampling) -> Estimate:
        """What the estimator says of all episodes; contributions are those of groups."""
        sums, stepwise = self.weights[estimator.softening], isinstance(estimator, PerDecisionImportanceSampling)
        effective, vanishing = float(sums.effective_episodes[-1]), sums.vanishing
        if not estimator.normalized:
            note = (
                say("notes", "vanishing_rest", vanishing=vanishing, rest=say("notes", "nothing_after"))
                if vanishing
                else ""
            )
            own = (sums.stepwise if stepwise else sums.whole) * (len(self) / self.episodes)
            return Estimate.of_contributions(own, effective, note)
        if vanishing:
            return Estimate(None, None, effective, say("notes", "not_defined", reason=vanishing))
        above, below = (sums.after, sums.sums) if stepwise else (sums.last_returns[:, None], sums.last[:, None])
        contributions = (above / below.sum(axis=0)).sum(axis=1) * len(self)
        return Estimate(float(contributions.mean()), contributions, effective, pool=self._pool(above, below))

    def _pool(
        self, above: Float[np.ndarray, "groups longest"], below: Float[np.ndarray, "groups longest"]
    ) -> Callable[[Int[np.ndarray, " groups"], int], PooledTerms]:
        def pool(groups: np.ndarray, count: int) -> PooledTerms:
            tables = (np.zeros((count, below.shape[1])), np.zeros((count, below.shape[1])), np.zeros(count))
            for table, own in zip(tables, (below, above, self.sizes), strict=True):
                np.add.at(table, groups, own)
            return PooledTerms(tables[0], tables[1], None, tables[2])

        return pool
