"""What a model is fitted to be good at."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from repbm.models._sample import Sample


@dataclass(frozen=True)
class Objective:
    """behavior * R_mu + target * R_pi: how much the risk under the log and the one under the policy count.

    R_mu = (1/n) sum l_t and R_pi = (1/n) sum (f_t / u_t) l_t over all logged steps.
    """

    name: str
    behavior: float
    target: float

    def weights(self, sample: Sample) -> Float[np.ndarray, " steps"]:
        """The weight of every logged step in the risk."""
        return self.behavior + self.target * sample.marginal


AM = Objective("am", 1.0, 0.0)
"""The behavior risk alone: the baseline model."""

AM_PI = Objective("am-pi", 0.0, 1.0)
"""The re-weighted risk alone."""

BALANCED = Objective("repbm", 1.0, 1.0)
"""Both risks: RepBM."""
