"""The loss of a random batch: two ways to draw it, one as published and one more precise."""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from repbm.models.objectives._distances import IPM
from repbm.models.training._networks import Network
from repbm.models.training._rows import Members, Rows

OneStep = tuple[Int[Array, ""], Int[Array, " batch"]]
"""A step, and rows of it."""

Sampled = tuple[Int[Array, " batch"], tuple[Int[Array, " strata"], Int[Array, "strata both"]] | None]
"""Rows of all steps; steps to compare groups in, and the rows of both groups there."""


def step_losses(network: Network, rows: Rows, index: Int[Array, " batch"]) -> Float[Array, " batch"]:
    """l_t of some rows: squared error of the reward, plus that of the change of state (a mean over dimensions)."""
    predicted = network.outcomes(network.features(jnp.asarray(rows.states)[index]))
    taken = predicted[jnp.arange(len(index)), jnp.asarray(rows.actions)[index]]
    squares = (taken - jnp.asarray(rows.outcomes)[index]) ** 2
    return squares[:, 0] + jnp.where(jnp.asarray(rows.followed)[index], squares[:, 1:].mean(axis=1), 0.0)


def parameter_penalty(network: Network, member: Members) -> Float[Array, ""]:
    """regularization * |theta|^2 / n^(3/8)."""
    return jnp.asarray(member.penalty * sum((leaf**2).sum() for leaf in jax.tree.leaves(network)))


@dataclass(frozen=True)
class PaperBatches:
    """A batch from one step t, as published.

    The loss is (1/B) sum (behavior + target * f_t/u_t) l_t + alpha_t IPM_t, with t uniform among the steps that have at
    least a batch of living episodes: if all lived that long, on average the objective over the number of steps.
    """

    batch: int = 64
    distances: tuple[IPM, ...] = ()

    def drawn(self, member: Members, rows: Rows, key: Array) -> OneStep:
        which, within = jax.random.split(key)
        step = jnp.asarray(rows.chosen)[jax.random.randint(which, (), 0, rows.choices, jnp.int32)]
        first, end = jnp.asarray(rows.offsets)[step], jnp.asarray(rows.offsets)[step + 1]
        return step, jax.random.randint(within, (self.batch,), first, end, jnp.int32)

    def __call__(self, network: Network, member: Members, rows: Rows, drawn: OneStep) -> Float[Array, ""]:
        step, index = drawn
        weights = member.behavior + member.target * jnp.asarray(rows.marginal)[index]
        loss = (weights * step_losses(network, rows, index)).mean() + parameter_penalty(network, member)
        if self.distances:
            z = jnp.asarray(network.representation(jnp.asarray(rows.states)[index]))
            groups = jnp.asarray(rows.factual)[index], jnp.asarray(rows.counterfactual)[index]
            for k, distance in enumerate(self.distances):
                loss += member.alpha[k, step] * distance(z, *groups)
        return loss


@dataclass(frozen=True)
class SampledBatches:
    """A batch from all steps: both risks by sampling, so that no weight of hundreds shakes the gradient.

    A share behavior / (behavior + target) of the batch is drawn from all rows alike, the rest in proportion to f_t/u_t;
    each counts the same. The distances are measured in `strata` single steps, each between `group` factual and as many
    counterfactual rows drawn in proportion to f_t and c_t, and averaged.
    """

    batch: int = 256
    distances: tuple[IPM, ...] = ()
    strata: int = 4
    group: int = 32

    def drawn(self, member: Members, rows: Rows, key: Array) -> Sampled:
        one, two, three = jax.random.split(key, 3)
        logged = jax.random.randint(one, (self.batch,), 0, rows.count, jnp.int32)
        followed = rows.factual_draws(two, self.batch)
        share = member.behavior / (member.behavior + member.target)
        places = (jnp.arange(self.batch) + 0.5) / self.batch
        index = jnp.where(places < share, logged, followed)
        if not self.distances:
            return index, None
        return index, jax.vmap(lambda k: self._compared(rows, k))(jax.random.split(three, self.strata))

    def _compared(self, rows: Rows, key: Array) -> tuple[Int[Array, ""], Int[Array, " both"]]:
        which, one, two = jax.random.split(key, 3)
        step = jnp.asarray(rows.compared)[jax.random.randint(which, (), 0, rows.comparisons, jnp.int32)]
        return step, jnp.concatenate(
            [rows.factual_draws(one, self.group, step), rows.counterfactual_draws(two, self.group, step)]
        )

    def __call__(self, network: Network, member: Members, rows: Rows, drawn: Sampled) -> Float[Array, ""]:
        index, groups = drawn
        loss = step_losses(network, rows, index).mean() + parameter_penalty(network, member)
        if groups is not None:
            loss += jax.vmap(lambda one: self._balance(network, member, rows, *one))(groups).mean()
        return loss

    def _balance(
        self, network: Network, member: Members, rows: Rows, step: Int[Array, ""], index: Int[Array, " both"]
    ) -> Float[Array, ""]:
        z = jnp.asarray(network.representation(jnp.asarray(rows.states)[index]))
        # A log in which nobody leaves the policy has no step to compare.
        here = jnp.where(rows.comparisons > 0, 1.0, 0.0).astype(z.dtype)
        first = jnp.where(jnp.arange(len(index)) < self.group, here, 0.0)
        distances = [distance(z, first, here - first) for distance in self.distances]
        return sum(
            (member.alpha[k, step] * distance for k, distance in enumerate(distances)), start=jnp.zeros((), z.dtype)
        )


@dataclass(frozen=True)
class HeldOutRisk:
    """(behavior * mean of l + target * mean of l weighted by f/u) / (behavior + target) over all rows.

    Where no row follows the policy the plain mean stands in for the weighted one.
    """

    def __call__(self, network: Network, member: Members, rows: Rows) -> Float[Array, ""]:
        every = jnp.arange(len(rows.actions))
        losses = step_losses(network, rows, every)
        real = every < rows.count
        plain = jnp.where(real, losses, 0.0).sum() / rows.count
        mass = jnp.asarray(rows.marginal).sum()
        weighted = (rows.marginal * losses).sum() / jnp.where(mass > 0, mass, 1.0)
        weighted = jnp.where(mass > 0, weighted, plain)
        return jnp.asarray((member.behavior * plain + member.target * weighted) / (member.behavior + member.target))
