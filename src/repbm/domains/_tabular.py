"""Finite worlds, with exact values by dynamic programming."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from repbm.core import draw
from repbm.data import Categorical, Trajectories


@dataclass(frozen=True, eq=False)
class TabularWorld:
    """States 0 ... S-1, actions 0 ... A-1; entering a terminal state ends the episode, and so does the horizon."""

    initial: Float[np.ndarray, " states"]
    transitions: Float[np.ndarray, "states actions states"]
    rewards: Float[np.ndarray, "states actions"]
    terminal: Bool[np.ndarray, " states"]
    horizon: int
    arrivals: Float[np.ndarray, " states"] | None = None
    """What entering a state earns, beyond the reward of the step."""

    @classmethod
    def random(cls, states: int, actions: int, horizon: int, generator: np.random.Generator) -> TabularWorld:
        """A random world; its last state is terminal and hard to reach at first."""
        transitions = generator.dirichlet(np.full(states, 0.5), size=(states, actions))
        initial = np.append(generator.dirichlet(np.ones(states - 1)), 0.0)
        terminal = np.arange(states) == states - 1
        return cls(initial, transitions, generator.normal(size=(states, actions)), terminal, horizon)

    def action_values(
        self, policy: Float[np.ndarray, "states actions"], discount: float = 1.0
    ) -> Float[np.ndarray, "horizon states actions"]:
        """Q_t(s, a) of the policy for every step t."""
        values = np.zeros((self.horizon, *self.rewards.shape))
        following = np.zeros(len(self.initial))
        earned = self.rewards if self.arrivals is None else self.rewards + self.transitions @ self.arrivals
        for t in reversed(range(self.horizon)):
            values[t] = earned + discount * self.transitions @ np.where(self.terminal, 0.0, following)
            following = np.einsum("sa,sa->s", policy, values[t])
        return values

    def values(self, policy: Float[np.ndarray, "states actions"], discount: float = 1.0) -> np.ndarray:
        """V_0(s) of the policy for every initial state."""
        moves = (policy[:, None] @ self.transitions)[:, 0]
        earned = np.einsum("sa,sa->s", policy, self.rewards)
        if self.arrivals is not None:
            earned = earned + moves @ self.arrivals
        value = np.zeros(len(self.initial))
        for _ in range(self.horizon):
            value = earned + discount * moves @ np.where(self.terminal, 0.0, value)
        return value

    def truth(self, policy: Float[np.ndarray, "states actions"], discount: float = 1.0) -> float:
        """The policy's exact average value."""
        return float(self.initial @ self.values(policy, discount))

    def collect(
        self, behavior: Float[np.ndarray, "states actions"], episodes: int, generator: np.random.Generator
    ) -> Trajectories:
        """A log of the behavior policy, with its probabilities."""
        state = draw(np.broadcast_to(self.initial, (episodes, len(self.initial))), generator)
        who = np.arange(episodes)
        logged: list[tuple[np.ndarray, ...]] = []
        final = np.zeros(episodes)
        terminated = np.zeros(episodes, dtype=bool)
        for _ in range(self.horizon):
            action = draw(behavior[state], generator)
            following = draw(self.transitions[state, action], generator)
            earned = self.rewards[state, action] + (0.0 if self.arrivals is None else self.arrivals[following])
            logged.append((who, state, action, behavior[state, action], earned))
            final[who] = following
            terminated[who] = self.terminal[following]
            who, state = who[~self.terminal[following]], following[~self.terminal[following]]
            if not len(who):
                break
        episode, states, actions, probability, rewards = (np.concatenate(part) for part in zip(*logged, strict=True))
        order = np.argsort(episode, kind="stable")
        states, actions = states[order], actions[order]
        return Trajectories(
            observations=states[:, None].astype(np.float64),
            actions=Categorical(actions.astype(np.int32), tuple(range(self.rewards.shape[1]))),
            rewards=rewards[order],
            offsets=np.concatenate([[0], np.cumsum(np.bincount(episode, minlength=episodes))]),
            terminated=terminated,
            final_observations=final[:, None],
            behavior=probability[order],
            observation_names=("state",),
        )
