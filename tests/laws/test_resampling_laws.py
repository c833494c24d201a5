"""The bootstrap resamples episodes: pooled sums give exactly what the estimator gives on the resampled log."""

from __future__ import annotations

import numpy as np
import pytest

from repbm.estimators import Case, DoublyRobust, Estimator, ImportanceSampling, PerDecisionImportanceSampling
from repbm.inference import Resampling, interval
from repbm.policies import TabularPolicy
from tests.laws.test_estimator_laws import arbitrary_critic
from tests.laws.worlds import enumerated

KNOWN = enumerated(21, states=4, actions=3, horizon=3)
NORMALIZED: list[Estimator] = [
    estimator
    for softening in (0.0, 0.1)
    for estimator in (
        ImportanceSampling(True, softening),
        PerDecisionImportanceSampling(True, softening),
        DoublyRobust(arbitrary_critic(3, 3), True, softening),
    )
]


@pytest.fixture(scope="module")
def log():
    return KNOWN.world.collect(KNOWN.behavior, 40, np.random.default_rng(0))


@pytest.mark.parametrize("estimator", NORMALIZED, ids=lambda estimator: estimator.name)
def test_pooled_values_are_those_of_the_resampled_log(log, estimator: Estimator) -> None:
    asked = Case.of(log, TabularPolicy(KNOWN.policy), 0.9)
    estimate = estimator(asked)
    assert estimate.pool is not None
    generator = np.random.default_rng(1)
    counts = generator.multinomial(40, np.full(40, 1 / 40), size=5)
    found = estimate.pool(np.arange(40), 40).values(counts.astype(np.float64))
    for value, count in zip(found, counts, strict=True):
        resampled = Case.of(log.take(np.repeat(np.arange(40), count)), TabularPolicy(KNOWN.policy), 0.9)
        assert value == pytest.approx(estimator(resampled).value, abs=1e-12)


@pytest.mark.parametrize("estimator", NORMALIZED, ids=lambda estimator: estimator.name)
def test_groups_of_episodes_sum_to_the_whole(log, estimator: Estimator) -> None:
    estimate = estimator(Case.of(log, TabularPolicy(KNOWN.policy)))
    assert estimate.pool is not None
    groups = np.random.default_rng(2).integers(0, 7, size=len(log))
    assert estimate.pool(groups, 7).values(np.ones((1, 7)))[0] == pytest.approx(estimate.value, abs=1e-12)


def test_the_mean_of_contributions_is_the_value(log) -> None:
    for estimator in NORMALIZED:
        estimate = estimator(Case.of(log, TabularPolicy(KNOWN.policy)))
        assert estimate.contributions is not None
        assert estimate.contributions.mean() == pytest.approx(estimate.value)


def test_same_seed_same_interval_and_level_widens(log) -> None:
    estimate = PerDecisionImportanceSampling(True)(Case.of(log, TabularPolicy(KNOWN.policy)))
    narrow, again, wide = (interval(estimate, level, Resampling(log, 5)) for level in (0.8, 0.8, 0.99))
    assert narrow == again
    assert narrow.low is not None
    assert narrow.high is not None
    assert wide.low is not None
    assert wide.high is not None
    assert wide.low < narrow.low < narrow.high < wide.high


def test_groups_and_draws_do_not_depend_on_which_is_asked_for_first() -> None:
    many = KNOWN.world.collect(KNOWN.behavior, 1200, np.random.default_rng(0))
    one, other = Resampling(many, 5), Resampling(many, 5)
    groups, counts = one.groups, one.counts
    assert one.count < 1200
    np.testing.assert_array_equal(other.counts, counts)
    np.testing.assert_array_equal(other.groups, groups)


def test_students_interval_is_the_textbook_one() -> None:
    from repbm.estimators import Estimate

    sample = np.array([1.0, 2.0, 4.0, 7.0])
    log = KNOWN.world.collect(KNOWN.behavior, 4, np.random.default_rng(0))
    found = interval(Estimate.of_contributions(sample, 4.0), 0.95, Resampling(log, 0))
    # Tabulated quantile of t with 3 degrees of freedom, 0.975: 3.1824.
    error = sample.std(ddof=1) / 2
    assert found.std_error == pytest.approx(error)
    assert found.high == pytest.approx(3.5 + 3.1824 * error, abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize(
    "estimator",
    [PerDecisionImportanceSampling(), ImportanceSampling(True), PerDecisionImportanceSampling(True)],
    ids=lambda estimator: estimator.name,
)
def test_intervals_cover_where_effective_episodes_are_many(estimator: Estimator) -> None:
    """400 logs of 300 episodes: a 95 % interval covers at least 91 % of the time.

    An interval that truly covers 95 % fails this with probability below 1e-3 (binomial).
    """
    mild = 0.7 * KNOWN.behavior + 0.3 * KNOWN.policy
    truth = KNOWN.world.truth(mild)
    covered = 0
    for seed in range(400):
        log = KNOWN.world.collect(KNOWN.behavior, 300, np.random.default_rng(seed))
        estimate = estimator(Case.of(log, TabularPolicy(mild)))
        found = interval(estimate, 0.95, Resampling(log, seed))
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= truth <= found.high
    assert covered >= 0.91 * 400
