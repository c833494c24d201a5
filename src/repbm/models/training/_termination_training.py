"""The training of the paper's termination: as many steps that ended an episode as of any kind."""

from __future__ import annotations

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from repbm.models.parts._termination import Never, Termination
from repbm.models.parts._termination_network import TerminationNetwork
from repbm.models.training._loop import TrainingOptions, train
from repbm.models.transitions._arrays import AnyArray
from repbm.models.transitions._padding import bucket, padded
from repbm.models.transitions._table import TransitionTable


class Arrivals(eqx.Module):
    """Steps by where they lead: those that ended an episode first, then all of them."""

    states: Float[AnyArray, "rows dimensions"]
    next_states: Float[AnyArray, "rows dimensions"]
    ended: Bool[AnyArray, " rows"]
    ends: Int[AnyArray, ""]
    count: Int[AnyArray, ""]

    @classmethod
    def of(cls, table: TransitionTable, kept: Bool[np.ndarray, " steps"]) -> Arrivals:
        ends = np.flatnonzero(kept & table.ended)
        order = np.concatenate([ends, np.flatnonzero(kept)])
        length = bucket(len(order))
        return cls(
            states=padded(table.states[order].astype(np.float32), length),
            next_states=padded(table.next_states[order].astype(np.float32), length),
            ended=padded(table.ended[order], length),
            ends=np.asarray(len(ends), np.int32),
            count=np.asarray(len(order), np.int32),
        )


@dataclass(frozen=True)
class HalfEnded:
    """The mean logistic loss of `batch` steps of any kind and as many that ended an episode.

    Both sides of a step are judged: where it led, and where it came from, which had not ended the episode.
    """

    batch: int = 64

    def drawn(self, member: None, arrivals: Arrivals, key: Array) -> Int[Array, " both"]:
        one, two = jax.random.split(key)
        last = jax.random.randint(one, (self.batch,), 0, arrivals.ends, jnp.int32)
        other = jax.random.randint(two, (self.batch,), arrivals.ends, arrivals.count, jnp.int32)
        return jnp.concatenate([last, other])

    def __call__(
        self, network: TerminationNetwork, member: None, arrivals: Arrivals, index: Int[Array, " both"]
    ) -> Float[Array, ""]:
        after, before = (network.scores(side[index]) for side in (arrivals.next_states, arrivals.states))
        signed = jnp.concatenate([jnp.where(arrivals.ended[index], after, -after), -before])
        return jnp.asarray(jax.nn.softplus(-signed).mean())


def fit_termination_network(
    table: TransitionTable, kept: Bool[np.ndarray, " steps"], key: Array, options: TrainingOptions, batch: int = 64
) -> Termination:
    """The network, from the kept steps; `Never` where none of them ended an episode."""
    kept = kept & table.followed
    if not (kept & table.ended).any():
        return Never()
    one, two = jax.random.split(key)
    network = jax.tree.map(lambda leaf: leaf[None], TerminationNetwork.random(one, table.states.shape[1]))
    loss = HalfEnded(batch)
    return train(loss, network, None, Arrivals.of(table, kept), two[None], options).checked().member(0)
