"""Who gains and who loses: groups of individuals, found by a small tree and judged by others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from repbm.core import SubgroupRules, stream
from repbm.inference._intervals import student


@dataclass(frozen=True)
class Group:
    """Individuals whose initial state fits all conditions; their mean gain, with an interval."""

    conditions: tuple[str, ...]
    share: float
    gain: float
    low: float
    high: float


def subgroups(
    states: Float[np.ndarray, "individuals dimensions"],
    names: tuple[str, ...],
    gains: Float[np.ndarray, " individuals"],
    level: float = 0.95,
    seed: int = 0,
    rules: SubgroupRules = SubgroupRules(),  # noqa: B008 - frozen
) -> list[Group]:
    """Groups that gain differently, the most first; none where the difference is not confirmed.

    A tree of at most four leaves, as many as cross-validation asks for, is grown on one half of the individuals; the
    other half gives the means and the intervals, so that what was picked for being large is not reported as large. An
    F test on that half, at 5 %, decides whether the groups differ at all.
    """
    from scipy.stats import f_oneway

    known = np.isfinite(gains)
    states, gains = tree_states(states[known]), gains[known]
    if len(gains) < rules.fewest_individuals or not states.shape[1]:
        return []
    order = stream(seed, "subgroups").permutation(len(gains))
    grown, judged = order[: len(order) // 2], order[len(order) // 2 :]
    tree = _grown(states[grown], gains[grown], rules)
    leaves = tree.apply(states[judged])
    own = {leaf: gains[judged][leaves == leaf] for leaf in np.unique(leaves)}
    if len(own) < 2 or min(map(len, own.values())) < 5:
        return []
    if any(part.std() > 0 for part in own.values()) and not f_oneway(*own.values()).pvalue < rules.significance:
        return []
    conditions = leaf_conditions(tree, names)
    share = {leaf: float((tree.apply(states) == leaf).mean()) for leaf in own}
    found = []
    for leaf, part in own.items():
        bounds = student(float(part.mean()), part, level)
        assert bounds.low is not None
        assert bounds.high is not None
        found.append(Group(conditions[leaf], share[leaf], float(part.mean()), bounds.low, bounds.high))
    return sorted(found, key=lambda group: -group.gain)


def _grown(states: np.ndarray, gains: np.ndarray, rules: SubgroupRules):
    """The smallest tree that is within one standard error of the best on held-out folds."""
    from sklearn.model_selection import cross_val_score
    from sklearn.tree import DecisionTreeRegressor

    smallest = max(10, int(rules.smallest_share * len(gains)))
    trees = [
        DecisionTreeRegressor(max_leaf_nodes=count, min_samples_leaf=smallest, random_state=0)
        for count in range(2, rules.most_groups + 1)
    ]
    scores = np.array([cross_val_score(tree, states, gains, scoring="neg_mean_squared_error") for tree in trees])
    means, best = scores.mean(axis=1), scores.mean(axis=1).argmax()
    # The error of the difference to the best on the same folds, not that of the score itself.
    close = [
        means[best] - mean <= (scores[best] - own).std() / np.sqrt(len(own))
        for mean, own in zip(means, scores, strict=True)
    ]
    return trees[close.index(True)].fit(states, gains)


def tree_states(states: Float[np.ndarray, "rows dimensions"]) -> Float[np.ndarray, "rows dimensions"]:
    """As trees take them: within the range of float32."""
    largest = float(np.finfo(np.float32).max)
    return np.clip(states, -largest, largest)


def leaf_conditions(tree, names: tuple[str, ...], whole: frozenset[str] = frozenset()) -> dict[int, tuple[str, ...]]:
    """The conditions of every leaf: for each column its lower and its upper end, as far as the tree asks for them.

    `whole` are columns of whole numbers.
    """
    inner = tree.tree_
    found: dict[int, tuple[str, ...]] = {}

    def walk(node: int, bounds: dict[int, tuple[float, float]]) -> None:
        if inner.children_left[node] == -1:
            found[node] = tuple(_words(names[column], *ends, names[column] in whole) for column, ends in bounds.items())
            return
        column, cut = int(inner.feature[node]), float(inner.threshold[node])
        low, high = bounds.get(column, (-np.inf, np.inf))
        walk(int(inner.children_left[node]), {**bounds, column: (low, min(high, cut))})
        walk(int(inner.children_right[node]), {**bounds, column: (max(low, cut), high)})

    walk(0, {})
    return found


def _words(name: str, low: float, high: float, whole: bool = False) -> str:
    if whole:
        low, high = np.floor(low), np.floor(high)
        if high == low + 1:
            return f"{name} = {high:.0f}"
    if name.endswith(" missing") or "=" in name:
        # A column of 0 and 1: whether it is so.
        if np.isinf(low) and 0 < high < 1:
            return f"not {name}"
        if np.isinf(high) and 0 < low < 1:
            return name
    if np.isinf(low):
        return f"{name} ≤ {high:.4g}"
    return f"{name} > {low:.4g}" if np.isinf(high) else f"{low:.4g} < {name} ≤ {high:.4g}"
