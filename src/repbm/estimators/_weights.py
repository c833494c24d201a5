"""Importance weights of every logged step."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int

from repbm.core import say
from repbm.data import Block, ImportanceWeights, StepValues, Trajectories, log_products, over_blocks

LARGEST_LOG = 600.0
"""Logarithms of weights beyond this, either way, are kept relative to the largest of their step."""
_LARGEST_SQUARED = 1e140
"""Sums of squares of weights beyond this may exceed floating point."""


def log_reach(logs: Float[np.ndarray, " steps"]) -> float:
    """How far from 0 logarithms are, those of 0 aside."""
    low = logs.min()
    low = low if low > -np.inf else logs.min(where=logs > -np.inf, initial=0.0)
    return float(max(-low, logs.max()))


def carried_weights(
    data: Trajectories, last: Float[np.ndarray, " episodes"], groups: Int[np.ndarray, " episodes"], count: int
) -> Float[np.ndarray, "groups longest"]:
    """For every group and step, the sum of what episodes that finished before it have at last."""
    width = data.longest + 1
    ended = np.bincount(groups * width + data.lengths, last, count * width).reshape(count, width)
    return np.cumsum(ended, axis=1)[:, :-1]


@dataclass(frozen=True, eq=False)
class Weights:
    """w_t = rho_0 ... rho_t of every logged step.

    They are kept as multiples of exp(m_t), m_t one number a step, so that products of many ratios neither overflow nor
    vanish; m_t is 0 unless that is needed (`log_scales` is then None). A finished episode keeps its last weight in
    every later sum over episodes.
    """

    data: Trajectories
    scaled: Float[np.ndarray, " steps"]
    log_last: Float[np.ndarray, " episodes"]
    """log w_{L-1} of every episode."""
    log_scales: Float[np.ndarray, " longest"] | None = None

    @classmethod
    def of_ratios(cls, data: Trajectories, ratios: StepValues) -> Weights:
        scaled, log_last = np.empty(len(data.rewards)), np.empty(len(data))

        def work(block: Block) -> float:
            logs = log_products(ratios(block.entries), block.offsets)
            log_last[block.segments] = logs[block.offsets[1:] - 1]
            reach = log_reach(logs)
            with np.errstate(over="ignore"):
                np.exp(logs, out=scaled[block.entries])
            return reach

        if max(over_blocks(work, data.offsets)) <= LARGEST_LOG:
            return cls(data, scaled, log_last)
        logs = np.concatenate(
            list(over_blocks(lambda block: log_products(ratios(block.entries), block.offsets), data.offsets))
        )
        scales = np.full(data.longest, -np.inf)
        np.maximum.at(scales, data.steps, logs)
        finished = np.full(data.longest + 1, -np.inf)
        np.maximum.at(finished, data.lengths, log_last)
        scales = np.maximum(scales, np.maximum.accumulate(finished)[:-1])
        scales[scales == -np.inf] = 0.0
        return cls(data, np.exp(logs - scales[data.steps]), log_last, scales)

    def plain(self, at: slice) -> Float[np.ndarray, " block"]:
        """w_t itself, inf beyond floating point."""
        if self.log_scales is None:
            return self.scaled[at]
        with np.errstate(over="ignore"):
            return self.scaled[at] * np.exp(self.log_scales)[self.data.steps[at]]

    @property
    def plain_before(self) -> StepValues:
        """w_{t-1} itself, with w_{-1} = 1."""
        return self.before if self.log_scales is None else self.data.delayed(self.plain(slice(None)), 1.0)

    @property
    def before(self) -> StepValues:
        """The scaled w_{t-1} of every step, with w_{-1} = 1."""
        return self.data.delayed(self.scaled, 1.0)

    def non_negligible(self, share: float) -> Bool[np.ndarray, " steps"]:
        """Which steps to keep so that the others together carry at most this share of the w_{t-1} of their step t.

        Equal weights stay together, so that the order of the episodes does not matter.
        """
        steps = self.data.steps
        before = self.before(slice(None))
        mass = np.bincount(steps, before)
        part = np.divide(before, mass[steps], out=np.zeros_like(before), where=mass[steps] > 0)
        order = np.lexsort((part, steps))
        ends = np.cumsum(np.bincount(steps))
        reached = np.cumsum(part[order])
        within = reached - np.concatenate([[0.0], reached])[ends - np.bincount(steps)][steps[order]]
        kept = within > share
        least = np.full(len(mass), np.inf)
        np.minimum.at(least, steps[order][kept], part[order][kept])
        return part >= least[steps] * (1 - 1e-9)

    @cached_property
    def normalizers(self) -> Float[np.ndarray, " longest"]:
        """n / sum of the scaled w_t over all episodes, for every step t; 0 where no episode has any weight."""
        return np.divide(len(self.data), self.sums, out=np.zeros_like(self.sums), where=self.sums > 0)

    @property
    def held(self) -> Float[np.ndarray, " longest"]:
        """The mean of the normalized w_t over all episodes: 1, unless weights were limited or none is left."""
        return self.sums * self.normalizers / len(self.data)

    def limited(self, largest: float) -> Weights:
        """None of them more than so many times the mean of its step (Ionides 2008).

        What is cut off is not handed to the others: the weights of such a step average less than 1.
        """
        normal = self.normalizers[self.data.steps]
        most = np.divide(largest, normal, out=np.full_like(normal, np.inf), where=normal > 0)
        scaled = np.minimum(self.scaled, most)
        lasts = self.data.lasts
        with np.errstate(divide="ignore", invalid="ignore"):
            lower = np.where(scaled[lasts] < self.scaled[lasts], np.log(scaled[lasts] / self.scaled[lasts]), 0.0)
        return _LimitedWeights(self.data, scaled, self.log_last + lower, self.log_scales, unlimited=self.normalizers)

    @property
    def normalized(self) -> ImportanceWeights:
        """w_t over its mean at every step, and the effective episodes behind it."""
        return ImportanceWeights(self.scaled * self.normalizers[self.data.steps], self.effective_episodes)

    @property
    def last(self) -> Float[np.ndarray, " episodes"]:
        """The weight of every episode's last step, relative to the scale of the last step of all."""
        return np.exp(self.log_last if self.log_scales is None else self.log_last - self.log_scales[-1])

    def logs_at(self, step: int) -> Float[np.ndarray, " episodes"]:
        """log w_t of every episode, of one that is finished its last."""
        at = self.data.starts + np.minimum(step, self.data.lengths - 1)
        with np.errstate(divide="ignore"):
            logs = np.log(self.scaled[at])
        return logs if self.log_scales is None else logs + self.log_scales[self.data.steps[at]]

    def carried(
        self, groups: Int[np.ndarray, " episodes"], count: int, power: int = 1
    ) -> Float[np.ndarray, "groups longest"]:
        """For every group and step, the sum of the last weights, to a power, of episodes that finished before it."""
        if self.log_scales is None:
            return carried_weights(self.data, self.last**power, groups, count)
        width = self.data.longest + 1
        cell = groups * width + self.data.lengths
        tops = np.full(width, -np.inf)
        np.maximum.at(tops, self.data.lengths, self.log_last)
        tops[tops == -np.inf] = 0.0
        ended = np.bincount(cell, np.exp(power * (self.log_last - tops[self.data.lengths])), count * width)
        with np.errstate(divide="ignore"):
            logs = np.log(ended.reshape(count, width)) + power * tops
        return np.exp(np.logaddexp.accumulate(logs, axis=1)[:, :-1] - power * self.log_scales)

    @cached_property
    def sums(self) -> Float[np.ndarray, " longest"]:
        """sum over all episodes of the scaled w_t, for every step t."""
        return self.data.step_sums(lambda at: self.scaled[at]) + self._all_carried(1)

    @cached_property
    def effective_episodes(self) -> Float[np.ndarray, " longest"]:
        """(sum w_t)^2 / sum w_t^2 over all episodes, for every step t (Kish); 0 without any weight."""
        top = float(self.scaled.max())
        if top > _LARGEST_SQUARED:
            return replace(self, scaled=self.scaled / top, log_last=self.log_last - np.log(top)).effective_episodes
        squares = self.data.step_sums(lambda at: self.scaled[at] ** 2) + self._all_carried(2)
        return np.divide(self.sums**2, squares, out=np.zeros_like(squares), where=squares > 0)

    @property
    def vanishes(self) -> bool:
        """Whether from some step on no episode has any weight."""
        return bool((self.sums == 0).any())

    @property
    def vanishing(self) -> str:
        """In words, where the weights vanish."""
        return vanishing_from(int(np.flatnonzero(self.sums == 0)[0]))

    def _all_carried(self, power: int) -> Float[np.ndarray, " longest"]:
        return self.carried(np.zeros(len(self.data), dtype=np.int64), 1, power)[0]


@dataclass(frozen=True, eq=False)
class _LimitedWeights(Weights):
    """Weights whose normalizers are those from before they were limited."""

    unlimited: Float[np.ndarray, " longest"] = field(kw_only=True)

    @cached_property
    def normalizers(self) -> Float[np.ndarray, " longest"]:
        return self.unlimited


def vanishing_from(step: int) -> str:
    """In words, that no episode has any weight from this step on."""
    return say("notes", "vanishing", step=step - 1) if step else say("notes", "vanishing_at_first")


def weightless_note(weights: Weights, rest: str) -> str:
    """Where weights vanish, and what becomes of the steps from there on: a key of the notes; else nothing."""
    if not weights.vanishes:
        return ""
    return say("notes", "vanishing_rest", vanishing=weights.vanishing, rest=say("notes", rest))
