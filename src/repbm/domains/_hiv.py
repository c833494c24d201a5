"""HIV: choose drugs for a patient, five days at a time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from repbm.core import optional
from repbm.domains._noise import checked_noise, disturbed
from repbm.domains._simulator import Simulator

_START = np.array([163573.0, 5.0, 11945.0, 46.0, 63919.0, 24.0])
_SPREAD, _DAYS = 0.05, 5.0
_EFFICACIES = np.array([[0.0, 0.0], [0.7, 0.0], [0.0, 0.3], [0.7, 0.3]])
# Against LSODA at 1e-11, relative errors: 3e-7 at random treatment (tests/test_hiv.py), 1e-6 along the policy.
_RELATIVE, _ABSOLUTE = 1e-7, 1e-7
_SMALLEST = 64


@dataclass(frozen=True)
class HIV(Simulator):
    """No drug (0), a reverse transcriptase inhibitor (1), a protease inhibitor (2) or both (3), for five days.

    States are log10 of (T1, T2, T1*, T2*, V, E): healthy and infected cells of two kinds, free virus, immune response.
    Of the state after a step, r = -0.1 V - 2e4 e1^2 - 2e3 e2^2 + 1e3 E, with e1 and e2 the drugs' efficacies. Nothing
    ends an episode but the horizon. `noise` is the standard deviation of Gaussian noise on every next state, in log10.
    Adams et al. (2004), "Dynamic multidrug therapies for HIV"; Ernst et al. (2006). Steps need diffrax, of the extra
    `repbm[hiv]`.
    """

    noise: float = 0.0
    horizon: int = 200

    actions = (0, 1, 2, 3)
    observation_names = (
        "log_healthy_1",
        "log_healthy_2",
        "log_infected_1",
        "log_infected_2",
        "log_virus",
        "log_immune",
    )

    def __post_init__(self) -> None:
        checked_noise(self.noise)

    def initial(self, count: int, generator: np.random.Generator) -> Float[np.ndarray, "{count} 6"]:
        return np.log10(_START * (1 + generator.uniform(-_SPREAD, _SPREAD, (count, 6))))

    def step(
        self,
        states: Float[np.ndarray, "batch 6"],
        actions: Int[np.ndarray, " batch"],
        generator: np.random.Generator | None = None,
    ) -> tuple[Float[np.ndarray, "batch 6"], Float[np.ndarray, " batch"], Bool[np.ndarray, " batch"]]:
        efficacies = _EFFICACIES[actions]
        states = disturbed(np.log10(_treated(10.0**states, efficacies)), self.noise, np.ones(6), generator)
        virus, immune = 10.0 ** states[:, 4], 10.0 ** states[:, 5]
        rewards = -0.1 * virus - np.square(efficacies) @ np.array([2e4, 2e3]) + 1e3 * immune
        return states, rewards, np.zeros(len(states), dtype=bool)


def rates(counts: Any, efficacies: Any) -> list[Any]:
    """d/dt of (T1, T2, T1*, T2*, V, E) per day under the efficacies (e1, e2); NumPy or JAX, components first."""
    healthy_1, healthy_2, infected_1, infected_2, virus, immune = counts
    blocked, halted = efficacies
    caught_1 = (1 - blocked) * 8e-7 * virus * healthy_1
    caught_2 = (1 - 0.34 * blocked) * 1e-4 * virus * healthy_2
    infected = infected_1 + infected_2
    return [
        1e4 - 0.01 * healthy_1 - caught_1,
        31.98 - 0.01 * healthy_2 - caught_2,
        caught_1 - 0.7 * infected_1 - 1e-5 * immune * infected_1,
        caught_2 - 0.7 * infected_2 - 1e-5 * immune * infected_2,
        (1 - halted) * 100 * 0.7 * infected - 13 * virus - caught_1 - caught_2,
        1 + (0.3 * infected / (infected + 100) - 0.25 * infected / (infected + 500) - 0.1) * immune,
    ]


def _treated(counts: Float[np.ndarray, "batch 6"], efficacies: Float[np.ndarray, "batch 2"]) -> np.ndarray:
    """The counts five days later. Batches grow to a power of two, 64 or more, so that few sizes are compiled."""
    optional("diffrax", "hiv")
    import jax

    size = max(_SMALLEST, 1 << (len(counts) - 1).bit_length())
    rows = np.minimum(np.arange(size), len(counts) - 1)
    with jax.enable_x64(True):
        return np.asarray(_compiled()(counts[rows], efficacies[rows]))[: len(counts)]


@cache
def _compiled() -> Any:
    """Tsit5 (explicit Runge-Kutta, order 5) with adaptive steps, one patient per row."""
    import jax
    import jax.numpy as jnp

    diffrax = optional("diffrax", "hiv")

    def treated(counts: Any, efficacies: Any) -> Any:
        solution = diffrax.diffeqsolve(
            diffrax.ODETerm(lambda _, y, drugs: jnp.stack(rates(y, drugs))),
            diffrax.Tsit5(),
            t0=0.0,
            t1=_DAYS,
            dt0=1e-3,
            y0=counts,
            args=efficacies,
            stepsize_controller=diffrax.PIDController(rtol=_RELATIVE, atol=_ABSOLUTE),
            max_steps=100_000,
        )
        return solution.ys[0]

    return jax.jit(jax.vmap(treated))
