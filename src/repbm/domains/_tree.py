"""A binary tree with one paying leaf: where importance sampling with an estimated behavior policy goes wrong."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from jaxtyping import Bool, Float, Int

from repbm.core import InputError
from repbm.domains._simulator import Simulator
from repbm.policies import CallablePolicy, NetworkPolicy


@dataclass(frozen=True)
class BinaryTree(Simulator):
    """Go left (0) or right (1) from the root, `horizon` times; only the leftmost leaf pays, 1. Leaves end an episode.

    The state is the node: 0 is the root, 2 k + 1 and 2 k + 2 are the children of k, so that each path has its own.
    Jiang and Li (2016); the paper's appendix "IS with approximate behavior policy".
    """

    horizon: int = 10

    actions = (0, 1)
    observation_names = ("node",)

    def __post_init__(self) -> None:
        if not 1 <= self.horizon <= 50:
            raise InputError(f"a tree of depth {self.horizon}", fix="give a depth from 1 to 50")

    def initial(self, count: int, generator: np.random.Generator) -> Float[np.ndarray, "{count} 1"]:
        return np.zeros((count, 1))

    def step(
        self,
        states: Float[np.ndarray, "batch 1"],
        actions: Int[np.ndarray, " batch"],
        generator: np.random.Generator | None = None,
    ) -> tuple[Float[np.ndarray, "batch 1"], Float[np.ndarray, " batch"], Bool[np.ndarray, " batch"]]:
        nodes = 2 * states[:, 0] + 1 + actions
        first_leaf = 2.0**self.horizon - 1
        return nodes[:, None], (nodes == first_leaf).astype(np.float64), nodes >= first_leaf


def left_policy() -> NetworkPolicy:
    """Always left."""
    return NetworkPolicy([(np.zeros((1, 2)), np.array([1.0, 0.0]))])


def estimated_tree_behavior(delta: float) -> CallablePolicy:
    """The uniform behavior, estimated with relative error delta on the way to the paying leaf.

    There left has (1 - delta) / 2 and right the rest; elsewhere both have 1/2.
    """
    left = (1 - _checked(delta)) / 2

    def probabilities(observations: Float[np.ndarray, "batch 1"]) -> Float[np.ndarray, "batch 2"]:
        # The leftmost node of depth t is 2^t - 1; frexp gives exactly 1/2 for powers of two.
        leftmost = np.frexp(observations[:, 0] + 1)[0] == 0.5
        chance = np.where(leftmost, left, 0.5)
        return np.stack([chance, 1 - chance], axis=1)

    return CallablePolicy(probabilities, BinaryTree.actions, "estimated behavior")


def tree_bias(horizon: int, delta: float) -> float:
    """The bias of IS on the tree, (1 - delta)^-H - 1, with the behavior estimated as above.

    The true behavior is uniform, the true value 1.
    """
    return (1 - _checked(delta)) ** -horizon - 1


def enumerated_tree_bias(horizon: int, delta: float) -> float:
    """The same by enumeration: sum over all paths of mu(path) w(path) R(path), minus 1. 2^H paths."""
    world, policy, estimated = BinaryTree(horizon), left_policy(), estimated_tree_behavior(delta)
    actions = np.array(list(product((0, 1), repeat=horizon)))
    states = np.zeros((len(actions), 1))
    weights, returns = np.ones(len(actions)), np.zeros(len(actions))
    for t in range(horizon):
        taken = np.arange(len(actions)), actions[:, t]
        weights *= policy.probabilities(states, world.actions)[taken]
        weights /= estimated.probabilities(states, world.actions)[taken]
        states, rewards, _ = world.step(states, actions[:, t])
        returns += rewards
    return float(np.mean(weights * returns)) - 1  # the uniform behavior takes every path equally often


def _checked(delta: float) -> float:
    if not 0 <= delta < 1:
        raise InputError(f"a relative error of {delta:g}", fix="give a number from 0 to below 1")
    return delta
