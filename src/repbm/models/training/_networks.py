"""Networks with a representation of the state, and linear heads on it: one reward and one change of state an action."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from jaxtyping import Float

from repbm.models.parts._part import Part, static
from repbm.models.transitions._arrays import AnyArray, by_action, module_of


class Layers(Part):
    """x -> tanh(x w_k + b_k), layer after layer; max(x w_k + b_k, 0) where `rectified`.

    Not `equinox.nn.MLP`, which leaves out the activation of a single layer (the paper's network), and whose functions
    among the leaves neither train as a stack of members nor go to disk; its numbers are the same to the bit.
    """

    weights: tuple[Float[AnyArray, "_ _"], ...]
    biases: tuple[Float[AnyArray, " _"], ...]
    rectified: bool = static(default=False)

    @classmethod
    def random(cls, key: AnyArray, sizes: Sequence[int], rectified: bool = False, dtype: type = np.float32) -> Layers:
        """Uniform weights and biases within +-1/sqrt(inputs), the start of the published networks."""
        import jax

        from repbm.models.training._trees import known_to_jax

        known_to_jax()
        weights, biases = [], []
        for k, (inputs, outputs) in enumerate(pairwise(sizes)):
            one, two = jax.random.split(jax.random.fold_in(key, k))
            bound = 1 / np.sqrt(inputs)
            weights.append(jax.random.uniform(one, (inputs, outputs), dtype, -bound, bound))
            biases.append(jax.random.uniform(two, (outputs,), dtype, -bound, bound))
        return cls(tuple(weights), tuple(biases), rectified)

    def __call__(self, x: Float[AnyArray, "batch inputs"]) -> Float[AnyArray, "batch outputs"]:
        for w, b in zip(self.weights, self.biases, strict=True):
            x = x @ w + b
            if isinstance(x, np.ndarray):
                x = np.maximum(x, 0.0) if self.rectified else np.tanh(x)
            else:
                x = _rectified(x) if self.rectified else module_of(x).tanh(x)
        return x


def _rectified(x: Any) -> Any:
    """max(x, 0), with a gradient of 0 at 0."""
    import jax

    return jax.nn.relu(x)


class Network(Part):
    """What training and rollouts ask of a network; all its arrays are parameters."""

    @abstractmethod
    def representation(self, states: Float[AnyArray, "batch dimensions"]) -> Float[AnyArray, "batch components"]:
        """z = phi(s), what is learned about the state and what the objective balances."""

    @abstractmethod
    def features(self, states: Float[AnyArray, "batch dimensions"]) -> Float[AnyArray, "batch features"]:
        """What the heads look at."""

    @abstractmethod
    def outcomes(self, x: Float[AnyArray, "batch features"]) -> Float[AnyArray, "batch actions outputs"]:
        """For every action the reward (output 0) and the change of state (the rest), linear in features x."""


class PaperNetwork(Network):
    """The network of the paper: tanh layers, and linear heads on the last of them."""

    layers: Layers
    heads: Float[AnyArray, "actions features outputs"]
    intercepts: Float[AnyArray, "actions outputs"]

    @classmethod
    def random(
        cls,
        key: AnyArray,
        dimensions: int,
        actions: int,
        widths: Sequence[int] = (16,),
        dtype: type = np.float32,
    ) -> PaperNetwork:
        import jax

        one, two, three = jax.random.split(key, 3)
        layers = Layers.random(one, (dimensions, *widths), dtype=dtype)
        bound = 1 / np.sqrt(widths[-1])
        heads = jax.random.uniform(two, (actions, widths[-1], 1 + dimensions), dtype, -bound, bound)
        intercepts = jax.random.uniform(three, (actions, 1 + dimensions), dtype, -bound, bound)
        return cls(layers, heads, intercepts)

    def representation(self, states: Float[AnyArray, "batch dimensions"]) -> Float[AnyArray, "batch components"]:
        return self.layers(states)

    def features(self, states: Float[AnyArray, "batch dimensions"]) -> Float[AnyArray, "batch features"]:
        return self.representation(states)

    def outcomes(self, x: Float[AnyArray, "batch features"]) -> Float[AnyArray, "batch actions outputs"]:
        return by_action(x, self.heads) + self.intercepts


class ResidualNetwork(Network):
    """Heads that see the hidden layers and the input itself: features (1, s, phi(s)).

    Linear worlds are fitted by the heads alone; the hidden layers learn what is left. They start with heads of 0.
    """

    layers: Layers
    heads: Float[AnyArray, "actions features outputs"]

    @classmethod
    def random(
        cls,
        key: AnyArray,
        dimensions: int,
        actions: int,
        widths: Sequence[int] = (64,),
        rectified: bool = False,
        dtype: type = np.float32,
    ) -> ResidualNetwork:
        layers = Layers.random(key, (dimensions, *widths), rectified, dtype)
        return cls(layers, np.zeros((actions, 1 + dimensions + widths[-1], 1 + dimensions), dtype))

    def representation(self, states: Float[AnyArray, "batch dimensions"]) -> Float[AnyArray, "batch components"]:
        return self.layers(states)

    def features(self, states: Float[AnyArray, "batch dimensions"]) -> Float[AnyArray, "batch features"]:
        numpy = module_of(states)
        return numpy.concatenate([numpy.ones_like(states[:, :1]), states, self.layers(states)], axis=1)

    def outcomes(self, x: Float[AnyArray, "batch features"]) -> Float[AnyArray, "batch actions outputs"]:
        return by_action(x, self.heads)


class Units(Part):
    """Units of a network: x = (s - center) / spread, and likewise for its outcomes (reward, change of state)."""

    center: Float[AnyArray, " dimensions"]
    spread: Float[AnyArray, " dimensions"]
    outcome_center: Float[AnyArray, " outputs"]
    outcome_spread: Float[AnyArray, " outputs"]

    @classmethod
    def multiplied(cls, scales: Sequence[float], rewards: Float[np.ndarray, " steps"] | None = None) -> Units:
        """States and their changes times `scales`; rewards as they are, or such that these have mean 0, deviation 1."""
        spread = 1 / np.asarray(scales, np.float64)
        center, unit = (0.0, 1.0) if rewards is None else (float(rewards.mean()), float(rewards.std()))
        return cls(
            np.zeros_like(spread), spread, np.append(center, np.zeros_like(spread)), np.append(unit or 1.0, spread)
        )

    def states(self, states: Float[np.ndarray, "steps dimensions"]) -> Float[np.ndarray, "steps dimensions"]:
        return (states - np.asarray(self.center)) / np.asarray(self.spread)

    def outcomes(self, outcomes: Float[np.ndarray, "steps outputs"]) -> Float[np.ndarray, "steps outputs"]:
        return (outcomes - np.asarray(self.outcome_center)) / np.asarray(self.outcome_spread)


class ScaledNetwork(Part):
    """A network that was trained in other units, taken back to those of the log."""

    units: Units
    core: PaperNetwork | ResidualNetwork

    def representation(self, states: Float[AnyArray, "batch dimensions"]) -> Float[AnyArray, "batch components"]:
        return self.core.representation((states - self.units.center) / self.units.spread)

    def features(self, states: Float[AnyArray, "batch dimensions"]) -> Float[AnyArray, "batch features"]:
        return self.core.features((states - self.units.center) / self.units.spread)

    def outcomes(self, x: Float[AnyArray, "batch features"]) -> Float[AnyArray, "batch actions outputs"]:
        return self.core.outcomes(x) * self.units.outcome_spread + self.units.outcome_center

    def predicted(self, states: Float[AnyArray, "batch dimensions"]) -> Float[AnyArray, "batch actions outputs"]:
        """The reward and the change of state of every action."""
        return self.outcomes(self.features(states))
