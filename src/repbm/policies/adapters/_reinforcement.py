"""Policies of reinforcement learning libraries: Stable-Baselines3 and d3rlpy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from repbm.core import InputError, optional
from repbm.policies.adapters._engine import Answer, EnginePolicy


def stable_baselines_policy(model: Any, deterministic: bool = True, name: str | None = None) -> EnginePolicy:
    """A Stable-Baselines3 algorithm or policy with discrete actions.

    `deterministic` takes what `predict(..., deterministic=True)` says, as it is usually deployed; otherwise the
    probabilities with which an actor (PPO, A2C) draws its actions. Observations must stand in the log as the policy
    saw them in training: where they were normalized on the way (VecNormalize), normalize those of the log alike.
    """
    torch = optional("torch", "sb3")
    name = name or type(model).__name__
    policy = getattr(model, "policy", model)
    _discrete(policy.action_space, name)
    inputs, shaped = _stable_baselines_inputs(policy.observation_space, name)
    if not deterministic and not hasattr(policy, "get_distribution"):
        raise InputError(f"{name} has no probabilities of actions", fix="take it as deterministic")

    def actions(observations: np.ndarray) -> np.ndarray:
        return policy.predict(shaped(observations), deterministic=True)[0]

    def probabilities(observations: np.ndarray) -> np.ndarray:
        policy.set_training_mode(False)
        with torch.no_grad():
            tensor, _ = policy.obs_to_tensor(shaped(observations))
            return policy.get_distribution(tensor).distribution.probs.cpu().numpy()

    if deterministic:
        return EnginePolicy(actions, name, answer=Answer.ACTION, inputs=inputs)
    return EnginePolicy(probabilities, name, answer=Answer.PROBABILITIES, inputs=inputs)


def _discrete(space: Any, name: str) -> None:
    if type(space).__name__ != "Discrete":
        raise InputError(
            f"{name} has actions of the kind {type(space).__name__}", fix="only discrete actions can be evaluated"
        )


def _stable_baselines_inputs(space: Any, name: str) -> tuple[int, Any]:
    """How many observations the policy takes, and how it wants them."""
    if type(space).__name__ == "Discrete":
        return 1, lambda observations: observations[:, 0].astype(np.int64)
    if type(space).__name__ == "Box":
        return math.prod(space.shape), lambda observations: observations.astype(space.dtype).reshape(-1, *space.shape)
    raise InputError(
        f"{name} takes observations of the kind {type(space).__name__}",
        fix="give a function that makes them from the log's columns",
    )


def d3rlpy_policy(algorithm: Any, name: str | None = None) -> EnginePolicy:
    """A d3rlpy algorithm with discrete actions: what its `predict` says."""
    d3rlpy = optional("d3rlpy", "d3rlpy")
    name = name or type(algorithm).__name__
    if not isinstance(algorithm, d3rlpy.algos.QLearningAlgoBase):
        raise InputError(
            f"{name} is no policy of single observations", fix="give a Q-learning algorithm or a DiscreteBC"
        )
    if algorithm.get_action_type() != d3rlpy.ActionSpace.DISCRETE:
        raise InputError(f"{name} has continuous actions", fix="only discrete actions can be evaluated")
    if algorithm.impl is None:
        raise InputError(f"{name} is not built", fix="fit it, or build it with its dataset and load its weights")
    shape = algorithm.impl.observation_shape
    if len(shape) != 1 or not isinstance(shape[0], int):
        raise InputError(f"{name} takes observations of shape {shape}", fix="give a function that makes them")

    def run(observations: np.ndarray) -> np.ndarray:
        return algorithm.predict(observations.astype(np.float32))

    return EnginePolicy(run, name, answer=Answer.ACTION, inputs=shape[0])
