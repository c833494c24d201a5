"""What worlds are made of: who acts, and small functions of numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Float

from repbm.domains.worlds._world import Probabilities

Rows = Float[np.ndarray, "batch _"]
Scores = Callable[[Rows], Rows]
"""How good every action looks, for every row of observations."""
Outcome = tuple[Rows, Float[np.ndarray, " batch"], Bool[np.ndarray, " batch"]]
"""The next states, the rewards, and whether the world ends the episode."""


def logistic(x: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-x)), for any x."""
    return 0.5 + 0.5 * np.tanh(0.5 * x)


def softmax(scores: Rows) -> Rows:
    """Probabilities in proportion to exp(score), row by row."""
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    return raised / raised.sum(axis=1, keepdims=True)


def best(scores: Rows) -> Rows:
    """Probability 1 of the action of the highest score, row by row."""
    return np.eye(scores.shape[1])[scores.argmax(axis=1)]


def between(generator: np.random.Generator, low: float, high: float) -> float:
    """A number that is drawn evenly on a logarithmic scale."""
    return float(np.exp(generator.uniform(np.log(low), np.log(high))))


def count(generator: np.random.Generator, least: int, most: int) -> int:
    """A whole number, both ends included."""
    return int(generator.integers(least, most + 1))


def by_chance(generator: np.random.Generator, probability: float) -> bool:
    """True with this probability."""
    return bool(generator.random() < probability)


def stable(generator: np.random.Generator, size: int, radius: float) -> np.ndarray:
    """A matrix whose powers die out: its largest singular value is `radius`."""
    drawn = np.eye(size) + 0.5 * generator.normal(size=(size, size)) / np.sqrt(size)
    return radius * drawn / np.linalg.norm(drawn, 2)


def calibrated(scores: Scores, sample: Rows) -> Scores:
    """The same scores around 0 in every row, of size 1 on the sample, and bounded."""
    found = scores(sample)
    size = float(np.sqrt(((found - found.mean(axis=1, keepdims=True)) ** 2).mean())) or 1.0

    def bounded(seen: Rows) -> Rows:
        given = scores(seen)
        centered = (given - given.mean(axis=1, keepdims=True)) / size
        return 1.6 * np.tanh(centered / 1.6)

    return bounded


def habits(generator: np.random.Generator, actions: int, sample: Rows, strength: float) -> Scores:
    """What is done out of habit: random preferences, which change with the observations."""
    center, scale = sample.mean(axis=0), sample.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    slopes = generator.normal(size=(sample.shape[1], actions)) * strength / np.sqrt(sample.shape[1])
    usual = generator.normal(size=actions) * strength * 0.5

    def scored(seen: Rows) -> Rows:
        return usual + np.tanh((seen - center) / scale) @ slopes

    return scored


def conduct(
    generator: np.random.Generator,
    scores: Scores,
    sample: Rows,
    horizon: int,
    shares: tuple[float, float] = (0.03, 0.4),
    deterministic: float = 1 / 3,
) -> tuple[Probabilities, Probabilities]:
    """Behavior and policy, both functions of observations.

    A stochastic policy leans from the behavior toward high scores (now and then toward low ones), so far that about
    one of `shares` of the episodes counts in the end, or somewhat more. With probability `deterministic` the policy
    takes the best action, and the behavior does so often enough that such a share of episodes follow it throughout.
    """
    goodness = calibrated(scores, sample)
    actions = goodness(sample).shape[1]
    habit = habits(generator, actions, sample, generator.uniform(0.3, 0.9))
    share, lean = between(generator, *shares), generator.uniform(-0.2, 0.6)
    sign = -1.0 if by_chance(generator, 0.15) else 1.0
    if by_chance(generator, deterministic):
        often = share ** (1 / horizon)

        def mixed(seen: Rows) -> Rows:
            return often * best(sign * goodness(seen)) + (1 - often) * softmax(habit(seen))

        return mixed, lambda seen: best(sign * goodness(seen))
    tilt = 1.4 * sign * np.sqrt(-np.log(share) / horizon)

    def usual(seen: Rows) -> Rows:
        return softmax(habit(seen) + lean * goodness(seen))

    def leaning(seen: Rows) -> Rows:
        return softmax(habit(seen) + (lean + tilt) * goodness(seen))

    return usual, leaning


def never(number: int) -> Bool[np.ndarray, " batch"]:
    """No episode ends."""
    return np.zeros(number, dtype=bool)
