"""Traces of something that lasts, drives decisions and outcomes, and is not logged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from repbm.core import Thresholds, stream
from repbm.data import Categorical, Trajectories
from repbm.doctor import verdict_of
from repbm.estimators import Case
from repbm.policies import CallablePolicy

EPISODES, STEPS = 200, 4


def told(decides: float, drives: float) -> tuple[bool, str]:
    """Whether the check holds, and what it says, where something unseen makes treating likelier and outcomes better.

    Decisions also go by something else that lasts, and outcomes by something else: with one of the two alone nothing
    is wrong.
    """
    draws = stream(3, "hidden")
    mood = np.repeat(draws.normal(size=(EPISODES, 1)), STEPS, axis=1)
    x = draws.normal(size=mood.shape)
    treated = draws.random(mood.shape) < 1 / (1 + np.exp(-0.5 * x - decides * mood))
    paid = x + 0.3 * treated + drives * mood + draws.normal(size=mood.shape)
    data = Trajectories(
        observations=x.reshape(-1, 1),
        actions=Categorical(treated.astype(np.int32).ravel(), ("wait", "treat")),
        rewards=paid.ravel(),
        offsets=np.arange(EPISODES + 1) * STEPS,
        terminated=np.ones(EPISODES, dtype=bool),
        final_observations=np.full((EPISODES, 1), np.nan),
    )
    policy = CallablePolicy(lambda states: np.tile([0.4, 0.6], (len(states), 1)), actions=("wait", "treat"))
    # What decisions say of earlier surprises is tested elsewhere.
    rules = replace(Thresholds().support, beyond_chance_hidden=np.inf, beyond_chance_hidden_state=np.inf)
    verdict = verdict_of(Case.of(data, policy), thresholds=replace(Thresholds(), support=rules))
    check = next(check for check in verdict.checks or () if check.name == "hidden causes")
    return check.holds, check.sentence


def test_something_that_lasts_behind_decisions_and_outcomes_is_refused() -> None:
    holds, sentence = told(1.5, 0.6)
    assert not holds
    assert "may drive both" in sentence


@pytest.mark.slow
@pytest.mark.parametrize(("decides", "drives"), [(1.5, 0.0), (0.0, 0.6)])
def test_a_habit_alone_or_luck_alone_is_not(decides: float, drives: float) -> None:
    assert told(decides, drives)[0]
