"""The Wasserstein distance between two groups of representations, by entropic optimal transport."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float

from repbm.models.objectives._distances import IPM, safe_root, squared_distances
from repbm.models.transitions._arrays import AnyArray


@dataclass(frozen=True)
class Wasserstein(IPM):
    """W(a, b) = min_P sum P_ij |z_i - z_j| over couplings P of the two groups: 1-Lipschitz functions as critics.

    Approximated by the Sinkhorn divergence S(a, b) - S(a, a)/2 - S(b, b)/2, which is 0 for equal groups (Feydy 2019). S
    adds epsilon * KL(P | a b') to the cost; `epsilon` is in units of the mean distance between the groups.
    """

    epsilon: float = 0.05
    iterations: int = 50

    def measure(
        self, z: Float[AnyArray, "rows components"], a: Float[AnyArray, " rows"], b: Float[AnyArray, " rows"]
    ) -> Float[AnyArray, ""]:
        import jax
        import jax.numpy as jnp

        cost = safe_root(squared_distances(z))
        typical = jax.lax.stop_gradient(a @ cost @ b)
        smoothing = self.epsilon * jnp.where(typical > 0, typical, 1.0)
        cross, first, second = (self._transport(cost, x, y, smoothing) for x, y in ((a, b), (a, a), (b, b)))
        return cross - (first + second) / 2

    def _transport(
        self,
        cost: Float[AnyArray, "rows rows"],
        a: Float[AnyArray, " rows"],
        b: Float[AnyArray, " rows"],
        smoothing: Float[AnyArray, ""],
    ) -> Float[AnyArray, ""]:
        """S(a, b), by Sinkhorn's iteration for the dual potentials, in logarithms.

        The gradient is that of the optimum: dS/dC = P, with potentials that do not move.
        """
        import jax
        import jax.numpy as jnp
        from jax.scipy.special import logsumexp

        fixed = jax.lax.stop_gradient(cost)
        log_a, log_b = (jnp.log(jnp.where(x > 0, x, jnp.finfo(x.dtype).tiny)) for x in (a, b))

        def soft_minimum(potential: AnyArray, log_weights: AnyArray, costs: AnyArray) -> AnyArray:
            return -smoothing * logsumexp(log_weights + (potential - costs) / smoothing, axis=1)

        def improve(potentials: tuple[AnyArray, AnyArray], _: None) -> tuple[tuple[AnyArray, AnyArray], None]:
            f, g = potentials
            # Half steps: plain alternation converges slowly between a group and itself.
            f = (f + soft_minimum(g, log_b, fixed)) / 2
            g = (g + soft_minimum(f, log_a, fixed.T)) / 2
            return (f, g), None

        start = (jnp.zeros_like(a), jnp.zeros_like(b))
        (f, _), _ = jax.lax.scan(improve, start, None, length=self.iterations)
        g = soft_minimum(f, log_a, fixed.T)
        plan = jnp.exp((f[:, None] + g[None] - fixed) / smoothing + log_a[:, None] + log_b[None])
        plan = jnp.where((a[:, None] > 0) & (b[None] > 0), plan, 0.0)
        value = a @ f + b @ g
        # Zero in value, P . dC in the gradient.
        return jax.lax.stop_gradient(value) + (jax.lax.stop_gradient(plan) * (cost - fixed)).sum()
