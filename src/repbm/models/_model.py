"""A fitted model of the world: what follows a state and an action, what it is worth, and whether it ends there."""

from __future__ import annotations

from abc import abstractmethod

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from repbm.core import Label
from repbm.models.parts._saturation import Saturation
from repbm.models.parts._termination import Termination
from repbm.models.regression._kernel import KernelSum
from repbm.models.regression._polynomial import Polynomial


class Dynamics(eqx.Module):
    """The expected next state of every action."""

    @abstractmethod
    def __call__(self, states: Float[Array, "batch dimensions"]) -> Float[Array, "batch actions dimensions"]: ...


class Reward(eqx.Module):
    """The expected reward of every action, from the state before it, and the one after it where that helps."""

    @abstractmethod
    def __call__(
        self, states: Float[Array, "batch dimensions"], next_states: Float[Array, "batch dimensions"]
    ) -> Float[Array, "batch actions"]: ...


class PolynomialDynamics(Dynamics):
    """The change of state as one polynomial an action."""

    center: Float[Array | np.ndarray, " dimensions"]
    reach: Float[Array | np.ndarray, " dimensions"]
    change: Polynomial

    def __call__(self, states: Float[Array, "batch dimensions"]) -> Float[Array, "batch actions dimensions"]:
        return states[:, None] + self.reach * self.change((states - self.center) / self.reach)


class KernelDynamics(Dynamics):
    """The change of state as one sum of kernels an action."""

    center: Float[Array | np.ndarray, " dimensions"]
    reach: Float[Array | np.ndarray, " dimensions"]
    change: KernelSum

    def __call__(self, states: Float[Array, "batch dimensions"]) -> Float[Array, "batch actions dimensions"]:
        return states[:, None] + self.reach * self.change((states - self.center) / self.reach)


class PolynomialReward(Reward):
    """One polynomial an action, of the state x before or of the one after; of base^x where there is a base."""

    center: Float[Array | np.ndarray, " dimensions"]
    reach: Float[Array | np.ndarray, " dimensions"]
    polynomial: Polynomial
    after: bool = eqx.field(static=True)
    base: float | None = eqx.field(static=True, default=None)

    def __call__(
        self, states: Float[Array, "batch dimensions"], next_states: Float[Array, "batch dimensions"]
    ) -> Float[Array, "batch actions"]:
        looked_at = next_states if self.after else states
        if self.base is not None:
            looked_at = self.base**looked_at
        return self.polynomial((looked_at - self.center) / self.reach)[..., 0]


class Noise(eqx.Module):
    """What the expected next state misses: draws from held-out residuals of the same action."""

    residuals: Float[Array | np.ndarray, "actions draws dimensions"]

    def draw(self, key: Array, actions: Int[Array, " batch"]) -> Float[Array, "batch dimensions"]:
        chosen = jax.random.randint(key, actions.shape, 0, self.residuals.shape[1])
        return jnp.asarray(self.residuals)[actions, chosen]


class Model(eqx.Module):
    """Dynamics, saturation, reward, termination and noise, fitted to one log."""

    dynamics: Dynamics
    saturation: Saturation
    reward: Reward
    termination: Termination
    noise: Noise | None
    low: Float[Array | np.ndarray, " dimensions"]
    high: Float[Array | np.ndarray, " dimensions"]
    """The box of logged states."""
    labels: tuple[Label, ...] = eqx.field(static=True)
    """The actions of the log, in the order of its codes."""
    horizon: int = eqx.field(static=True)
    observation_names: tuple[str, ...] = eqx.field(static=True, default=())
    ends_on_arrival: bool = eqx.field(static=True, default=True)
    """Whether termination looks at the state after a step; else, where the log does not show it, at the one before."""

    @property
    def stochastic(self) -> bool:
        return self.noise is not None

    def step(
        self, states: Float[Array, "batch dimensions"], actions: Int[Array, " batch"], key: Array
    ) -> tuple[Float[Array, "batch dimensions"], Float[Array, " batch"], Float[Array, " batch"]]:
        """The next states, the rewards, and the probabilities that the episode ends there."""
        rows = jnp.arange(states.shape[0])
        following = self.dynamics(states)[rows, actions]
        if self.noise is not None:
            following = following + self.noise.draw(key, actions)
        following = self.saturation(following)
        rewards = self.reward(states, following)[rows, actions]
        return following, rewards, self.termination(following if self.ends_on_arrival else states)
