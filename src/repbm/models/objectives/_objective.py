"""What a model is fitted to be good at."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from repbm.core import InputError
from repbm.models.objectives._distances import IPM, LinearMMD
from repbm.models.transitions._table import TransitionTable


@dataclass(frozen=True)
class Objective:
    """behavior * R_mu + target * R_pi + sum_t alpha_t IPM_t + regularization * |theta|^2 / n^(3/8).

    R_mu = (1/n) sum l_t and R_pi = (1/n) sum (f_t / u_t) l_t over all logged steps: the risk under the log and the one
    under the policy. IPM_t is the distance between the representations of factual and of counterfactual steps t; theta
    are the parameters, n the episodes. `alpha` is one number, or one a step. Fits in closed form have neither a
    representation nor a need for the penalty, and look at the risks alone.
    """

    name: str
    behavior: float
    target: float
    alpha: float | tuple[float, ...] = 0.0
    ipm: IPM | None = None
    regularization: float = 0.0
    strength_is_chosen: bool = False
    """Whether `target` (0 included), and a distance where there is a representation, are chosen from the log by fits
    that can; others take what stands here."""

    def __post_init__(self) -> None:
        if self.ipm is None and np.any(np.asarray(self.alpha) != 0):
            raise InputError(f"{self.name} has an alpha but no distance to weigh", fix="give an ipm too")

    def weights(self, table: TransitionTable) -> Float[np.ndarray, " steps"]:
        """The weight of every logged step in the risk."""
        return self.behavior + self.target * table.marginal

    def with_strength(self, target: float, alpha: float = 0.0, ipm: IPM | None = None) -> Objective:
        """The same with this weight of the risk under the policy, and this distance, settled."""
        return replace(self, target=target, alpha=alpha, ipm=ipm, strength_is_chosen=False)

    @property
    def balances(self) -> bool:
        """Whether the distance between representations counts."""
        return self.ipm is not None and bool(np.any(np.asarray(self.alpha) != 0))

    def alphas(self, longest: int) -> Float[np.ndarray, " longest"]:
        """alpha_t for steps 0 ... longest - 1."""
        if isinstance(self.alpha, tuple) and len(self.alpha) < longest:
            raise InputError(
                f"{self.name} has alpha for {len(self.alpha)} steps, and the log has {longest}",
                fix="give one number, or one for every step",
            )
        given = np.asarray(self.alpha, dtype=np.float64)
        return np.broadcast_to(given[:longest] if given.ndim else given, (longest,)).copy()


AM = Objective("am", 1.0, 0.0)
"""The behavior risk alone: the baseline model."""

AM_PI = Objective("am-pi", 0.0, 1.0)
"""The re-weighted risk alone, as in the published figures."""

AM_PI_IPM = Objective("am-pi-ipm", 0.0, 1.0, alpha=0.01, ipm=LinearMMD())
"""The re-weighted risk and the balance of the representation, as in the paper's text."""

BOTH_RISKS = Objective("repbm", 1.0, 1.0, strength_is_chosen=True)
"""Both risks: RepBM. The default fit chooses how much the second one counts; the published one adds its distance."""
