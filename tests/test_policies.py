"""Policies: what they say for a batch, on a log, and inside compiled code."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from repbm.core import InputError
from repbm.data import Categorical
from repbm.models import compiled
from repbm.policies import (
    ActionColumn,
    CallablePolicy,
    Greedy,
    LoggedProbabilityColumn,
    NetworkPolicy,
    ObservationPolicy,
    ProbabilityColumns,
    Softened,
    TabularPolicy,
    epsilon_greedy,
)
from tests.test_data import ragged

OBSERVATIONS = np.random.default_rng(0).normal(size=(6, 2))
EVERYWHERE = slice(None)


def network(**kwargs) -> NetworkPolicy:
    generator = np.random.default_rng(1)
    layers = [
        (generator.normal(size=(2, 5)), generator.normal(size=5)),
        (generator.normal(size=(5, 3)), generator.normal(size=3)),
    ]
    return NetworkPolicy(layers, **kwargs)


def test_callable_giving_actions() -> None:
    policy = CallablePolicy(lambda x: np.where(x[:, 0] > 8, "go", "stay"))
    data = ragged()
    decisions = policy.decisions(data)
    expected = [
        float(label == ("go" if x > 8 else "stay"))
        for label, x in zip(data.actions.decoded(), data.observations[:, 0], strict=True)
    ]
    assert decisions.logged(EVERYWHERE).tolist() == expected
    assert decisions.matrix is not None
    np.testing.assert_array_equal(decisions.matrix().sum(axis=1), 1)


def test_callable_giving_probabilities_in_sorted_order_of_text_labels() -> None:
    data = ragged()
    logged = CallablePolicy(lambda x: np.tile([0.3, 0.7], (len(x), 1))).decisions(data).logged(EVERYWHERE)
    expected = [0.3 if label == "go" else 0.7 for label in data.actions.decoded()]
    np.testing.assert_allclose(logged, expected)


def test_declared_actions_order_the_columns() -> None:
    data = ragged()
    policy = CallablePolicy(lambda x: np.tile([0.7, 0.1, 0.2], (len(x), 1)), actions=["stay", "wait", "go"])
    decisions = policy.decisions(data)
    assert decisions.labels == ("go", "stay", "wait")
    expected = [0.2 if label == "go" else 0.7 for label in data.actions.decoded()]
    np.testing.assert_allclose(decisions.logged(EVERYWHERE), expected)


def test_whole_number_labels_are_column_numbers() -> None:
    choices = CallablePolicy(lambda x: np.tile([0.1, 0.2, 0.3, 0.4], (len(x), 1))).choices(OBSERVATIONS, (0, 3))
    assert choices.labels == (0, 1, 2, 3)
    actions = Categorical(np.array([1, 0]), (0, 3))
    shorter = CallablePolicy(lambda x: np.tile([0.1, 0.2, 0.3, 0.4], (len(x), 1))).choices(OBSERVATIONS[:2], (0, 3))
    np.testing.assert_allclose(shorter.of(actions), [0.4, 0.1])


def test_an_action_the_log_never_shows_gets_no_support_but_is_known() -> None:
    data = ragged()
    decisions = CallablePolicy(lambda x: np.where(x[:, 0] > 8, "leap", "stay")).decisions(data)
    assert decisions.labels == ("go", "stay", "leap")
    assert decisions.logged(EVERYWHERE)[5:].tolist() == [0.0] * 5


def test_softened_and_epsilon_greedy() -> None:
    table = np.array([[0.9, 0.1], [0.4, 0.6]])
    states = np.array([[0.0], [1.0]])
    soft = Softened(TabularPolicy(table), 0.2).probabilities(states, (0, 1))
    np.testing.assert_allclose(soft, 0.8 * table + 0.1)
    np.testing.assert_allclose(
        epsilon_greedy(TabularPolicy(table), 0.2).probabilities(states, (0, 1)), [[0.9, 0.1], [0.1, 0.9]]
    )
    np.testing.assert_allclose(Greedy(TabularPolicy(table)).probabilities(states, (0, 1)), np.eye(2))


def test_softened_decisions_are_those_of_the_softened_policy() -> None:
    data = ragged()
    policy = CallablePolicy(lambda x: np.where(x[:, 0] > 8, "go", "stay"))
    one, other = policy.decisions(data).softened(0.3), Softened(policy, 0.3).decisions(data)
    np.testing.assert_allclose(one.logged(EVERYWHERE), other.logged(EVERYWHERE))
    assert one.matrix is not None
    assert other.matrix is not None
    np.testing.assert_allclose(one.matrix(), other.matrix())


def test_columns_of_the_log() -> None:
    data = ragged()
    chosen = np.array(["go"] * 5 + ["stay"] * 5)
    columns = {
        "pi": Categorical.of(chosen),
        "p": np.full(10, 0.25),
        "p_go": np.full(10, 0.4),
        "p_stay": np.full(10, 0.6),
    }
    data = type(data)(**{**data.__dict__, "columns": columns})
    is_go = np.array([label == "go" for label in data.actions.decoded()])
    follows = ActionColumn("pi").decisions(data).logged(EVERYWHERE)
    np.testing.assert_array_equal(follows, is_go == (chosen == "go"))
    np.testing.assert_array_equal(LoggedProbabilityColumn("p").decisions(data).logged(EVERYWHERE), 0.25)
    both = ProbabilityColumns(["p_go", "p_stay"]).decisions(data)
    np.testing.assert_allclose(both.logged(EVERYWHERE), np.where(is_go, 0.4, 0.6))
    with pytest.raises(InputError, match="3 probability columns for 2 actions"):
        ProbabilityColumns(["p_go", "p_stay", "p"]).decisions(data)


@pytest.mark.parametrize("activation", ["tanh", "relu"])
@pytest.mark.parametrize("head", ["greedy", "softmax"])
def test_network_file_and_traced_form_agree_with_numpy(tmp_path, activation: str, head: str) -> None:
    policy = network(activation=activation, head=head, actions=["a", "b", "c"])
    policy.save(tmp_path / "policy.npz")
    loaded = NetworkPolicy.load(tmp_path / "policy.npz")
    labels = ("c", "a", "b")
    expected = policy.probabilities(OBSERVATIONS, labels)
    np.testing.assert_allclose(loaded.probabilities(OBSERVATIONS, labels), expected)
    traced = jax.jit(compiled(loaded, labels))(jnp.asarray(OBSERVATIONS))
    np.testing.assert_allclose(np.asarray(traced), expected, atol=1e-5)


def test_minimal_weights_file(tmp_path) -> None:
    np.savez(tmp_path / "q.npz", w0=np.eye(2), b0=np.zeros(2))
    policy = NetworkPolicy.load(tmp_path / "q.npz")
    assert policy.actions == (0, 1)
    np.testing.assert_array_equal(policy.probabilities(np.array([[2.0, 1.0]]), (0, 1)), [[1, 0]])


@pytest.mark.parametrize(
    ("arrays", "says"),
    [
        ({"w0": np.eye(2)}, "b0 is missing"),
        ({}, "w0 is missing"),
        ({"w0": np.eye(2), "b0": np.zeros(3)}, "layer 0"),
        ({"w0": np.eye(2), "b0": np.zeros(2), "activation": "sine"}, "sine"),
        ({"w0": np.eye(2), "b0": np.full(2, np.nan)}, "finite"),
    ],
)
def test_faulty_weights_files_are_refused(tmp_path, arrays: dict, says: str) -> None:
    np.savez(tmp_path / "q.npz", **arrays)
    with pytest.raises(InputError, match=says):
        NetworkPolicy.load(tmp_path / "q.npz")


def test_a_pickle_in_a_weights_file_is_never_loaded(tmp_path) -> None:
    np.savez(tmp_path / "q.npz", w0=np.array([object()], dtype=object), b0=np.zeros(1), allow_pickle=True)
    with pytest.raises(InputError, match="not a policy weights file"):
        NetworkPolicy.load(tmp_path / "q.npz")


def test_a_foreign_callable_inside_a_compiled_scan_is_called_once_a_step() -> None:
    calls: list[int] = []

    def act(observations: np.ndarray) -> np.ndarray:
        calls.append(len(observations))
        return (observations[:, 0] > 0).astype(int)

    probabilities = compiled(CallablePolicy(act), (0, 1))

    @jax.jit
    def rollout(start: jax.Array) -> jax.Array:
        def step(state: jax.Array, _: None) -> tuple[jax.Array, jax.Array]:
            action = probabilities(state).argmax(axis=1)
            return state - action[:, None] * 0.5, action

        return jax.lax.scan(step, start, None, length=4)[1]

    actions = np.asarray(rollout(jnp.asarray(OBSERVATIONS)))
    assert calls == [6] * 4
    state = OBSERVATIONS.copy()
    for row in actions:
        expected = (state[:, 0] > 0).astype(int)
        np.testing.assert_array_equal(row, expected)
        state = state - expected[:, None] * 0.5


def test_a_foreign_callable_under_vmap_is_still_one_call() -> None:
    calls: list[int] = []

    def act(observations: np.ndarray) -> np.ndarray:
        calls.append(len(observations))
        return np.tile([0.25, 0.75], (len(observations), 1))

    probabilities = compiled(CallablePolicy(act), (0, 1))
    stacked = jnp.asarray(np.stack([OBSERVATIONS, OBSERVATIONS + 1, OBSERVATIONS - 1]))
    result = jax.jit(jax.vmap(probabilities))(stacked)
    assert calls == [18]
    np.testing.assert_allclose(np.asarray(result), np.tile([0.25, 0.75], (3, 6, 1)))


@pytest.mark.parametrize("wrap", [lambda p: Softened(p, 0.2), Greedy, lambda p: epsilon_greedy(p, 0.1)])
@pytest.mark.parametrize(
    "inner", [network(head="softmax"), CallablePolicy(lambda x: (x[:, 0] > 0).astype(int), actions=[0, 1, 2])]
)
def test_wrapped_policies_are_the_same_inside_compiled_code(wrap, inner: ObservationPolicy) -> None:
    policy = wrap(inner)
    labels = (0, 1, 2)
    traced = jax.jit(compiled(policy, labels))(jnp.asarray(OBSERVATIONS))
    np.testing.assert_allclose(np.asarray(traced), policy.probabilities(OBSERVATIONS, labels), atol=1e-5)
