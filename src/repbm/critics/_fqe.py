"""Fitted Q evaluation: what a policy is worth by regression on one-step targets (Le, Voloshin & Yue 2019).

Q(s, a, h) = E[ r + gamma sum_a' pi(a' | s') Q(s', a', h - 1) ] with h steps left, 0 after the end of an episode.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from repbm.core import FittedQRules, needs_networks
from repbm.critics._action_values import ActionValues, TableValues
from repbm.critics._bellman import BellmanTable
from repbm.critics._fqe_polynomial import polynomial_values
from repbm.data import Trajectories, few_states
from repbm.models import AM, fit_tabular
from repbm.policies import ObservationPolicy, Policy


@dataclass(frozen=True)
class FQENetwork:
    """A tanh network of `depth` hidden layers; the targets are renewed every `refresh` updates of Adam."""

    width: int = 64
    depth: int = 2
    updates: int = 20_000
    refresh: int = 50
    batch: int = 256
    rate: float = 2e-3

    def __post_init__(self) -> None:
        needs_networks()


def fit_fqe(
    data: Trajectories,
    policy: Policy,
    discount: float,
    horizon: int,
    *,
    network: FQENetwork | None = None,
    seed: int = 0,
    rules: FittedQRules = FittedQRules(),  # noqa: B008 - frozen
    forests: bool = False,
) -> ActionValues:
    """Q of the policy, fitted to the log.

    By dynamic programming in the counts of the log where its one observation takes few whole values; else by
    polynomials in closed form, or by a `network` where one is given. With `forests` these tell what polynomials miss.
    """
    return begin_fqe(data, policy, discount, horizon, network=network, seed=seed, rules=rules, forests=forests)()


def begin_fqe(
    data: Trajectories,
    policy: Policy,
    discount: float,
    horizon: int,
    *,
    network: FQENetwork | None = None,
    seed: int = 0,
    rules: FittedQRules = FittedQRules(),  # noqa: B008 - frozen
    forests: bool = False,
) -> Callable[[], ActionValues]:
    """Ask the policy all that there is to ask; what is returned fits Q, and may do so in another thread."""
    transitions = BellmanTable.of(data, policy, horizon)
    rewards = (float(data.rewards.min()), float(data.rewards.max()))
    actions = len(data.actions.labels)
    if network is not None:
        from repbm.critics._fqe_network import network_values

        given = transitions, actions, discount, rewards, horizon, network, seed
        return lambda: ActionValues(network_values(*given), data.actions.labels, horizon, discount, rewards)
    if few_states(data) and isinstance(policy, ObservationPolicy):
        # In a table the fixed point of the regression is dynamic programming in the frequencies of the log.
        world = fit_tabular(data, None, AM, horizon)
        table = TableValues(world.states, world.action_values(policy, discount))
        return lambda: ActionValues(table, data.actions.labels, horizon, discount, rewards)

    def fitted() -> ActionValues:
        function = polynomial_values(transitions, actions, discount, rewards, horizon, seed, rules, forests)
        return ActionValues(function, data.actions.labels, horizon, discount, rewards)

    return fitted
