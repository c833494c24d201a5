"""Simulated worlds: many episodes at once, their logs, and the true value of a policy in them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from repbm.core import InputError, Label, draw
from repbm.data import Categorical, Trajectories
from repbm.policies import ObservationPolicy, Softened


class Simulator(ABC):
    """A world to act in, vectorized over episodes: row k of every array belongs to episode k.

    Actions are numbers 0 ... A-1, in the order of `actions`. An episode ends when the world terminates it, or is
    cut off (truncated) after `horizon` steps. Worlds draw only from the generator that they are handed.
    """

    horizon: int
    actions: tuple[Label, ...]
    observation_names: tuple[str, ...]

    @abstractmethod
    def initial(self, count: int, generator: np.random.Generator) -> Float[np.ndarray, "{count} components"]:
        """Random initial states. Where states are fully observed they equal their observations exactly, so that
        `log.initial_observations` can be given to `truth`."""

    @abstractmethod
    def step(
        self,
        states: Float[np.ndarray, "batch components"],
        actions: Int[np.ndarray, " batch"],
        generator: np.random.Generator | None = None,
    ) -> tuple[Float[np.ndarray, "batch components"], Float[np.ndarray, " batch"], Bool[np.ndarray, " batch"]]:
        """The next states, the rewards, and whether the world ends there; a random world needs a generator."""

    def observe(self, states: Float[np.ndarray, "batch components"]) -> Float[np.ndarray, "batch dimensions"]:
        """What a policy and the log see of the states."""
        return states


@dataclass(frozen=True, eq=False)
class _Moment:
    """One step of the episodes `who` that still run, of many started together."""

    who: Int[np.ndarray, " batch"]
    observations: Float[np.ndarray, "batch dimensions"]
    actions: Int[np.ndarray, " batch"]
    probabilities: Float[np.ndarray, " batch"]
    rewards: Float[np.ndarray, " batch"]
    following: Float[np.ndarray, "batch dimensions"]
    terminated: Bool[np.ndarray, " batch"]


def collect(
    simulator: Simulator,
    policy: ObservationPolicy,
    episodes: int,
    generator: np.random.Generator,
    epsilon: float = 0.0,
) -> Trajectories:
    """A log of `policy`, softened by `epsilon`, with its probabilities.

    The random actions, of probability epsilon, are drawn among all: one in A of them is the policy's own.
    """
    if episodes < 1:
        raise InputError(f"a log of {episodes} episodes", fix="collect at least 1")
    if not 0 <= epsilon <= 1:
        raise InputError(f"epsilon {epsilon:g} is not a probability", fix="give a number from 0 to 1")
    behavior = Softened(policy, epsilon) if epsilon else policy
    moments = list(_moments(simulator, behavior, simulator.initial(episodes, generator), generator))
    final = np.empty_like(moments[0].observations)
    terminated = np.zeros(episodes, dtype=bool)
    for moment in moments:
        final[moment.who] = moment.following
        terminated[moment.who] = moment.terminated
    who = np.concatenate([moment.who for moment in moments])
    order = np.argsort(who, kind="stable")
    codes = np.concatenate([moment.actions for moment in moments])[order]
    return Trajectories(
        observations=np.concatenate([moment.observations for moment in moments])[order],
        actions=Categorical(codes.astype(np.int32), simulator.actions),
        rewards=np.concatenate([moment.rewards for moment in moments])[order],
        offsets=np.concatenate([[0], np.cumsum(np.bincount(who, minlength=episodes))]),
        terminated=terminated,
        final_observations=final,
        behavior=np.concatenate([moment.probabilities for moment in moments])[order],
        observation_names=simulator.observation_names,
    )


def truth(
    simulator: Simulator,
    policy: ObservationPolicy,
    initial_states: Float[np.ndarray, "episodes components"],
    generator: np.random.Generator | None = None,
    rollouts: int = 1,
    discount: float = 1.0,
) -> Float[np.ndarray, " episodes"]:
    """The individual values of `policy`: sum_t discount^t r_t from every initial state, averaged over rollouts.

    A deterministic policy in a deterministic world needs no generator, and one rollout is exact.
    """
    if rollouts < 1:
        raise InputError(f"{rollouts} rollouts have no mean", fix="ask for at least 1")
    returns = np.zeros(len(initial_states) * rollouts)
    starts = np.repeat(initial_states, rollouts, axis=0)
    for t, moment in enumerate(_moments(simulator, policy, starts, generator)):
        returns[moment.who] += discount**t * moment.rewards
    return returns.reshape(-1, rollouts).mean(axis=1)


def _moments(
    simulator: Simulator,
    policy: ObservationPolicy,
    states: Float[np.ndarray, "episodes components"],
    generator: np.random.Generator | None,
) -> Iterator[_Moment]:
    """Run all episodes side by side, each until the world or the horizon ends it."""
    who = np.arange(len(states))
    observations = simulator.observe(states)
    for _ in range(simulator.horizon):
        if not len(who):
            return
        chances = policy.probabilities(observations, simulator.actions)
        actions = _acted(chances, generator)
        states, rewards, terminated = simulator.step(states, actions, generator)
        following = simulator.observe(states)
        taken = chances[np.arange(len(who)), actions]
        yield _Moment(who, observations, actions, taken, rewards, following, terminated)
        who, states, observations = who[~terminated], states[~terminated], following[~terminated]


def _acted(
    chances: Float[np.ndarray, "batch actions"], generator: np.random.Generator | None
) -> Int[np.ndarray, " batch"]:
    """One action per row; without a generator, the policy must be deterministic."""
    if generator is not None:
        return draw(chances, generator)
    if (chances.max(axis=1) < 1).any():
        raise InputError("the policy draws its actions", fix="pass a random generator, and many rollouts")
    return chances.argmax(axis=1)
