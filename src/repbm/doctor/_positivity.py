"""Where the policy does what was hardly ever logged: regions of states, found by a small tree, and said in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from repbm.core import PositivityRules, say
from repbm.data import Trajectories, numbered_states
from repbm.doctor._done_before import Circumstances
from repbm.doctor._logged_rates import logged_rates
from repbm.estimators import Case
from repbm.inference import leaf_conditions


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
    meetings: float
    """How many of them an episode has."""

    def matters(self, rules: PositivityRules) -> bool:
        return self.share >= rules.least_share or self.meetings >= rules.least_meetings

    @property
    def sentence(self) -> str:
        where = f" {say('doctor', 'and')} ".join(self.conditions)
        what = f"{self.action}{f', {where}' if where else ''}"
        return say("doctor", "check_region", what=what, logged=self.logged, steps=self.steps)


def uncovered_regions(
    case: Case, ratios: Float[np.ndarray, " steps"], rules: PositivityRules, known_table: bool
) -> list[Region]:
    """Regions that matter to the policy and that the log does not show, the largest first.

    For every action, a tree of the steps at which the policy takes it tells where it was logged and where not. A
    region is uncovered if the action was logged so seldom there that a rate of `least_rate` times the policy's own is
    implausible. States count as often as the policy comes to them (`ratios`). What is left of the steps at which
    others do not do what the policy does is a region, too, whatever its shape.
    """
    if case.decisions.matrix is None or not case.data.observations.shape[1]:
        return []
    data, odds = case.data, case.decisions.matrix()
    visits = ratios / max(ratios.mean(), np.finfo(float).tiny)
    total = float((visits[:, None] * odds).sum())
    told, found, in_table = Circumstances.of(data, rules.most_actions), [], []
    least = min(rules.least_share * total, rules.least_meetings * len(data))
    demanded = [a for a in range(odds.shape[1]) if (visits * odds[:, a]).sum() >= least]
    rates = logged_rates(data, told.values, demanded, rules)
    for action in demanded:
        wanted = _Wanted.of(case, action, visits, total, rules)
        if known_table:
            in_table += [wanted.region(*each) for each in _states(data, wanted.rows)]
        if action not in rates:
            continue
        said = told.about(wanted.label)
        rate = rates[action][wanted.rows]
        inside = np.zeros(len(rate), dtype=bool)
        for conditions, leaf in _leaves(said, rate, wanted, rules):
            region = wanted.region(conditions, leaf)
            if region is not None and region.matters(rules):
                found.append(region)
                inside[leaf] = True
        rest = np.flatnonzero(~inside & (rate < rules.doubtful_rate * odds[wanted.rows, action]))
        region = wanted.region(_mostly(said, wanted.rows, rest, rules), rest)
        if region is not None and region.matters(rules):
            found.append(region)
    small = [region for region in in_table if region is not None]
    if sum(region.share for region in small) >= rules.least_share:
        # In a table every state speaks for itself; what it says need not be said again.
        named = {region.action for region in small}
        found = small + [region for region in found if region.action not in named]
    return sorted(found, key=lambda region: -region.share)


@dataclass(frozen=True, eq=False)
class _Wanted:
    """An action, and the steps at which the policy takes it."""

    label: str
    rows: Int[np.ndarray, " rows"]
    taken: Bool[np.ndarray, " rows"]
    odds: Float[np.ndarray, " rows"]
    visits: Float[np.ndarray, " rows"]
    total: float
    episodes: int
    rules: PositivityRules

    @classmethod
    def of(cls, case: Case, action: int, visits: np.ndarray, total: float, rules: PositivityRules) -> _Wanted:
        assert case.decisions.matrix is not None
        odds = case.decisions.matrix()[:, action]
        rows = np.flatnonzero(odds > rules.least_probability)
        taken = case.data.actions.codes[rows] == action
        label, episodes = str(case.decisions.labels[action]), len(case.data)
        return cls(label, rows, taken, odds[rows], visits[rows], total, episodes, rules)

    @property
    def demand(self) -> Float[np.ndarray, " rows"]:
        """How often the policy comes to a step and takes the action."""
        return self.visits * self.odds

    def region(self, conditions: tuple[str, ...], inside: Int[np.ndarray, " some"]) -> Region | None:
        """The steps at these places, if the action was logged too seldom there."""
        from scipy.stats import binom

        if not len(inside):
            return None
        hits = int(self.taken[inside].sum())
        rate = self.rules.least_rate * float(np.average(self.odds[inside], weights=self.visits[inside] + 1e-12))
        if hits >= self.rules.fewest_uses or not binom.cdf(hits, len(inside), rate) < self.rules.significance:
            return None
        demand = float(self.demand[inside].sum())
        return Region(self.label, conditions, hits, len(inside), demand / self.total, demand / self.episodes)


def _leaves(
    told: Circumstances, rate: Float[np.ndarray, " rows"], wanted: _Wanted, rules: PositivityRules
) -> Iterator[tuple[tuple[str, ...], np.ndarray]]:
    """The leaves of a tree of how probable the action is, by their conditions, with the places of their rows."""
    if wanted.taken.all() or not wanted.taken.any():
        yield (), np.arange(len(rate))
        return
    from sklearn.tree import DecisionTreeRegressor

    columns = told.values[wanted.rows]
    smallest = max(rules.smallest_region, int(rules.least_share * len(rate)))
    tree = DecisionTreeRegressor(
        max_leaf_nodes=rules.most_regions,
        min_samples_leaf=smallest,
        min_impurity_decrease=rules.least_gain,
        random_state=0,
    )
    # What was done itself tells where exactly an edge is.
    sharp = rate + rules.sharpness * (wanted.taken - rate)
    leaves = tree.fit(columns, sharp, sample_weight=wanted.demand + 1e-9).apply(columns)
    conditions = leaf_conditions(tree, told.names, told.whole)
    for leaf in np.unique(leaves):
        yield conditions[int(leaf)], np.flatnonzero(leaves == leaf)


def _mostly(told: Circumstances, rows: np.ndarray, inside: np.ndarray, rules: PositivityRules) -> tuple[str, ...]:
    """Where most of these steps are, in words."""
    if len(inside) < rules.smallest_region or len(inside) == len(rows):
        return ()
    from sklearn.tree import DecisionTreeClassifier

    member = np.zeros(len(rows), dtype=bool)
    member[inside] = True
    tree = DecisionTreeClassifier(
        max_leaf_nodes=rules.words, min_samples_leaf=rules.smallest_region, class_weight="balanced", random_state=0
    )
    leaves = tree.fit(told.values[rows], member).apply(told.values[rows])
    most = int(np.bincount(leaves[inside]).argmax())
    return tuple(say("doctor", "mostly", what=each) for each in leaf_conditions(tree, told.names, told.whole)[most])


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
