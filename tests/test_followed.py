"""What adds up over an episode and is not in its states: seen in who follows the policy, or said to rest on states."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from repbm.core import HistoryRules, SupportRules, Thresholds
from repbm.data import Categorical, Trajectories
from repbm.doctor import verdict_of
from repbm.doctor._amounts import rarest_amount
from repbm.estimators import Case
from repbm.policies import CallablePolicy

STATES_ALONE = Thresholds(history=HistoryRules(evidence=np.inf, leaning_evidence=np.inf))
"""Nothing is looked for in what came before."""


def treated(episodes: int, steps: int, rate: float, harm: float, seed: int = 0) -> Trajectories:
    """A column of noise; every treatment pays 1, and costs `harm` for each that was given before."""
    generator = np.random.default_rng(seed)
    actions = (generator.random((episodes, steps)) < rate).astype(np.int32)
    before = np.cumsum(actions, axis=1) - actions
    rewards = actions * (1 - harm * before) + generator.normal(size=actions.shape)
    return Trajectories(
        generator.normal(size=(episodes * steps, 1)),
        Categorical(actions.ravel(), ("wait", "treat")),
        rewards.ravel(),
        np.arange(episodes + 1) * steps,
        np.ones(episodes, dtype=bool),
        np.zeros((episodes, 1)),
        np.where(actions.ravel() == 1, rate, 1 - rate),
    )


def often(share: float) -> CallablePolicy:
    return CallablePolicy(lambda states: np.tile([1 - share, share], (len(states), 1)))


@pytest.mark.parametrize(("harm", "holds"), [(0.0, True), (0.5, False)])
def test_episodes_that_follow_the_policy_must_say_the_same(harm: float, holds: bool) -> None:
    verdict = verdict_of(Case.of(treated(1000, 5, 0.3, harm), often(0.7)), thresholds=STATES_ALONE)
    check = next(check for check in verdict.checks or () if check.name == "followed")
    assert check.holds == holds
    assert verdict.supported == holds


def test_few_episodes_that_follow_are_not_asked() -> None:
    verdict = verdict_of(Case.of(treated(200, 8, 0.2, 0.5), often(1.0)), thresholds=STATES_ALONE)
    check = next(check for check in verdict.checks or () if check.name == "followed")
    assert check.holds
    assert "too few" in check.sentence


def test_an_amount_that_nobody_had_is_said() -> None:
    data = treated(300, 10, 0.2, 0.0)
    ones = np.ones(len(data.rewards))
    found = rarest_amount(Case.of(data, often(1.0)), ones, SupportRules())
    assert found is not None
    assert (found.action, found.more, found.alike, found.episodes) == ("treat", True, 0, 300)
    assert found.times == pytest.approx(found.steps)
    seldom = rarest_amount(Case.of(treated(300, 10, 0.8, 0.0), often(0.0)), ones, SupportRules())
    assert seldom is not None
    assert seldom.alike == 0
    assert rarest_amount(Case.of(data, often(0.25)), ones, SupportRules()) is None
    known_at_steps = replace(Case.of(data, often(0.25)).decisions, matrix=None)
    assert rarest_amount(replace(Case.of(data, often(0.25)), decisions=known_at_steps), ones, SupportRules()) is None
