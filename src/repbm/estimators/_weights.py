"""Importance weights of every logged step."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float

from repbm.data import Terms, Trajectories, cumulative_products


@dataclass(frozen=True, eq=False)
class Weights:
    """w_t = rho_0 ... rho_t of every logged step, as a multiple of exp(`log_scale`).

    The scale is nearly always 1; it keeps products of many large ratios finite.
    A finished episode keeps its last weight in every later sum over episodes.
    """

    data: Trajectories
    scaled: Float[np.ndarray, " steps"]
    log_scale: float

    @classmethod
    def of_ratios(cls, data: Trajectories, ratios: Terms) -> Weights:
        return cls(data, *cumulative_products(ratios, data.offsets))

    @property
    def unit(self) -> float:
        """What one scaled weight stands for; inf where it is beyond floating point."""
        with np.errstate(over="ignore"):
            return float(np.exp(self.log_scale))

    @property
    def initial(self) -> float:
        """The scaled w_{-1}."""
        return float(np.exp(-self.log_scale))

    @cached_property
    def last(self) -> Float[np.ndarray, " episodes"]:
        """The scaled weight of every episode's last step."""
        return self.scaled[self.data.lasts]

    @property
    def before(self) -> Terms:
        """The scaled w_{t-1} of every step, with w_{-1} = 1."""
        return self.data.delayed(self.scaled, self.initial)

    def carried(self, last: Float[np.ndarray, " episodes"]) -> Float[np.ndarray, " longest"]:
        """For every step, the sum of `last` over the episodes that finished before it."""
        return np.cumsum(np.bincount(self.data.lengths, last, self.data.longest + 1))[:-1]

    @cached_property
    def sums(self) -> Float[np.ndarray, " longest"]:
        """sum over all episodes of the scaled w_t, for every step t."""
        return self.data.step_sums(lambda at: self.scaled[at]) + self.carried(self.last)

    @cached_property
    def effective_episodes(self) -> Float[np.ndarray, " longest"]:
        """(sum w_t)^2 / sum w_t^2 over all episodes, for every step t (Kish); 0 without any weight."""
        # Divided by the largest first: the square of a scaled weight may overflow.
        top = self.scaled.max() or 1.0
        squares = self.data.step_sums(lambda at: (self.scaled[at] / top) ** 2)
        squares += self.carried((self.last / top) ** 2)
        return np.divide((self.sums / top) ** 2, squares, out=np.zeros_like(squares), where=squares > 0)

    @property
    def vanishes(self) -> bool:
        """Whether from some step on no episode has any weight."""
        return bool((self.sums == 0).any())

    @property
    def vanishing(self) -> str:
        """In words, where the weights vanish."""
        step = int(np.flatnonzero(self.sums == 0)[0]) - 1
        past = f"past step {step}" if step >= 0 else "even at its first step"
        return f"no episode follows the policy {past}"
