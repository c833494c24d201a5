"""The corrected estimate of a log that is read in parts: sums over groups of its episodes, which add up."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int

from repbm.estimators._case import Case
from repbm.estimators._corrected import Corrected, MarginalCritic, shifted, surprises
from repbm.estimators._estimate import Estimate
from repbm.estimators._reward_range import RewardRange
from repbm.estimators._step_sums import StepSums


@runtime_checkable
class FoldCritic(MarginalCritic, Protocol):
    """A critic that was fitted without each fold of a log, and may be asked about other episodes, too."""

    @property
    def folds(self) -> Int[np.ndarray, " episodes"]:
        """The fold of every logged episode."""
        ...

    @property
    def asked_elsewhere(self) -> bool:
        """Whether `elsewhere` takes no longer than to read other episodes."""
        ...

    def alone(self) -> FoldCritic:
        """What `elsewhere` needs, without all that is known of the log that it was fitted to."""
        ...

    def elsewhere(self, case: Case, folds: Int[np.ndarray, " episodes"]) -> FoldCritic:
        """The same critic, not fitted again, of other episodes, each judged by what is known without this fold."""
        ...

    def initial_by_fold(self, case: Case) -> Float[np.ndarray, "folds episodes"]:
        """V_0 of logged individuals by what is known without each fold."""
        ...

    def error_of(self, means: Float[np.ndarray, " folds"]) -> float:
        """The standard error of the mean V_0 that comes from fitting, where these are its means by fold."""
        ...


@dataclass(frozen=True, eq=False)
class CorrectedSums:
    """A log and a policy, summed within groups of episodes: what the corrected estimate needs.

    The critic is one that was fitted to a sample. `len` is the number of groups: for intervals a group is what an
    episode is in a small log.
    """

    discount: float
    sizes: Float[np.ndarray, " groups"]
    """Episodes of each group,"""
    initial: Float[np.ndarray, " groups"]
    """their V_0 in all,"""
    earned: Float[np.ndarray, " groups"]
    """and what they earned, to their end."""
    by_fold: Float[np.ndarray, " folds"]
    """V_0 of all episodes by what is known without each fold."""
    marginal: StepSums
    """By state ratios times the ratio of the step, cut at sqrt(n)."""
    products: StepSums | None
    """By products of all ratios, where states do not hold all that matters."""
    cut_off: int
    """How many episodes the log lost sight of."""
    rewards: RewardRange

    @classmethod
    def of(
        cls, case: Case, critic: FoldCritic, groups: Int[np.ndarray, " episodes"], shape: tuple[int, int], episodes: int
    ) -> CorrectedSums:
        """Of a part of a log with so many `episodes`; `shape` is the number of groups and of steps."""
        data, count = case.data, shape[0]
        assert data.behavior is not None
        ratio = case.decisions.logged(slice(None)) / data.behavior
        surprise, products = surprises(case, critic), None
        if not critic.states_tell_all:
            with np.errstate(over="ignore", invalid="ignore"):
                plain = case.weights.plain(slice(None))
                products = StepSums.of(data, plain, surprise, groups, shape, episodes)
        weights, most = critic.ratios(case) * ratio, float(np.sqrt(episodes))
        return cls(
            discount=case.discount,
            sizes=np.bincount(groups, minlength=count).astype(np.float64),
            initial=np.bincount(groups, critic.initial(case).values, count),
            earned=np.bincount(groups, critic.earned(case), count),
            by_fold=critic.initial_by_fold(case).sum(axis=1),
            marginal=StepSums.of(data, weights, surprise, groups, shape, episodes, most),
            products=products,
            cut_off=int((~case.whole).sum()),
            rewards=RewardRange.of(case),
        )

    def __add__(self, other: CorrectedSums) -> CorrectedSums:
        products = None
        if self.products is not None and other.products is not None:
            products = self.products + other.products
        return CorrectedSums(
            discount=self.discount,
            sizes=self.sizes + other.sizes,
            initial=self.initial + other.initial,
            earned=self.earned + other.earned,
            by_fold=self.by_fold + other.by_fold,
            marginal=self.marginal + other.marginal,
            products=products,
            cut_off=self.cut_off + other.cut_off,
            rewards=self.rewards + other.rewards,
        )

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def longest(self) -> int:
        return self.marginal.terms.shape[1]

    @property
    def episodes(self) -> int:
        return int(self.sizes.sum())

    @cached_property
    def mean_earned(self) -> Float[np.ndarray, " groups"]:
        """One number a group, whose mean is the mean of what all episodes earned."""
        return self._by_group(self.earned)

    def estimate(self, estimator: Corrected, critic: FoldCritic, note: str) -> Estimate:
        """What the estimator says of all episodes; contributions are those of groups. `note` is that of the critic."""
        corrections = self.marginal.corrections(self.discount, self.sizes)
        contributions = self._by_group(self.initial + corrections)
        critic_error = estimator.left_of(critic.error_of(self.by_fold / self.episodes), self.marginal.held)
        if self.products is not None:
            followed = float(self.products.effective_episodes.min(initial=np.inf))
            if followed >= estimator.fewest_followed:
                gap = self.products.corrections(self.discount, self.sizes) - corrections
                shift, rest = shifted(self._by_group(gap))
                contributions, critic_error = contributions + shift, float(np.hypot(critic_error, rest))
        least = float(self.marginal.effective_episodes.min(initial=self.episodes))
        return Estimate.of_contributions(contributions, least, note, critic_error=critic_error, linearized=True)

    def _by_group(self, sums: Float[np.ndarray, " groups"]) -> Float[np.ndarray, " groups"]:
        """One number a group, whose mean is that of episodes, and which a group of one more episode does not change."""
        mean = float(sums.sum()) / self.episodes
        return mean + (sums - self.sizes * mean) * (len(self) / self.episodes)
