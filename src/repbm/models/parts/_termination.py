"""Termination: where the world does not go on."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from jaxtyping import Float, Int

from repbm.models.parts._part import Part, static
from repbm.models.regression._features import exponents, features
from repbm.models.transitions._arrays import AnyArray, module_of, sigmoid


class Termination(Part):
    """The probability that the episode ends: with arrival in a state, or with an action in it."""

    @abstractmethod
    def __call__(self, states: Float[AnyArray, "batch dimensions"]) -> Float[AnyArray, " batch"]:
        """In these states, whatever the action."""

    def ending(
        self, states: Float[AnyArray, "batch dimensions"], actions: Int[AnyArray, " batch"]
    ) -> Float[AnyArray, " batch"]:
        """With these actions; most kinds look at the state alone."""
        return self(states)


class Never(Termination):
    """The log never ends early: only the horizon ends an episode."""

    def __call__(self, states: Float[AnyArray, "batch dimensions"]) -> Float[AnyArray, " batch"]:
        return module_of(states).zeros(states.shape[0], states.dtype)


class Box(Termination):
    """The episode goes on inside a box; `inside` and `outside` are the probabilities of an end in either place.

    A face lies somewhere between the outermost state from which the log went on (`low`, `high`) and the nearest one
    beyond in which it ended (`below`, `above`): in between the probability rises in a straight line. Infinite where
    the box has no face.
    """

    below: Float[AnyArray, " dimensions"]
    low: Float[AnyArray, " dimensions"]
    high: Float[AnyArray, " dimensions"]
    above: Float[AnyArray, " dimensions"]
    inside: Float[AnyArray, ""]
    outside: Float[AnyArray, ""]

    def __call__(self, states: Float[AnyArray, "batch dimensions"]) -> Float[AnyArray, " batch"]:
        return self.probabilities(states, module_of(states))

    def probabilities(self, states: Any, numpy: Any) -> Any:
        """In NumPy or in JAX."""
        under = _passed(-states, -numpy.asarray(self.low), -numpy.asarray(self.below), numpy)
        over = _passed(states, numpy.asarray(self.high), numpy.asarray(self.above), numpy)
        inside, outside = numpy.asarray(self.inside), numpy.asarray(self.outside)
        return inside + (outside - inside) * numpy.maximum(under, over).max(axis=-1)


def _passed(states: Any, inner: Any, outer: Any, numpy: Any) -> Any:
    """0 up to `inner`, 1 from `outer` on, a straight line between; 0 where `inner` is infinite."""
    face = numpy.isfinite(inner)
    start, stop = numpy.where(face, inner, 0.0), numpy.where(face, outer, 1.0)
    return numpy.where(face, numpy.clip((states - start) / (stop - start), 0.0, 1.0), 0.0)


class Logistic(Termination):
    """1 / (1 + exp(-score)), the score a polynomial of the position in the box of logged states."""

    center: Float[AnyArray, " dimensions"]
    half_width: Float[AnyArray, " dimensions"]
    coefficients: Float[AnyArray, " features"]
    dimensions: int = static()
    degree: int = static()

    def __call__(self, states: Float[AnyArray, "batch dimensions"]) -> Float[AnyArray, " batch"]:
        x = features(
            (states - self.center) / self.half_width, exponents(self.dimensions, self.degree), module_of(states)
        )
        return sigmoid(x @ self.coefficients)


class ActionLogistic(Termination):
    """The same with a polynomial of its own for every action."""

    center: Float[AnyArray, " dimensions"]
    half_width: Float[AnyArray, " dimensions"]
    coefficients: Float[AnyArray, "actions features"]
    dimensions: int = static()
    degree: int = static()

    def __call__(self, states: Float[AnyArray, "batch dimensions"]) -> Float[AnyArray, " batch"]:
        """The mean over actions."""
        return self._every(states).mean(axis=1)

    def ending(
        self, states: Float[AnyArray, "batch dimensions"], actions: Int[AnyArray, " batch"]
    ) -> Float[AnyArray, " batch"]:
        return self._every(states)[module_of(states).arange(states.shape[0]), actions]

    def _every(self, states: Float[AnyArray, "batch dimensions"]) -> Float[AnyArray, "batch actions"]:
        x = features(
            (states - self.center) / self.half_width, exponents(self.dimensions, self.degree), module_of(states)
        )
        return sigmoid(x @ self.coefficients.T)
