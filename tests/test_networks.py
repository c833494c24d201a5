"""Networks, distances between representations, and the loop that trains them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree
from scipy.stats import wasserstein_distance

from repbm.core import InputError
from repbm.models import (
    AM,
    AM_PI,
    AM_PI_IPM,
    BOTH_RISKS,
    IPM,
    ContinuousModel,
    LinearMMD,
    NetworkSettings,
    Objective,
    PaperNetwork,
    PaperSettings,
    RadialMMD,
    ResidualNetwork,
    Wasserstein,
    fit_network,
    fit_paper,
    load_model,
    refit_heads,
    roll_out,
    save_model,
)
from repbm.models.dynamics._functions import NetworkDynamics
from repbm.models.parts._part import cast, one_and_the_same
from repbm.models.parts._reward import NetworkReward
from repbm.models.parts._termination import Never
from repbm.models.parts._termination_network import TerminationNetwork
from repbm.models.training import _loop
from repbm.models.training._batches import PaperBatches, SampledBatches
from repbm.models.training._loop import TrainingOptions, train
from repbm.models.training._networks import Network, ScaledNetwork, Units
from repbm.models.training._rows import Draws, Members, Rows, distances_of
from repbm.models.training._termination_training import fit_termination_network
from repbm.models.transitions._table import TransitionTable
from repbm.policies import NetworkPolicy, Softened
from tests.systems import System, curved_step, linear_step, logged, reward

DISTANCES = [
    LinearMMD(),
    LinearMMD(scale_free=True, squared=False),
    RadialMMD(scale_free=True),
    RadialMMD(squared=False),
    RadialMMD(unbiased=True),
    Wasserstein(scale_free=True),
]
QUICK = NetworkSettings(hidden=16, batch=64, epochs=8, batches=25, learning_rate=0.01)
SHORT = PaperSettings(epochs=6, batches=20, batch=32)


def named(distance: IPM) -> str:
    return repr(distance)


def groups(seed: int, count: int = 24, shift: float = 0.0) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Representations of two groups, and of rows that belong to neither."""
    generator = np.random.default_rng(seed)
    which = np.repeat([0, 1, 2], count)
    z = generator.normal(size=(3 * count, 3)) + shift * (which == 1)[:, None]
    return jnp.asarray(z), jnp.asarray(1.0 * (which == 0)), jnp.asarray(1.0 * (which == 1))


@pytest.mark.parametrize("distance", DISTANCES, ids=named)
def test_shifted_groups_are_apart_and_equal_ones_are_not(distance: IPM) -> None:
    with jax.enable_x64(True):
        z, a, b = groups(1, shift=2.0)
        measure = jax.jit(distance.__call__)
        assert measure(z, a, b) > 0.1
        same = jnp.concatenate([z[:24], z[:24], z[48:]])
        if not distance.needs_pairs:
            assert abs(float(measure(same, a, b))) < 1e-7
        # Rows of neither group, and the size of weights, do not matter.
        assert np.isclose(measure(z.at[48:].set(99.0), 3 * a, 5 * b), measure(z, a, b))


@pytest.mark.parametrize("distance", DISTANCES, ids=named)
def test_an_empty_group_has_no_distance_and_no_gradient(distance: IPM) -> None:
    z, a, b = groups(2)
    measure = jax.jit(jax.value_and_grad(distance.__call__))
    for first, second in ((0 * a, b), (a, 0 * b), (0 * a, 0 * b)):
        value, slope = measure(z, first, second)
        assert float(value) == 0.0
        assert np.isfinite(slope).all()
    # A representation that has collapsed to a point.
    value, slope = measure(0 * z, a, b)
    assert abs(float(value)) < 1e-6
    assert np.isfinite(slope).all()


@pytest.mark.parametrize("distance", DISTANCES, ids=named)
def test_scale_free_distances_ignore_the_size_of_the_representation(distance: IPM) -> None:
    distance = replace(distance, scale_free=True)
    with jax.enable_x64(True):
        z, a, b = groups(3, shift=1.0)
        measure = jax.jit(jax.value_and_grad(distance.__call__))
        value, slope = measure(z, a, b)
        assert np.isclose(measure(1e-4 * z + 7.0, a, b)[0], value, rtol=1e-6)
        # Nor does a step along the gradient shrink it: the gradient is orthogonal to z.
        assert abs(float((slope * z).sum())) < 1e-6 * float(jnp.abs(slope * z).sum())


@pytest.mark.parametrize("distance", DISTANCES[:-1], ids=named)
def test_gradients_of_distances(distance: IPM) -> None:
    # The bandwidth is constant in the gradient: it has to be for finite differences too.
    if isinstance(distance, RadialMMD):
        distance = replace(distance, bandwidth=1.5)
    with jax.enable_x64(True):
        z, a, b = groups(4, count=6, shift=1.0)
        direction = jnp.asarray(np.random.default_rng(5).normal(size=z.shape))
        slope = float((jax.grad(distance.__call__)(z, a, b) * direction).sum())
        h = 1e-6
        finite = (distance(z + h * direction, a, b) - distance(z - h * direction, a, b)) / (2 * h)
        assert np.isclose(slope, finite, rtol=1e-6, atol=1e-9)


def test_the_unbiased_discrepancy_is_zero_on_average() -> None:
    """400 draws of two equal groups; fails by chance with probability 6e-5 (four standard errors)."""
    distance = RadialMMD(unbiased=True, bandwidth=1.0)
    z = jnp.asarray(np.random.default_rng(6).normal(size=(400, 20, 2)))
    a = jnp.asarray(np.repeat([1.0, 0.0], 10))
    values = np.asarray(jax.vmap(lambda rows: distance(rows, a, 1 - a))(z))
    assert abs(values.mean()) < 4 * values.std() / np.sqrt(len(values))
    assert np.asarray(jax.vmap(lambda rows: RadialMMD(bandwidth=1.0)(rows, a, 1 - a))(z)).min() > 0


def test_sinkhorn_is_the_wasserstein_distance_on_a_line() -> None:
    generator = np.random.default_rng(7)
    x, y = generator.normal(size=12), generator.normal(1.0, 2.0, size=9)
    one, two = generator.random(12), generator.random(9)
    exact = wasserstein_distance(x, y, one, two)
    with jax.enable_x64(True):
        z = jnp.asarray(np.concatenate([x, y])[:, None])
        a = jnp.asarray(np.concatenate([one, np.zeros(9)]))
        b = jnp.asarray(np.concatenate([np.zeros(12), two]))
        distance = Wasserstein(epsilon=0.002, iterations=3000)
        value, slope = (np.asarray(part) for part in jax.value_and_grad(distance.__call__)(z, a, b))
    assert np.isclose(value, exact, rtol=0.01)
    for k in range(12):
        moved = [wasserstein_distance(x + h * (np.arange(12) == k), y, one, two) for h in (-1e-6, 1e-6)]
        assert np.isclose(slope[k, 0], (moved[1] - moved[0]) / 2e-6, atol=0.01)


def test_an_unbiased_root_is_refused() -> None:
    with pytest.raises(InputError, match="no root"):
        RadialMMD(unbiased=True, squared=False)


def test_alpha_for_every_step() -> None:
    objective = Objective("x", 1.0, 1.0, (0.1, 0.2, 0.3), LinearMMD())
    assert objective.alphas(2).tolist() == [0.1, 0.2]
    with pytest.raises(InputError, match="alpha for 3 steps, and the log has 5"):
        objective.alphas(5)
    with pytest.raises(InputError, match="no distance"):
        Objective("x", 1.0, 1.0, 0.1)


def test_the_longest_episode_may_be_set_aside() -> None:
    """Then the steps that are trained on are padded to fewer than the log has."""
    members = Members.of([Objective("x", 1.0, 1.0, 0.5, LinearMMD())], 77, 64, 10)
    assert members.alpha.shape == (1, 1, 64)
    assert (members.alpha == 0.5).all()


def rows_of(system: System, dtype: type = np.float64, least: int = 1) -> Rows:
    sample = TransitionTable.of(system.data, system.support)
    outcomes = np.column_stack([sample.rewards, sample.next_states - sample.states])
    every = np.ones(len(sample), dtype=bool)
    return Rows.of(sample, every, sample.states, outcomes, sample.followed, least, dtype=dtype)


@pytest.mark.parametrize(
    ("precise", "distance"),
    [
        (False, LinearMMD()),
        (False, RadialMMD(unbiased=True, bandwidth=2.0)),
        (True, RadialMMD(bandwidth=1.0, scale_free=True)),
    ],
)
def test_gradients_of_the_whole_objective(precise: bool, distance: IPM) -> None:
    system = logged(8)
    objective = Objective("all", 1.0, 0.7, 0.3, distance, regularization=0.1)
    with jax.enable_x64(True):
        rows = rows_of(system)
        members = Members.of([objective], 8, len(rows.chosen), 60, np.float64)
        member = jax.tree.map(lambda leaf: jnp.asarray(leaf[0]), members)
        kind = ResidualNetwork if precise else PaperNetwork
        network = kind.random(jax.random.key(0), 2, 2, (5, 4), dtype=np.float64)
        loss = SampledBatches(32, (distance,)) if precise else PaperBatches(32, (distance,))
        drawn: Any = loss.drawn(member, rows, jax.random.key(1))
        flat, rebuild = ravel_pytree(network)
        flat = flat + 0.1 * jax.random.normal(jax.random.key(2), flat.shape)

        @jax.jit
        def value_and_slope(parameters: jax.Array) -> tuple[jax.Array, jax.Array]:
            return jax.value_and_grad(lambda flat: loss(rebuild(flat), member, rows, drawn))(parameters)

        slope = value_and_slope(flat)[1]
        h = 1e-6
        for place in np.random.default_rng(0).choice(len(flat), 12, replace=False):
            step = h * jnp.eye(len(flat))[place]
            finite = (value_and_slope(flat + step)[0] - value_and_slope(flat - step)[0]) / (2 * h)
            assert np.isclose(slope[place], finite, rtol=1e-5, atol=1e-8)


def test_rows_are_drawn_in_proportion_to_their_mass() -> None:
    """20,000 draws: each share within five standard deviations, false alarm below 1e-5."""
    mass = np.array([0.0, 1.0, 3.0, 0.0, 2.0, 2.0])
    draws = Draws.of(mass, np.array([0, 3, 6]), 64)
    found = np.bincount(np.asarray(draws(jax.random.key(0), 20_000)), minlength=64)
    assert np.allclose(found[:6] / 20_000, mass / 8, atol=5 * np.sqrt(0.25 / 20_000))
    assert found[[0, 3]].tolist() == [0, 0]
    assert found[6:].sum() == 0
    second = np.bincount(np.asarray(draws(jax.random.key(0), 20_000, jnp.asarray(1))), minlength=64)
    assert second[:4].sum() == 0
    assert np.isclose(second[4] / 20_000, 0.5, atol=0.02)


def parameters_of(model: ContinuousModel) -> list[np.ndarray]:
    return [np.asarray(leaf) for leaf in jax.tree.leaves(model.dynamics)]


def test_the_same_seed_gives_the_same_parameters_and_another_seed_others() -> None:
    system = logged(9)
    for fit in (
        lambda seed: fit_paper(system.data, system.support, [BOTH_RISKS], 8, seed, SHORT)[0],
        lambda seed: fit_network(system.data, system.support, BOTH_RISKS, 8, seed, QUICK),
    ):
        first, again, other = (parameters_of(fit(seed)) for seed in (0, 0, 1))
        assert all(np.array_equal(x, y) for x, y in zip(first, again, strict=True))
        assert not all(np.array_equal(x, y) for x, y in zip(first, other, strict=True))


def test_units_of_standardized_rewards_change_only_the_rewards() -> None:
    """r -> 4 r + 3 leaves the dynamics, up to the rounding of float32 training, and takes values along."""
    system = logged(9)
    other = replace(system.data, rewards=4 * system.data.rewards + 3)
    preset = replace(SHORT, standard_rewards=True)
    one, two = (fit_paper(data, system.support, [BOTH_RISKS], 8, 0, preset)[0] for data in (system.data, other))
    for x, y in zip(parameters_of(one)[4:], parameters_of(two)[4:], strict=True):
        np.testing.assert_allclose(x, y, rtol=2e-3, atol=2e-4)
    policy = NetworkPolicy([(np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([0.0, -0.2]))])
    states, left = system.data.initial_observations, np.full(len(system.data), 8)
    value, scaled = (roll_out(model, policy, states, left, discount=0.9).values for model in (one, two))
    annuity = (1 - 0.9**8) / (1 - 0.9)
    np.testing.assert_allclose(scaled, 4 * value + 3 * annuity, rtol=1e-3, atol=1e-2)


def test_a_network_asked_once_for_states_and_rewards_says_what_two_alike_say() -> None:
    """Also in another precision; and a policy that leaves nothing to chance goes as one that draws with certainty."""
    system = logged(9)
    model = fit_paper(system.data, system.support, [BOTH_RISKS], 8, 0, SHORT)[0]
    for each in (cast(model, np.float64), model):
        assert isinstance(each.dynamics, NetworkDynamics)
        assert isinstance(each.reward, NetworkReward)
        assert one_and_the_same(each.dynamics.network, each.reward.network)
    twice = cast(replace(model, reward=jax.tree.map(np.array, model.reward)), np.float64)
    assert not one_and_the_same(model.dynamics, cast(model, np.float64).dynamics)
    assert isinstance(twice.dynamics, NetworkDynamics)
    assert isinstance(twice.reward, NetworkReward)
    assert not one_and_the_same(twice.dynamics.network, twice.reward.network)
    policy = NetworkPolicy([(np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([0.0, -0.2]))])
    states, left = system.data.initial_observations, np.full(len(system.data), 8)
    value = roll_out(model, policy, states, left).values
    for other in (roll_out(twice, policy, states, left), roll_out(model, Softened(policy, 0.0), states, left)):
        np.testing.assert_allclose(other.values, value, rtol=1e-12, atol=1e-12)


def test_objectives_trained_together_come_out_as_if_trained_alone() -> None:
    system = logged(10)
    together = fit_paper(system.data, system.support, [AM, BOTH_RISKS, AM_PI], 8, 3, SHORT)
    alone = fit_paper(system.data, system.support, [BOTH_RISKS], 8, 3, SHORT)
    for x, y, z in zip(*(parameters_of(model) for model in (*alone, *together[1::-1])), strict=True):
        # float32, 120 steps: sums may be taken in another order.
        assert np.allclose(x, y, rtol=2e-3, atol=2e-4)
        assert x.size < 10 or not np.allclose(x, z, rtol=2e-3, atol=2e-4)


def test_balancing_brings_the_groups_together() -> None:
    system = logged(11, agreement=0.6)
    sample = TransitionTable.of(system.data, system.support)
    first = sample.steps == 0
    spread = []
    for alpha in (1e-9, 100.0):
        model = fit_paper(system.data, system.support, [BOTH_RISKS], 8, 0, replace(SHORT, alpha=alpha))[0]
        assert isinstance(model.dynamics, NetworkDynamics)
        z = jnp.asarray(model.dynamics.network.representation(jnp.asarray(sample.states[first], np.float32)))
        groups = (jnp.asarray(part[first], np.float32) for part in (sample.factual, sample.counterfactual))
        spread.append(float(LinearMMD()(z, *groups)))
    assert spread[1] < 0.2 * spread[0]


def test_a_fit_that_diverges_says_so() -> None:
    system = logged(12)
    wild = replace(SHORT, learning_rate=1e6)
    with pytest.raises(InputError, match="the fit diverged"):
        fit_paper(system.data, system.support, [AM], 8, 0, wild)
    with pytest.raises(InputError, match="the fit diverged"):
        fit_network(system.data, system.support, AM, 8, 0, replace(QUICK, learning_rate=1e6))


def test_only_the_diverged_member_is_flagged() -> None:
    system = logged(12)
    rows = rows_of(system, np.float32)
    network = PaperNetwork.random(jax.random.key(0), 2, 2)
    both = jax.tree.map(lambda leaf: jnp.stack([leaf, leaf.at[...].set(jnp.nan)]), network)
    members = Members.of([AM, AM], 8, len(rows.chosen), 60)
    keys = jnp.repeat(jax.random.key(1)[None], 2)
    result = train(PaperBatches(16), both, members, rows, keys, TrainingOptions(2, 5))
    assert result.diverged.tolist() == [False, True]


def test_progress_is_told() -> None:
    system = logged(13)
    told: list[tuple[float, int, int]] = []
    fit_paper(system.data, system.support, [AM], 8, 0, SHORT, lambda *news: told.append(news))
    assert [(done, total) for _, done, total in told] == [(k + 1, 6) for k in range(6)]
    assert told[-1][0] < told[0][0]


def test_a_new_log_of_similar_size_compiles_nothing_new() -> None:
    compiled: Any = _loop._epoch
    first, second = logged(14, 60), logged(15, 58)
    fit_paper(first.data, first.support, [AM], 8, 0, SHORT)
    before = compiled._cache_size()
    fit_paper(second.data, second.support, [AM], 8, 0, SHORT)
    assert compiled._cache_size() == before


def test_networks_survive_the_disk(tmp_path: Path) -> None:
    system = logged(23)
    ended = replace(system.data, terminated=system.data.final_observations[:, 0] > 0.5)
    model = fit_paper(ended, system.support, [AM], 8, 0, SHORT)[0]
    save_model(model, tmp_path / "model.npz")
    again = load_model(tmp_path / "model.npz")
    assert isinstance(again, ContinuousModel)
    states = jnp.asarray(system.data.initial_observations, np.float32)
    assert np.array_equal(again.dynamics(states), model.dynamics(states))
    assert np.array_equal(again.termination(states), model.termination(states))


def test_a_policy_that_nobody_follows() -> None:
    system = logged(16, agreement=0.0)
    with pytest.raises(InputError, match="am-pi is not defined"):
        fit_paper(system.data, system.support, [AM_PI], 8, 0, SHORT)
    with pytest.raises(InputError, match="am-pi is not defined"):
        fit_network(system.data, system.support, AM_PI, 8, 0, QUICK)
    balanced = replace(BOTH_RISKS, alpha=1.0, ipm=LinearMMD(scale_free=True))
    model = fit_network(system.data, system.support, balanced, 8, 0, QUICK)
    assert all(np.isfinite(leaf).all() for leaf in parameters_of(model))


@pytest.mark.slow
def test_very_small_logs() -> None:
    single, pair = logged(17, episodes=1, length=3), logged(17, episodes=2, length=1)
    for model in (
        *fit_paper(pair.data, pair.support, [BOTH_RISKS], 8, 0, SHORT),
        fit_network(single.data, single.support, AM, 8, 0, QUICK),
    ):
        assert all(np.isfinite(leaf).all() for leaf in parameters_of(model))


@pytest.mark.slow
def test_different_distances_train_side_by_side() -> None:
    system = logged(18)
    objectives = [AM_PI_IPM, replace(BOTH_RISKS, alpha=0.1, ipm=RadialMMD(scale_free=True)), AM]
    assert len(distances_of(objectives)) == 2
    models = fit_paper(system.data, system.support, objectives, 8, 0, SHORT)
    assert len(models) == 3


def test_marginal_weights_count_the_kept_episodes() -> None:
    system = logged(21)
    sample = TransitionTable.of(system.data, system.support)
    kept = sample.episodes < 30
    outcomes = np.column_stack([sample.rewards, sample.next_states - sample.states])
    rows = Rows.of(sample, kept, sample.states, outcomes, sample.followed, dtype=np.float64)
    marginal = np.asarray(rows.marginal)[: int(rows.count)]
    sums = np.bincount(np.repeat(np.arange(8), 30), marginal)
    # Every step that an episode still reaches weighs as much as all episodes together.
    assert np.allclose(sums[sums > 0], 30)
    assert len(rows.actions) == 1024


def test_the_termination_network_finds_the_edge() -> None:
    system = logged(22, episodes=300, length=1)
    ended = system.data.final_observations[:, 0] > 0.5
    sample = TransitionTable.of(replace(system.data, terminated=ended), None)
    every = np.ones(len(sample), dtype=bool)
    termination = fit_termination_network(sample, every, jax.random.key(0), TrainingOptions(10, 50))
    found = np.asarray(termination(jnp.asarray(sample.next_states, np.float32))) > 0.5
    # States before a step count as going on, also beyond the edge: near it the network cannot be sure.
    clear = np.abs(sample.next_states[:, 0] - 0.5) > 0.3
    assert (found == ended)[clear].mean() > 0.85


@pytest.mark.slow
def test_an_end_at_the_horizon_is_none_as_published() -> None:
    data = logged(23, episodes=40, length=3).data
    data = replace(data, terminated=np.ones(len(data), dtype=bool))
    once = PaperSettings(epochs=1, batches=1, batch=8)
    at_horizon, earlier = (fit_paper(data, None, [AM], horizon, settings=once)[0] for horizon in (3, 4))
    assert isinstance(at_horizon.termination, Never)
    assert isinstance(earlier.termination, TerminationNetwork)


def test_refitted_heads_are_the_least_squares_solution() -> None:
    system = logged(19, noise=0.3, step=curved_step)
    sample = TransitionTable.of(system.data, system.support)
    core = ResidualNetwork.random(jax.random.key(0), 2, 2, (6,))
    network = ScaledNetwork(Units.multiplied((1.0, 1.0)), core)
    outcomes = np.column_stack([sample.rewards, sample.next_states - sample.states])
    weights = np.random.default_rng(0).random((len(sample), 2)) + 0.1
    found = refit_heads(network, sample.states, sample.actions, outcomes, weights)
    with jax.enable_x64(True):
        x = np.asarray(core.features(jnp.asarray(sample.states)))
    for action in (0, 1):
        own = sample.actions == action
        for output in range(3):
            root = np.sqrt(weights[own, min(output, 1)])
            exact = np.linalg.lstsq(x[own] * root[:, None], outcomes[own, output] * root, rcond=None)[0]
            assert np.allclose(np.asarray(found.core.heads)[action, :, output], exact, rtol=1e-5, atol=1e-6)


def test_a_linear_network_is_exact_in_a_linear_world() -> None:
    """Both kinds of network can hold the true model, and its risk is then zero."""
    system = logged(20)
    sample = TransitionTable.of(system.data, system.support)
    heads = np.zeros((2, 3 + 4, 3))
    for action in (0, 1):
        at = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
        actions = np.full(3, action)
        values = np.column_stack([reward(at, actions), linear_step(at, actions) - at])
        heads[action, 0] = values[0]
        heads[action, 1:3] = values[1:] - values[0]
    with jax.enable_x64(True):
        start = ResidualNetwork.random(jax.random.key(0), 2, 2, (4,), dtype=np.float64)
        network: Network = ResidualNetwork(start.layers, jnp.asarray(heads))
        rows = rows_of(system)
        members = Members.of([replace(BOTH_RISKS, regularization=0.0)], 8, len(rows.chosen), 60, np.float64)
        member = jax.tree.map(lambda leaf: jnp.asarray(leaf[0]), members)
        for loss in (PaperBatches(32), SampledBatches(32)):
            drawn: Any = loss.drawn(member, rows, jax.random.key(3))
            assert float(jax.jit(loss)(network, member, rows, drawn)) < 1e-25
    assert len(sample) == 480
