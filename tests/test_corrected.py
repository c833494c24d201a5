"""The answer: corrected values, their intervals, and the verdict that goes with them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import repbm
from repbm.core import Thresholds, stream
from repbm.critics import CriticSpec, CrossFittedValues, Marginal, fit_critic
from repbm.critics._state_ratio import fit_state_ratio
from repbm.data import Categorical, Trajectories
from repbm.doctor import examine, judge, verdict_of
from repbm.domains.worlds import DEVELOPMENT, World
from repbm.estimators import Case, Corrected, FunctionCritic, marginal_weights, return_deviation, surprises
from repbm.evaluation import evaluate
from repbm.inference import interval, standard_error
from repbm.policies import CallablePolicy
from tests.systems import QUICK


@cache
def drawn(family: str, seed: int = 0, episodes: int = 200) -> tuple[World, Case]:
    world = DEVELOPMENT[family](stream(seed, "world", family))
    data, _ = world.log(episodes, stream(seed, "log", family, episodes))
    return world, Case.of(data, world.evaluated(), world.discount, world.horizon)


@cache
def critic_of(family: str, seed: int = 0) -> CrossFittedValues:
    critic = fit_critic(drawn(family, seed)[1], CriticSpec(Marginal(), thresholds=QUICK), seed).critic
    assert isinstance(critic, CrossFittedValues)
    return critic


def test_contributions_are_the_linear_part_of_a_normalized_estimate() -> None:
    """Their mean is the estimate, and dropping an episode changes it as they say, to first order."""
    case, critic = drawn("noisy-linear")[1], critic_of("noisy-linear")
    found = Corrected(critic)(case)
    assert found.value is not None
    assert found.contributions is not None
    weights = marginal_weights(case, critic)
    terms = weights.scaled * weights.normalizers[case.data.steps] * surprises(case, critic)
    direct = critic.initial(case).values.mean() + (case.discount**case.data.steps * terms).sum() / len(case.data)
    assert found.value == pytest.approx(direct, rel=1e-12)

    def without(k: int) -> float:
        """The same critic and ratios, without an episode."""
        kept = np.flatnonzero(np.arange(len(case.data)) != k)
        steps = case.data.positions(kept)
        part = case.take(kept)
        scaled, own = weights.scaled[steps], surprises(case, critic)[steps]
        last = np.zeros(len(kept))
        total = critic.initial(case).values[kept].mean()
        for t in range(part.data.longest):
            rows = np.flatnonzero(part.data.steps == t)
            alive = part.data.lengths > t
            last[alive] = scaled[rows]
            total += case.discount**t * (scaled[rows] * own[rows]).sum() / last.sum()
        return float(total)

    n = len(case.data)
    for k in range(5):
        expected = (found.value - found.contributions[k]) / (n - 1)
        assert without(k) - found.value == pytest.approx(expected, abs=0.1 * np.abs(found.contributions).std() / n)


def test_a_step_that_outweighs_all_others_is_left_to_the_critic() -> None:
    """One weight of a thousand times the mean is cut to sqrt(n), and nothing of it goes to the others."""
    case, critic = drawn("noisy-linear")[1], critic_of("noisy-linear")
    ratios = critic.ratios(case).copy()
    step = int(np.flatnonzero(case.data.steps == 2)[7])
    ratios[step] = 1e6
    wild = replace(critic, state_ratios=ratios, _told={})
    weights = marginal_weights(case, wild)
    each = weights.scaled * weights.normalizers[case.data.steps]
    assert each[step] == pytest.approx(np.sqrt(len(case.data)))
    assert weights.held[2] < 0.1
    np.testing.assert_allclose(np.delete(weights.held, 2), 1.0)
    found, usual = Corrected(wild)(case), Corrected(critic)(case)
    assert found.contributions is not None
    assert found.value == pytest.approx(found.contributions.mean(), rel=1e-12)
    # The critics' own error counts for more, where less is corrected.
    assert found.critic_error > usual.critic_error


def test_state_ratios_stay_within_what_was_seen() -> None:
    """Of a policy that few episodes follow: means of weights, none of them beyond the largest."""
    case = drawn("noisy-linear")[1]
    first = CallablePolicy(lambda x: np.eye(len(case.data.actions.labels))[np.zeros(len(x), dtype=int)])
    own = Case.of(case.data, first, case.discount, case.horizon)
    folds = np.arange(len(own.data)) % 5
    found = fit_state_ratio(own, folds, 0, replace(Thresholds().ratio, sweeps=0)).logged
    seen = own.weights.normalized.weights
    assert found.min() >= 0.0
    assert found.max() <= max(seen[np.isfinite(seen)].max(), 1.0)


@pytest.mark.slow
def test_some_episodes_of_a_long_log_teach_the_critics_and_all_correct_them() -> None:
    world, _ = drawn("noisy-linear")
    data, _ = world.log(2000, stream(5, "log"))
    case = Case.of(data, world.evaluated(), world.discount, world.horizon)
    few = Thresholds.of({"ratio": {"folds": 3, "sweeps": 0}, "fitted_q": {"most_steps": 200 * world.horizon}})
    critic = fit_critic(case, CriticSpec(Marginal(), thresholds=few)).critic
    assert isinstance(critic, CrossFittedValues)
    found = Corrected(critic)(case)
    assert found.contributions is not None
    assert len(found.contributions) == 2000
    generator = stream(1, "truth")
    returns = world.returns(world.initial(20_000, generator), generator)
    # 6 standard errors: a false alarm is next to impossible. Critics of 200 episodes alone are off by three times that.
    assert abs(found.contributions.mean() - returns.mean()) < 6 * returns.std() / np.sqrt(2000)


def test_without_ratios_it_weighs_by_products() -> None:
    """A critic that knows nothing of states makes it per-decision importance sampling, normalized."""
    case = drawn("noisy-linear")[1]
    nothing = FunctionCritic(lambda states, steps: np.zeros((len(states), len(case.decisions.labels))))
    found = repbm.estimators.PerDecisionImportanceSampling(normalized=True)(case)
    assert Corrected(nothing)(case).value == pytest.approx(found.value, rel=1e-9)


def test_state_ratios_are_one_where_the_policy_is_the_behavior() -> None:
    world, case = drawn("noisy-linear")
    same = CallablePolicy(world.behavior, actions=tuple(range(world.actions)))
    own = Case.of(case.data, same, world.discount, world.horizon)
    critic = fit_critic(own, CriticSpec(Marginal(), thresholds=QUICK)).critic
    assert isinstance(critic, CrossFittedValues)
    np.testing.assert_array_equal(critic.ratios(own), 1.0)
    found = Corrected(critic)(own)
    assert found.value == pytest.approx(own.returns.mean(), abs=3 * standard_error(found))


def test_returns_deviate_as_much_as_under_the_policy_itself() -> None:
    world, case = drawn("noisy-linear")
    generator = stream(0, "fresh")
    fresh = world.returns(world.initial(4000, generator), generator)
    assert return_deviation(case, critic_of("noisy-linear")) == pytest.approx(fresh.std(), rel=0.25)


@pytest.mark.parametrize("family", ["noisy-linear", "table", "one-step", "clinic", "no-propensities"])
def test_a_default_evaluation_has_an_interval_for_everything(family: str) -> None:
    world, case = drawn(family)
    data = replace(case.data, behavior=None) if not world.propensities else case.data
    result = repbm.evaluate(
        data,
        world.evaluated(),
        estimators=["corrected"],
        discount=world.discount,
        horizon=world.horizon,
        thresholds=QUICK,
        details=False,
    )
    answer = result.estimates.row(0, named=True)
    assert answer["headline"]
    assert answer["low"] < answer["value"] < answer["high"]
    assert answer["difference_low"] < answer["difference"] < answer["difference_high"]
    assert (result.individuals["low"] < result.individuals["value"]).all()
    generator = stream(1, "truth")
    returns = world.returns(world.initial(4000, generator), generator)
    error = returns.std() / np.sqrt(len(data))
    # 6 oracle errors: a false alarm is next to impossible, and models that drop final rewards were 10 to 45 off.
    assert abs(answer["value"] - returns.mean()) < 6 * error


def test_the_verdict_does_not_depend_on_the_estimators_and_is_the_doctors() -> None:
    world, case = drawn("one-step")
    policy = world.evaluated()
    verdicts = [
        repbm.evaluate(
            case.data, policy, estimators=asked, horizon=world.horizon, thresholds=QUICK, details=False
        ).examination.verdicts["policy"]
        for asked in (["corrected"], ["wis"], ["fqe", "am"])
    ]
    assert len({verdict.sentence for verdict in verdicts}) == 1
    doctor = examine(case.data, {"policy": policy}, thresholds=QUICK).verdicts["policy"]
    assert doctor.to_dict() == verdicts[0].to_dict()


def campaign(logged_to_old: float, episodes: int = 600) -> tuple[Trajectories, CallablePolicy]:
    """SMS is logged to people of 45 and older with this probability; the policy sends it to everyone."""
    generator = np.random.default_rng(0)
    age = generator.uniform(20, 70, episodes)
    chance = np.where(age >= 45, logged_to_old, 0.5)
    sent = (generator.random(episodes) < chance).astype(np.int32)
    rewards = generator.normal(np.where(age >= 45, -1.0, 1.0) * sent, 0.3)
    data = Trajectories(
        observations=age[:, None],
        actions=Categorical(sent, ("mail", "SMS")),
        rewards=rewards,
        offsets=np.arange(episodes + 1),
        terminated=np.ones(episodes, dtype=bool),
        final_observations=np.full((episodes, 1), np.nan),
        behavior=np.where(sent == 1, chance, 1 - chance),
        observation_names=("age",),
    )
    return data, CallablePolicy(lambda states: np.full(len(states), "SMS"), name="sms")


def test_a_region_without_a_single_logged_use_is_named() -> None:
    data, policy = campaign(0.0)
    verdict = verdict_of(Case.of(data, policy), thresholds=QUICK)
    assert verdict.word == "not supported"
    assert "SMS, age > 4" in verdict.sentence
    assert "0 of" in verdict.sentence
    assert not next(check for check in verdict.checks or () if check.name == "weights").holds


def test_an_action_that_is_logged_everywhere_is_supported() -> None:
    data, policy = campaign(0.3)
    assert verdict_of(Case.of(data, policy), thresholds=QUICK).word == "supported"


def test_too_little_is_known_of_an_action_that_is_rare_where_it_matters() -> None:
    data, policy = campaign(0.02)
    assert not verdict_of(Case.of(data, policy), thresholds=QUICK).supported


def test_survival_paid_in_the_last_row_stays_within_0_and_1() -> None:
    """The state after the last step is not logged, and the reward is 0 but for the last row."""
    generator = np.random.default_rng(1)
    rows = []
    for _ in range(300):
        lactate, steps = generator.uniform(1, 6), 0
        while True:
            treated = generator.random() < 0.5
            end = generator.random() < 0.4 or steps == 5
            alive = generator.random() < (0.97 if treated else 0.9) - 0.03 * (lactate > 4)
            rows.append((len(rows), lactate, int(treated), float(end and alive), end))
            lactate, steps = np.clip(lactate + generator.normal(-0.2, 0.4), 0.5, 8), steps + 1
            if end:
                break
    _, lactate, treated, rewards, end = map(np.array, zip(*rows, strict=True))
    offsets = np.concatenate([[0], np.flatnonzero(end) + 1])
    data = Trajectories(
        observations=lactate[:, None],
        actions=Categorical(treated.astype(np.int32), (0, 1)),
        rewards=rewards,
        offsets=offsets,
        terminated=np.ones(len(offsets) - 1, dtype=bool),
        final_observations=np.full((len(offsets) - 1, 1), np.nan),
        behavior=np.full(len(lactate), 0.5),
    )
    result = repbm.evaluate(data, lambda states: np.ones(len(states), dtype=int), thresholds=QUICK, details=False)
    answer = result.estimates.row(0, named=True)
    assert answer["estimator"] == "corrected"
    assert 0.85 < answer["value"] < 1
    assert 0 <= answer["low"] < answer["high"] <= 1
    assert result.individuals["value"].is_between(0, 1).all()


def test_disagreement_is_told_between_values_without_intervals() -> None:
    from repbm.doctor import Verdict
    from repbm.estimators import ESTIMATORS
    from repbm.evaluation._headline import Entry, disagreements

    rows = [{"value": value, "low": None, "high": None, "effective_episodes": 10.0} for value in (0.0, 0.8893, 0.001)]
    entries = [Entry(ESTIMATORS[name], row) for name, row in zip(("repbm", "am", "fqe"), rows, strict=True)]
    verdict = Verdict(10.0, 10, None, None, 0)
    assert disagreements(entries, 0, verdict, Thresholds().headline, 0.02) == ["am"]


def test_the_critics_own_error_widens_the_interval() -> None:
    case, critic = drawn("noisy-linear")[1], critic_of("noisy-linear")
    with_it, without = Corrected(critic)(case), Corrected(critic, critic_share=0.0)(case)
    assert critic.error(case) > 0
    from repbm.inference import Resampling

    wide, narrow = (interval(found, 0.9, Resampling(case.data, 0)) for found in (with_it, without))
    assert wide.std_error is not None
    assert narrow.std_error is not None
    assert wide.std_error == pytest.approx(
        np.hypot(narrow.std_error, Corrected(critic).critic_share * critic.error(case))
    )


@pytest.mark.slow
@pytest.mark.parametrize("family", ["confounded", "no-propensities", "partial"])
def test_a_hidden_cause_that_lasts_leaves_a_trace(family: str) -> None:
    """Only in the first of these worlds does the behavior see something that the log does not show."""
    world, case = drawn(family, seed=1)
    data = replace(case.data, behavior=None)
    verdict = verdict_of(Case.of(data, world.evaluated(), world.discount, world.horizon), thresholds=QUICK)
    check = next(check for check in verdict.checks or () if check.name == "hidden causes")
    assert check.holds == (family != "confounded"), check.sentence
    if family == "confounded":
        assert verdict.word == "not supported"
        assert "whoever decided knew something that the log does not show" in verdict.sentence


def test_what_does_not_tell_the_logs_own_returns_is_not_supported() -> None:
    case, critic = drawn("one-step")[1], critic_of("one-step")
    right = {check.name: check for check in judge(case, critic).checks or ()}
    assert right["back-test"].holds
    far = replace(critic, now=replace(critic.now, left_out=critic.now.left_out + case.returns.std()))
    wrong = judge(case, far)
    check = next(check for check in wrong.checks or () if check.name == "back-test")
    assert not check.holds
    assert wrong.word == "not supported"
    assert f"the log says {100 * case.returns.mean():.1f}%" in check.sentence
    # Right on average, and wrong in a third.
    order = np.argsort(case.returns)
    tilted = np.empty(len(order))
    tilted[order] = case.returns.mean() - np.linspace(-2, 2, len(order)) * case.returns.std()
    lopsided = judge(case, replace(critic, now=replace(critic.now, left_out=tilted)))
    check = next(check for check in lopsided.checks or () if check.name == "back-test")
    assert "third" in check.sentence
    assert not check.holds


def test_steps_that_nobody_reaches_weigh_nothing() -> None:
    """40 steps of an action of next to no probability: products of ratios leave what floating point can hold."""
    generator = np.random.default_rng(0)
    episodes, steps = 60, 40
    taken = (generator.random(episodes * steps) < 0.5).astype(np.int32)
    odds = np.where(taken == 1, 1e-300, 0.5)
    data = Trajectories(
        observations=generator.normal(size=(episodes * steps, 1)),
        actions=Categorical(taken, ("a", "b")),
        rewards=generator.normal(size=episodes * steps),
        offsets=np.arange(0, episodes * steps + 1, steps),
        terminated=np.zeros(episodes, dtype=bool),
        final_observations=generator.normal(size=(episodes, 1)),
        behavior=odds,
    )
    case = Case.of(data, CallablePolicy(lambda states: np.where(states[:, 0] > -3, "b", "a")))
    folds = np.arange(episodes) % 3
    found = fit_state_ratio(case, folds, 0, QUICK.ratio).logged
    assert np.isfinite(found).all()
    assert (found >= 0).all()


def test_what_regressions_round_is_no_contradiction() -> None:
    """Every step earns 1: the answer is 4, and the log says 4, to the last digits but some."""
    generator = np.random.default_rng(0)
    n, steps = 100, 4
    states = generator.normal(size=(n * steps, 2))
    log = {
        "episode": np.repeat(np.arange(n), steps),
        "obs": states,
        "action": (generator.random(n * steps) < 0.5).astype(int),
        "reward": np.ones(n * steps),
        "terminated": np.tile([False, False, False, True], n),
    }
    found = evaluate(log, lambda x: (x[:, 0] > 0).astype(int), estimators=["corrected"], details=False)
    assert found.estimates["value"][0] == pytest.approx(4.0)
    assert all(check.holds for check in next(iter(found.examination.verdicts.values())).checks or ()), found
