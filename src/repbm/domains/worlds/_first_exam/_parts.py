"""Parts that several worlds are built of: units of measurement, habits of behavior, policies at a chosen distance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from repbm.domains.worlds._world import Probabilities, World

Scores = Callable[[np.ndarray], np.ndarray]
"""One column of scores for every action."""

ByAction = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""A number, or a row, for every pair of a state (row) and an action."""

_PILOT = 1500
_HALVINGS = 10


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 0.5 * (1.0 + np.tanh(0.5 * x))


def softmax(scores: np.ndarray) -> np.ndarray:
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def floored(chances: np.ndarray, floor: float) -> np.ndarray:
    """The same chances, mixed with a share `floor` of the uniform ones."""
    return (1.0 - floor) * chances + floor / chances.shape[1]


def one_hot(actions: np.ndarray, count: int) -> np.ndarray:
    return np.eye(count)[actions]


def magnitude(generator: np.random.Generator, low: float, high: float) -> float:
    """Uniform on the scale of logarithms."""
    return float(np.exp(generator.uniform(np.log(low), np.log(high))))


def decaying(generator: np.random.Generator, size: int, low: float, high: float) -> np.ndarray:
    """A random matrix whose spectral radius is uniform between `low` and `high`."""
    matrix = np.eye(size) + generator.normal(0.0, 0.5 / np.sqrt(size), (size, size))
    return matrix * generator.uniform(low, high) / np.abs(np.linalg.eigvals(matrix)).max()


def pushes(generator: np.random.Generator, columns: int, actions: int, size: float) -> np.ndarray:
    """How every action pushes the state; no two actions alike, and none of them stronger than some `size`."""
    directions = generator.normal(size=(actions, columns))
    directions -= directions.mean(axis=0)
    return size * directions / np.linalg.norm(directions, axis=1).max()


def scores_of(value: ByAction, actions: int) -> Scores:
    """One column of values for every action."""
    return lambda x: np.stack([value(x, np.full(len(x), action)) for action in range(actions)], axis=1)


def habit(
    generator: np.random.Generator, columns: int, actions: int, strength: float, floor: float, curved: bool = False
) -> Probabilities:
    """Behavior that leans on what it sees, smoothly, and does everything everywhere now and then."""
    slopes = strength * generator.normal(size=(columns, actions)) / np.sqrt(columns)
    bends = strength * generator.normal(size=(columns, actions)) / np.sqrt(columns) * float(curved)
    constants = 0.4 * generator.normal(size=actions)

    def chances(x: np.ndarray) -> np.ndarray:
        bounded = 3.0 * np.tanh(x / 3.0)
        return floored(softmax(constants + bounded @ slopes + np.sin(1.5 * bounded) @ bends), floor)

    return chances


@dataclass(frozen=True, eq=False)
class View:
    """The first components of a state in units of their own: shifted and scaled, some of them skewed to the right."""

    offset: np.ndarray
    scale: np.ndarray
    skewed: np.ndarray

    @classmethod
    def drawn(cls, generator: np.random.Generator, columns: int, plain: int = 0) -> View:
        """Units for `columns` columns, of which the last `plain` are shown as they are."""
        scale = np.exp(generator.uniform(np.log(0.2), np.log(40.0), columns))
        offset = scale * generator.uniform(-2.0, 6.0, columns)
        skewed = generator.random(columns) < 0.2
        if generator.random() < 0.3:
            scale, offset, skewed = np.ones(columns), np.zeros(columns), np.zeros(columns, dtype=bool)
        if plain:
            scale[-plain:], offset[-plain:], skewed[-plain:] = 1.0, 0.0, False
        return cls(np.where(skewed, 0.0, offset), scale, skewed)

    def observe(self, states: np.ndarray) -> np.ndarray:
        x = states[:, : len(self.scale)]
        return self.offset + self.scale * np.where(self.skewed, np.exp(0.4 * np.clip(x, -20.0, 20.0)), x)

    def restore(self, seen: np.ndarray) -> np.ndarray:
        x = (seen - self.offset) / self.scale
        return np.where(self.skewed, np.log(np.maximum(x, 1e-9)) / 0.4, x)

    def behavior(self, chances: Probabilities) -> Probabilities:
        """Chances that depend on the visible components, as a function of the whole state."""
        return lambda states: chances(states[:, : len(self.scale)])

    def policy(self, chances: Probabilities) -> Probabilities:
        """Chances that depend on the visible components, as a function of the observations."""
        return lambda seen: chances(self.restore(seen))


def greedy(scores: Scores) -> Probabilities:
    def chances(x: np.ndarray) -> np.ndarray:
        values = scores(x)
        return one_hot(values.argmax(axis=1), values.shape[1])

    return chances


def soft(scores: Scores, sharpness: float) -> Probabilities:
    """Chances that prefer high scores, whatever the unit of the scores."""

    def chances(x: np.ndarray) -> np.ndarray:
        values = scores(x)
        spread = values.max(axis=1, keepdims=True) - values.min(axis=1, keepdims=True)
        return softmax(sharpness * values / (spread + 1e-9))

    return chances


def mixed(usual: np.ndarray, goal: np.ndarray, share: float) -> np.ndarray:
    """Chances of the goal in a share of all decisions, the usual ones in the rest."""
    return (1.0 - share) * usual + share * goal


def bent(usual: np.ndarray, goal: np.ndarray, share: float) -> np.ndarray:
    """Chances between the usual ones and those of the goal on the scale of logarithms."""
    return softmax((1.0 - share) * np.log(usual) + share * np.log(floored(goal, 0.1)))


def swayed(generator: np.random.Generator, scores: Scores, columns: int, actions: int, size: float) -> Scores:
    """Scores that what is seen sways one way or the other, so that no action is the best everywhere."""
    slopes = size * generator.normal(size=(columns, actions)) / np.sqrt(columns)

    def values(x: np.ndarray) -> np.ndarray:
        found = scores(x)
        spread = found.max(axis=1, keepdims=True) - found.min(axis=1, keepdims=True)
        return found / (spread + 1e-9) + 2.0 * np.tanh(x[:, :columns] / 2.0) @ slopes

    return values


def wish(generator: np.random.Generator, scores: Scores) -> Probabilities:
    """What a policy might be after: most often high scores, now and then, by mistake, low ones."""
    sign = -1.0 if generator.random() < 0.15 else 1.0

    def signed(x: np.ndarray) -> np.ndarray:
        return sign * scores(x)

    return greedy(signed) if generator.random() < 0.5 else soft(signed, generator.uniform(3.0, 8.0))


def nobody(seen: np.ndarray) -> np.ndarray:
    """Stands where a policy is still to be chosen."""
    raise NotImplementedError


def reaching(
    world: World,
    view: View,
    usual: Probabilities,
    goal: Probabilities,
    generator: np.random.Generator,
    low: float = 0.05,
    high: float = 0.6,
) -> World:
    """The world with a stochastic policy, as near to the goal as leaves effective weights of some share of episodes."""
    wanted = magnitude(generator, low, high)
    blend = mixed if generator.random() < 0.5 else bent
    log, _ = replace(world, propensities=True).log(_PILOT, generator)
    assert log.behavior is not None
    x, rows, codes = view.restore(log.observations), np.arange(len(log.observations)), np.asarray(log.actions.codes)
    before, after = usual(x), goal(x)
    near, far = 0.0, 0.95
    for _ in range(_HALVINGS):
        share = 0.5 * (near + far)
        ratios = np.log(blend(before, after, share)[rows, codes] + 1e-300) - np.log(log.behavior)
        if _effective(np.add.reduceat(ratios, log.offsets[:-1])) >= wanted:
            near = share
        else:
            far = share
    return replace(world, policy=view.policy(lambda x: blend(usual(x), goal(x), near)))


def fixed(world: World, view: View, goal: Scores) -> World:
    """The world with the deterministic policy of the highest score."""
    return replace(world, policy=view.policy(greedy(goal)))


def _effective(logarithms: np.ndarray) -> float:
    """Effective size of weights as a share of their number; less where their mean shows that large ones are missing."""
    weights = np.exp(np.clip(logarithms, -600.0, 300.0))
    mean = weights.mean()
    return float(min(mean, 1.0) ** 2 * mean**2 / ((weights**2).mean() + 1e-300))
