"""What is said of individuals: intervals of values, outcomes and gains, and refusals."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl
import pytest
from scipy.special import ndtri

from repbm import evaluate
from repbm.core import Thresholds, stream
from repbm.critics import CriticSpec, Marginal, fit_critic
from repbm.data import Categorical, Trajectories
from repbm.doctor import refusals
from repbm.domains.worlds import DEVELOPMENT, World
from repbm.estimators import Case, Corrected, IndividualValues, OutcomeShape
from repbm.evaluation import Evaluation
from repbm.policies import CallablePolicy
from repbm.report import report


def test_without_followers_outcomes_are_normal() -> None:
    shape = OutcomeShape(np.array([7.0, -9.0]), np.zeros(2), 30.0)
    assert shape.ends(0.9) == pytest.approx((ndtri(0.05), ndtri(0.95)), abs=0.03)


def test_with_many_followers_outcomes_have_their_shape() -> None:
    distances = np.array([-1.0, 0.0, 1.0, 50.0])
    shape = OutcomeShape(distances, 1e6 * np.array([0.06, 0.0, 0.9, 0.04]), 1.0)
    assert shape.ends(0.9) == (-1.0, 1.0)
    assert shape.ends(0.96)[1] == 50.0


def test_three_intervals_that_are_never_mixed_up() -> None:
    normal = OutcomeShape(np.zeros(0), np.zeros(0), 1.0)
    one = np.ones(1)
    found = IndividualValues(10 * one, 2 * one, 5 * one, normal, 7 * one, 3 * one)
    reach = float(ndtri(0.95))
    np.testing.assert_allclose(np.ravel(found.expected(0.9)), [10 - 2 * reach, 10 + 2 * reach])
    np.testing.assert_allclose(np.ravel(found.gains(0.9)), [3 - 3 * reach, 3 + 3 * reach])
    np.testing.assert_allclose(np.ravel(found.outcomes(0.9)), [10 - 5 * reach, 10 + 5 * reach], rtol=0.02)


@cache
def noisy() -> tuple[World, Trajectories, np.ndarray, Evaluation]:
    world = DEVELOPMENT["noisy-linear"](stream(2, "individuals"))
    data, starts = world.log(400, stream(2, "log"))
    data = replace(data, observation_names=tuple(f"x{k}" for k in range(data.observations.shape[1])))
    new = pl.DataFrame(dict(zip(data.names, data.initial_observations[:5].T, strict=True)))
    wild = new.head(1).with_columns(pl.all() + 1000.0)
    asked = {"discount": world.discount, "horizon": world.horizon, "level": 0.9}
    table = pl.concat([new, wild])
    return world, data, starts, evaluate(data, world.evaluated(), estimators=["corrected"], individuals=table, **asked)


@pytest.mark.slow
def test_intervals_hold_what_they_say() -> None:
    """At 90 %, 400 episodes, 100 individuals and one fixed seed; of individuals of one log errors go together, so that
    less than 75 % would be a fault, and not a matter of chance, though no rate of false alarms can be told exactly."""
    world, _, starts, found = noisy()
    told = found.individuals.filter(source="log").head(100)
    true = world.returns(starts[:100], stream(2, "truth"), 500)
    done = world.returns(starts[:100], stream(2, "now"), 500, behavior=True).mean(axis=1)
    value = true.mean(axis=1)
    assert told["value"].to_numpy() == pytest.approx(value, abs=3 * true.std())
    for low, high, drawn in (
        ("low", "high", value),
        ("outcome_low", "outcome_high", true[:, 0]),
        ("difference_low", "difference_high", value - done),
    ):
        assert ((told[low].to_numpy() <= drawn) & (drawn <= told[high].to_numpy())).mean() > 0.75
    assert (told["outcome_high"] - told["outcome_low"]).to_numpy().min() > 0
    np.testing.assert_allclose(told["difference"], told["value"] - told["logged_value"])
    assert np.corrcoef(told["logged_value"], done)[0, 1] > 0.8


def test_new_individuals_are_answered_like_logged_ones_and_strangers_refused() -> None:
    _, _, _, found = noisy()
    logged, new = (found.individuals.filter(source=source) for source in ("log", "new"))
    same = ["value", "low", "high", "outcome_low", "outcome_high", "difference", "difference_low", "difference_high"]
    for column in same:
        np.testing.assert_allclose(new[column].head(5), logged[column].head(5), rtol=1e-9)
    stranger = new.row(5, named=True)
    assert [stranger[column] for column in same] == [None] * len(same)
    assert stranger["refused"] == "the log shows nobody like this at the start"
    assert new["refused"].null_count() == 5
    assert "the log shows nobody like this at the start" in report(found).html()


def campaign(table: bool) -> Case:
    """People of 45 and older never got a message; the policy sends one to everybody."""
    generator = np.random.default_rng(0)
    age = generator.uniform(20, 70, 800)
    if table:
        age = np.round(age, -1)
    sent = (generator.random(800) < 0.5) & (age < 45)
    data = Trajectories(
        observations=age[:, None],
        actions=Categorical(sent.astype(np.int32), ("none", "sms")),
        rewards=(generator.random(800) < 0.2).astype(np.float64),
        offsets=np.arange(801),
        terminated=np.ones(800, dtype=bool),
        final_observations=np.full((800, 1), np.nan),
        observation_names=("age",),
    )
    return Case.of(data, CallablePolicy(lambda states: np.full(len(states), "sms")))


@pytest.mark.parametrize("table", [False, True])
def test_who_is_treated_as_nobody_like_them_was_is_refused(table: bool) -> None:
    case = campaign(table)
    old, young, stranger = refusals(case, np.array([[60.0], [30.0], [400.0]]), Thresholds())
    assert young is None
    assert old is not None
    assert old.startswith("sms was logged 0 times in ")
    assert stranger == "the log shows nobody like this at the start"


def test_the_interval_of_the_difference_holds_the_critics_error() -> None:
    world = DEVELOPMENT["one-step"](stream(0, "individuals"))
    data, _ = world.log(200, stream(0, "log"))
    case = Case.of(data, world.evaluated(), world.discount, world.horizon)
    critic = fit_critic(case, CriticSpec(Marginal())).critic
    from repbm.inference import Resampling, difference, interval

    widths = []
    for share in (0.0, 2.0):
        estimate = Corrected(critic, critic_share=share)(case)
        resampling = Resampling(data, 0)
        own = interval(estimate, 0.9, resampling)
        _, found = difference(estimate, own, case.returns, 0.9, resampling)
        assert found.low is not None
        assert found.high is not None
        widths.append(found.high - found.low)
    assert widths[1] > widths[0]
