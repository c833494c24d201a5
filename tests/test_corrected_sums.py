"""The corrected estimate from sums over parts of a log: what it is of the log in one piece."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from repbm.core import stream
from repbm.critics import CriticSpec, Marginal, fit_critic
from repbm.data import Categorical
from repbm.domains.worlds import DEVELOPMENT
from repbm.estimators import (
    Case,
    Corrected,
    CorrectedSums,
    FoldCritic,
    RewardRange,
    Weights,
    group_numbers,
    marginal_weights,
    surprises,
)
from repbm.estimators._corrected import _corrections
from repbm.estimators._step_sums import StepSums
from repbm.inference import Resampling, difference, interval
from repbm.policies import CallablePolicy
from tests.systems import QUICK

_FAMILIES = ["noisy-linear", "partial", "table"]


@cache
def _fitted(family: str) -> tuple[Case, FoldCritic]:
    """A log that loses sight of some episodes, and the critic behind its answer."""
    name = "noisy-linear" if family == "table" else family
    world = DEVELOPMENT[name](stream(3, "world", name))
    data, _ = world.log(300, stream(3, "log", name))
    policy = world.evaluated()
    if family == "table":
        few = (data.observations[:, :1] > 0).astype(np.float64)
        finals = np.full((len(data), 1), np.nan)
        data = replace(data, observations=few, final_observations=finals, observation_names=("x",))
        actions = len(data.actions.labels)
        policy = CallablePolicy(lambda x: np.eye(actions)[(x[:, 0] > 0).astype(int)] * 0.8 + 0.2 / actions)
    ended = data.terminated.copy()
    ended[::7] = False
    data = replace(data, terminated=ended)
    case = Case.of(data, policy, 0.97, world.horizon + 1)
    critic = fit_critic(case, CriticSpec(Marginal(), thresholds=QUICK), 3).critic
    assert isinstance(critic, FoldCritic)
    return case, critic


def _summed(case: Case, critic: FoldCritic, cuts: list[int], count: int) -> CorrectedSums:
    """From parts, each asked of the critic as if it had never seen them."""
    alone, found = critic.alone(), None
    for low, high in pairwise([0, *cuts, len(case.data)]):
        part = replace(case.take(np.arange(low, high)), behavior=None)
        judging = alone.elsewhere(part, critic.folds[low:high])
        groups = group_numbers(low, high - low, count, 3)
        sums = CorrectedSums.of(part, judging, groups, (count, case.data.longest), len(case.data))
        found = sums if found is None else found + sums
    assert found is not None
    return found


@pytest.mark.parametrize("family", _FAMILIES)
def test_parts_say_what_the_whole_log_says(family: str) -> None:
    case, critic = _fitted(family)
    assert critic.states_tell_all == (family != "partial")
    estimator = Corrected(critic)
    whole, sums = estimator(case), _summed(case, critic, [2, 90, 91], len(case.data))
    found = sums.estimate(estimator, critic, whole.note)
    assert found.value == pytest.approx(whole.value, rel=1e-9)
    assert found.contributions is not None
    assert whole.contributions is not None
    np.testing.assert_allclose(found.contributions, whole.contributions, rtol=1e-9)
    assert found.critic_error == pytest.approx(whole.critic_error, rel=1e-9)
    assert found.effective_episodes == pytest.approx(whole.effective_episodes, rel=1e-9)
    earned = critic.earned(case)
    np.testing.assert_allclose(sums.mean_earned, earned, rtol=1e-9)
    assert sums.cut_off == int((~case.whole).sum()) > 10
    assert sums.rewards == RewardRange.of(case)
    own, other = interval(whole, 0.9, Resampling(case.data, 3)), interval(found, 0.9, Resampling(sums, 3))
    assert (other.low, other.high) == pytest.approx((own.low, own.high), rel=1e-9)
    _, gain = difference(whole, own, earned, 0.9, Resampling(case.data, 3))
    _, same = difference(found, other, sums.mean_earned, 0.9, Resampling(sums, 3))
    assert (same.low, same.high) == pytest.approx((gain.low, gain.high), rel=1e-9)


@pytest.mark.parametrize("family", ["noisy-linear", "partial"])
def test_groups_of_several_episodes_have_the_same_value_and_about_the_same_interval(family: str) -> None:
    case, critic = _fitted(family)
    estimator = Corrected(critic)
    whole, sums = estimator(case), _summed(case, critic, [150], 70)
    # Groups of four and of five episodes: none counts for more.
    assert set(sums.sizes) == {4.0, 5.0}
    found = sums.estimate(estimator, critic, whole.note)
    if critic.states_tell_all:
        assert found.value == pytest.approx(whole.value, rel=1e-9)
    own, other = interval(whole, 0.9, Resampling(case.data, 3)), interval(found, 0.9, Resampling(sums, 3))
    assert own.std_error is not None
    # The standard error of 70 groups is known to 8 %: 3 of these.
    assert other.std_error == pytest.approx(own.std_error, rel=0.25)


@pytest.mark.parametrize("spread", [0.5, 4.0])
def test_weights_are_cut_where_all_episodes_say_so(spread: float) -> None:
    """Though no part knows it: of heavy tails many are cut, also last ones, whose episodes keep what is left."""
    case, critic = _fitted("noisy-linear")
    data, n = case.data, len(case.data)
    scaled = np.exp(spread * np.random.default_rng(5).normal(size=len(data.rewards)))
    weights, surprise = Weights(data, scaled, np.log(scaled[data.lasts])), surprises(case, critic)
    limited = weights.limited(np.sqrt(n))
    cut = limited.scaled < scaled
    assert cut[data.lasts].any() == (spread > 1)
    expected = _corrections(case, limited, surprise)
    borders, found = [0, 1, 40, 200, n], None
    for low, high in pairwise(borders):
        at = slice(data.offsets[low], data.offsets[high])
        part, groups = data.take(np.arange(low, high)), np.arange(low, high)
        shape, most = (n, data.longest), float(np.sqrt(n))
        sums = StepSums.of(part, scaled[at], surprise[at], groups, shape, n, most)
        found = sums if found is None else found + sums
    assert found is not None
    assert cut.sum() <= len(found.heavy.steps) <= np.sqrt(n) * data.longest
    np.testing.assert_allclose(found.corrections(case.discount, np.ones(n)), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.held, limited.held, rtol=1e-9)
    np.testing.assert_allclose(found.effective_episodes, limited.effective_episodes, rtol=1e-9)


def test_a_critic_asked_elsewhere_forgets_what_it_was_fitted_to() -> None:
    case, critic = _fitted("noisy-linear")
    alone = critic.alone()
    assert len(alone.folds) == 0
    some = np.array([250, 3, 17])
    part = case.take(some)
    judging = alone.elsewhere(part, critic.folds[some])
    of_log = critic.of_episodes(case, some)
    np.testing.assert_allclose(
        marginal_weights(part, judging).scaled, marginal_weights(part, of_log).scaled, rtol=1e-12
    )
    np.testing.assert_allclose(surprises(part, judging), surprises(part, of_log), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(judging.logged(part), of_log.logged(part), rtol=1e-12)
    np.testing.assert_allclose(judging.earned(part), of_log.earned(part), rtol=1e-12)


def test_states_and_times_that_a_table_never_saw_weigh_as_usual() -> None:
    case, critic = _fitted("table")
    data = case.data.take(np.arange(20))
    far = replace(
        data, observations=data.observations + 5.0, actions=Categorical(data.actions.codes, data.actions.labels)
    )
    judging = critic.alone().elsewhere(Case.of(far, case.policy, 0.97, case.horizon), np.arange(20) % 3)
    np.testing.assert_array_equal(judging.ratios(case), 1.0)
