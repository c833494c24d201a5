"""Where the policy does what was hardly ever logged: regions of states, found by a small tree, and said in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from repbm.core import PositivityRules, say
from repbm.data import Trajectories, numbered_states
from repbm.estimators import Case
from repbm.inference import leaf_conditions, tree_states


@dataclass(frozen=True)
class Region:
    """Logged states that fit all conditions, where the policy takes an action that was hardly ever taken."""

    action: str
    conditions: tuple[str, ...]
    logged: int
    """How often the action was logged there,"""
    steps: int
    """of so many logged steps where the policy takes it."""
    share: float
    """The share of the policy's own decisions that are this one, there."""

    @property
    def sentence(self) -> str:
        where = f" {say('doctor', 'and')} ".join(self.conditions)
        what = f"{self.action}{f', {where}' if where else ''}"
        return say("doctor", "check_region", what=what, logged=self.logged, steps=self.steps)


def uncovered_regions(
    case: Case, ratios: Float[np.ndarray, " steps"], rules: PositivityRules, known_table: bool
) -> list[Region]:
    """Regions that matter to the policy and that the log does not show, the largest first.

    For every action, a tree of the states in which the policy takes it tells where it was logged and where not. A
    region is uncovered if the action was logged so seldom there that a rate of `least_rate` times the policy's own is
    implausible. States count as often as the policy comes to them (`ratios`).
    """
    if case.decisions.matrix is None or not case.data.observations.shape[1]:
        return []
    from scipy.stats import binom

    data = case.data
    odds = case.decisions.matrix()
    visits = ratios / max(ratios.mean(), np.finfo(float).tiny)
    total = float((visits[:, None] * odds).sum())
    found: list[Region] = []
    for action, label in enumerate(case.decisions.labels):
        demand = visits * odds[:, action]
        rows = np.flatnonzero(odds[:, action] > rules.least_probability)
        if demand[rows].sum() < rules.least_share * total:
            continue
        taken = data.actions.codes[rows] == action
        regions = _states(data, rows) if known_table else _leaves(data, rows, taken, demand, rules)
        for conditions, inside in regions:
            share = float(demand[rows[inside]].sum() / total)
            hits, count = int(taken[inside].sum()), len(inside)
            rate = rules.least_rate * float(
                np.average(odds[rows[inside], action], weights=visits[rows[inside]] + 1e-12)
            )
            if (
                share >= (0.0 if known_table else rules.least_share)
                and hits < rules.fewest_uses
                and binom.cdf(hits, count, rate) < rules.significance
            ):
                found.append(Region(str(label), conditions, hits, count, share))
    if known_table and sum(region.share for region in found) < rules.least_share:
        return []
    return sorted(found, key=lambda region: -region.share)


def _leaves(
    data: Trajectories, rows: np.ndarray, taken: np.ndarray, demand: np.ndarray, rules: PositivityRules
) -> Iterator[tuple[tuple[str, ...], np.ndarray]]:
    """The leaves of a tree that tells where the action is taken, by their conditions, with the places of their rows."""
    if taken.all() or not taken.any():
        yield (), np.arange(len(rows))
        return
    from sklearn.tree import DecisionTreeClassifier

    states = tree_states(data.observations[rows])
    smallest = max(rules.smallest_region, int(rules.least_share * len(rows)))
    tree = DecisionTreeClassifier(max_leaf_nodes=rules.most_regions, min_samples_leaf=smallest, random_state=0)
    tree.fit(states, taken, sample_weight=demand[rows] + 1e-9)
    leaves = tree.apply(states)
    conditions = leaf_conditions(tree, data.names)
    for leaf in np.unique(leaves):
        yield conditions[int(leaf)], np.flatnonzero(leaves == leaf)


def _states(data: Trajectories, rows: np.ndarray) -> Iterator[tuple[tuple[str, ...], np.ndarray]]:
    """In a table every state is a region."""
    numbered = numbered_states(data)
    assert numbered is not None
    states, number = numbered
    own = number[rows]
    order = np.argsort(own, kind="stable")
    for part in np.split(order, np.flatnonzero(np.diff(own[order])) + 1):
        values = states[own[part[0]]]
        yield tuple(f"{name} = {value:.4g}" for name, value in zip(data.names, values, strict=True)), part
