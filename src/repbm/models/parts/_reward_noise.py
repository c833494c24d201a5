"""What single rewards are, where the expected one is known: around it, or one of a few values."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from repbm.models.parts._noise import Noise
from repbm.models.parts._part import Part
from repbm.models.parts._reward import Reward


@dataclass(frozen=True, eq=False)
class Steps:
    """Steps of a model: from which states to which, by which actions, and whether each is the last of its episode,
    because the world ends it there or time does."""

    states: Float[np.ndarray, "batch dimensions"]
    following: Float[np.ndarray, "batch dimensions"]
    actions: Int[np.ndarray, " batch"]
    last: Bool[np.ndarray, " batch"]

    def take(self, rows: np.ndarray) -> Steps:
        return Steps(*(each[rows] for each in (self.states, self.following, self.actions, self.last)))


class RewardNoise(Part):
    """Draws single rewards around the expected ones. No value of a model depends on it: values are means."""

    @abstractmethod
    def draw(
        self, generator: np.random.Generator, expected: Float[np.ndarray, " batch"], steps: Steps
    ) -> Float[np.ndarray, " batch"]: ...


class ExactRewards(RewardNoise):
    """The log's rewards are what is expected, but for next to nothing."""

    def draw(
        self, generator: np.random.Generator, expected: Float[np.ndarray, " batch"], steps: Steps
    ) -> Float[np.ndarray, " batch"]:
        return expected


class ScatteredRewards(RewardNoise):
    """The expected reward plus a held-out residual."""

    noise: Noise

    def draw(
        self, generator: np.random.Generator, expected: Float[np.ndarray, " batch"], steps: Steps
    ) -> Float[np.ndarray, " batch"]:
        return expected + np.asarray(self.noise.draw(generator, steps.actions, steps.states))[:, 0]


class ValuedRewards(RewardNoise):
    """One of the few `values` that the log's rewards have.

    How often an action pays each of them is tilted until the mean is what is expected: p_k ~ q_k exp(l v_k). `chances`
    are the cumulative p of evenly spaced means from `low` to `high`; between two of them one is drawn, so that the mean
    is kept.
    """

    values: Float[np.ndarray, " values"]
    chances: Float[np.ndarray, "actions means values"]
    low: Float[np.ndarray, " actions"]
    high: Float[np.ndarray, " actions"]

    def draw(
        self, generator: np.random.Generator, expected: Float[np.ndarray, " batch"], steps: Steps
    ) -> Float[np.ndarray, " batch"]:
        low, high = self.low[steps.actions], self.high[steps.actions]
        most = self.chances.shape[1] - 1
        place = np.divide(np.clip(expected, low, high) - low, high - low, out=np.zeros_like(expected), where=high > low)
        marks = generator.random((2, len(expected)))
        mean = np.minimum((place * most + marks[0]).astype(np.int64), most)
        reached = self.chances[steps.actions, mean]
        return self.values[np.minimum((reached <= marks[1][:, None]).sum(axis=1), len(self.values) - 1)]


class LastStepRewards(RewardNoise):
    """What is paid with the last step of an episode differs: it has an expectation of its own, and so have the others.

    The expected reward of a step is the mean of both; drawn from it alone, what is paid once would be paid several
    times, or never.
    """

    others: Reward
    others_noise: RewardNoise
    last: Reward
    last_noise: RewardNoise

    def draw(
        self, generator: np.random.Generator, expected: Float[np.ndarray, " batch"], steps: Steps
    ) -> Float[np.ndarray, " batch"]:
        result = np.empty_like(expected)
        for reward, noise, chosen in (
            (self.others, self.others_noise, ~steps.last),
            (self.last, self.last_noise, steps.last),
        ):
            rows = np.flatnonzero(chosen)
            own = steps.take(rows)
            means = np.asarray(reward(own.states, own.following))[np.arange(len(rows)), own.actions]
            result[rows] = noise.draw(generator, means, own)
        return result
