"""Worlds that a family draws from a seed: what happens there, who logs it, and whose policy is asked about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from repbm.core import draw
from repbm.data import Categorical, Trajectories
from repbm.policies import CallablePolicy

Probabilities = Callable[[Float[np.ndarray, "batch components"]], Float[np.ndarray, "batch actions"]]
"""One row of action probabilities for every row given; rows must not depend on each other."""

_BLOCK = 1 << 17


@dataclass(frozen=True, eq=False)
class World:
    """One world of a family. Row k of every array belongs to episode k; time, where it matters, is part of the state.

    `initial(count, generator)` draws initial states; `step(states, actions, generator)` gives the next states, the
    rewards and whether the world ends the episode there; after `horizon` steps the log stops. `observe` is what the log
    and the policy see of a state. The log is made by `behavior`, which sees the state; `policy` sees observations.
    """

    horizon: int
    actions: int
    initial: Callable[[int, np.random.Generator], Float[np.ndarray, "count components"]]
    step: Callable[
        [Float[np.ndarray, "batch components"], Int[np.ndarray, " batch"], np.random.Generator],
        tuple[Float[np.ndarray, "batch components"], Float[np.ndarray, " batch"], Bool[np.ndarray, " batch"]],
    ]
    behavior: Probabilities
    policy: Probabilities
    observe: Callable[[Float[np.ndarray, "batch components"]], Float[np.ndarray, "batch dimensions"]] = lambda s: s
    discount: float = 1.0
    propensities: bool = True
    """Whether the log says how probable its actions were."""
    last_state: bool = True
    """Whether the log shows the state after the last step."""
    answerable: bool = True
    """False where the log cannot tell, whoever reads it: the policy does somewhere what was never logged there, or a
    hidden cause drove both decisions and outcomes."""
    lost: Callable[[Float[np.ndarray, "batch components"]], Float[np.ndarray, " batch"]] | None = None
    """The chance that the log loses sight of an episode in the state that a step led to. It goes on unseen: the log
    shows it as truncated there, and its return counts whole."""

    def evaluated(self) -> CallablePolicy:
        """The policy, as repbm takes it."""
        return CallablePolicy(self.policy, actions=tuple(range(self.actions)), name="policy")

    def log(self, episodes: int, generator: np.random.Generator) -> tuple[Trajectories, Float[np.ndarray, "_ _"]]:
        """What was logged, and the initial states, which it may show in part only."""
        starts = self.initial(episodes, generator)
        rows: list[dict[str, np.ndarray]] = []
        who, states = np.arange(episodes), starts
        final, terminated = np.empty_like(self.observe(starts), dtype=np.float64), np.zeros(episodes, dtype=bool)
        for _ in range(self.horizon):
            chances = self.behavior(states)
            actions = draw(chances, generator)
            following, rewards, ended = self.step(states, actions, generator)
            taken = chances[np.arange(len(who)), actions]
            seen = self.observe(states)
            rows.append({"who": who, "seen": seen, "actions": actions, "rewards": rewards, "taken": taken})
            final[who], terminated[who] = self.observe(following), ended
            stays = ~ended
            if self.lost is not None:
                stays &= generator.random(len(who)) >= self.lost(following)
            who, states = who[stays], following[stays]
            if not len(who):
                break
        flat = {name: np.concatenate([row[name] for row in rows]) for name in rows[0]}
        order = np.argsort(flat["who"], kind="stable")
        lengths = np.bincount(flat["who"], minlength=episodes)
        data = Trajectories(
            observations=flat["seen"][order].astype(np.float64),
            actions=Categorical(flat["actions"][order].astype(np.int32), tuple(range(self.actions))),
            rewards=flat["rewards"][order].astype(np.float64),
            offsets=np.concatenate([[0], np.cumsum(lengths)]),
            terminated=terminated,
            final_observations=final if self.last_state else np.full_like(final, np.nan),
            behavior=flat["taken"][order] if self.propensities else None,
        )
        return data, starts

    def returns(
        self,
        states: Float[np.ndarray, "episodes components"],
        generator: np.random.Generator,
        rollouts: int = 1,
        behavior: bool = False,
    ) -> Float[np.ndarray, "episodes {rollouts}"]:
        """Returns of the policy itself from these states, or of the behavior: the truth, as far as it is drawn."""
        found = np.zeros(len(states) * rollouts)
        for start in range(0, len(found), _BLOCK):
            block = np.arange(start, min(start + _BLOCK, len(found)))
            who, now = block, states[block // rollouts]
            for t in range(self.horizon):
                chances = self.behavior(now) if behavior else self.policy(self.observe(now))
                actions = draw(chances, generator)
                now, rewards, ended = self.step(now, actions, generator)
                found[who] += self.discount**t * rewards
                who, now = who[~ended], now[~ended]
                if not len(who):
                    break
        return found.reshape(-1, rollouts)


Family = Callable[[np.random.Generator], World]
"""Draws a world: its parameters, dimensions, horizon, behavior and policy."""

Families = Mapping[str, Family]
