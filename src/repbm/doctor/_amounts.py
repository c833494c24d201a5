"""Whether anybody in the log had as much, or as little, of an action as the policy gives."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
from jaxtyping import Float

from repbm.core import SupportRules
from repbm.estimators import Case


@dataclass(frozen=True)
class Amount:
    """An action that the policy takes more often, or more seldom, than nearly all logged episodes."""

    action: str
    times: float
    """How often the policy takes it in the first `steps` steps, on average."""
    steps: int
    more: bool
    """Whether that is more often than others do."""
    alike: int
    """So many episodes had as much, or as little,"""
    episodes: int
    """of so many."""


def rarest_amount(case: Case, ratios: Float[np.ndarray, " steps"], rules: SupportRules) -> Amount | None:
    """The amount that the fewest logged episodes had; None where enough had every one.

    What adds up in a person, and is not in the states, can only be seen in those who had as much. Where states tell all
    it does not matter: so this is no reason against an answer, but what it then rests on.
    """
    if case.decisions.matrix is None:
        return None
    data, odds = case.data, case.decisions.matrix()
    weight = np.maximum(np.bincount(data.steps, ratios, data.longest), np.finfo(float).tiny)
    least = int(np.clip(rules.least_alike * len(data), rules.fewest_alike, rules.most_alike))
    order = np.argsort(data.steps, kind="stable")
    at = [order[start:stop] for start, stop in pairwise(np.concatenate([[0], np.cumsum(data.alive)]).tolist())]
    found: Amount | None = None
    # More of one action is less of another: what is done is said rather than what is not.
    for more, (action, label) in product((True, False), enumerate(case.decisions.labels)):
        expected = np.cumsum(np.bincount(data.steps, ratios * odds[:, action], data.longest) / weight)
        taken = (data.actions.codes == action).astype(np.int64)
        so_far = np.cumsum(taken)
        so_far -= np.repeat(so_far[data.starts] - taken[data.starts], data.lengths)
        for step in range(1, data.longest):
            own, times = so_far[at[step]], float(expected[step])
            if len(own) < rules.fewest_effective_episodes:
                break
            alike = int((own >= np.floor(times) if more else own <= np.ceil(times)).sum())
            if alike < (least if found is None else found.alike):
                found = Amount(str(label), times, step + 1, more, alike, len(own))
    return found
