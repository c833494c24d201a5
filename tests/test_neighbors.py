"""A behavior learned from a log by nearest neighbors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from repbm.core import InputError, stream
from repbm.data import Categorical, Trajectories
from repbm.domains import Map2D, collect, map_behaviors
from repbm.policies import NeighborPolicy


def line(states: list[float], actions: list[str]) -> Trajectories:
    """One episode with these states and actions."""
    return Trajectories(
        observations=np.array(states, dtype=float)[:, None],
        actions=Categorical.of(actions),
        rewards=np.zeros(len(states)),
        offsets=np.array([0, len(states)]),
        terminated=np.array([True]),
        final_observations=np.full((1, 1), np.nan),
        observation_names=("x",),
    )


@pytest.fixture(scope="module")
def log() -> Trajectories:
    return collect(Map2D(), map_behaviors()["near"], 40, stream(0, "neighbors"))


def test_by_hand() -> None:
    policy = NeighborPolicy(line([0, 1, 2, 10, 11], ["a", "a", "b", "b", "c"]), neighbors=2, prior=1.0)
    shares = np.array([2, 2, 1]) / 5
    expected = (np.array([[2, 0, 0], [0, 1, 1]]) + shares) / 3
    found = policy.probabilities(np.array([[0.2], [10.6]]), ("a", "b", "c"))
    assert found == pytest.approx(expected)
    # In other columns, where an action is not known it has no chance.
    assert policy.choices(np.array([[0.2]]), ("a",)).of(Categorical.of(["z"])) == 0


@pytest.mark.parametrize("prior", [0.0, 1.0, 7.5])
def test_rows_sum_to_one_and_all_neighbors_give_the_shares(log: Trajectories, prior: float) -> None:
    labels = log.actions.labels
    some = NeighborPolicy(log, 15, prior).probabilities(log.observations, labels)
    assert some.sum(axis=1) == pytest.approx(1)
    assert (some > 0).all() == (prior > 0)
    everything = NeighborPolicy(log, len(log.rewards), prior).probabilities(log.observations, labels)
    shares = np.bincount(log.actions.codes, minlength=len(labels)) / len(log.rewards)
    assert everything == pytest.approx(np.tile(shares, (len(everything), 1)))


def test_one_neighbor_repeats_the_log() -> None:
    log = line([3.0, 1.0, 4.0, 1.5], ["a", "b", "a", "c"])
    assert NeighborPolicy(log, 1, prior=0.0).decisions(log).logged(slice(None)).tolist() == [1, 1, 1, 1]


def test_units_and_blocks_change_nothing(log: Trajectories, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = log.observations[::7] + 0.01
    expected = NeighborPolicy(log, 15).probabilities(asked, log.actions.labels)
    scale, shift = np.array([1000.0, 0.25]), np.array([-5.0, 3.0])
    stretched = replace(log, observations=log.observations * scale + shift)
    assert NeighborPolicy(stretched, 15).probabilities(asked * scale + shift, log.actions.labels) == pytest.approx(
        expected
    )
    monkeypatch.setattr("repbm.policies._neighbors._BLOCK_CELLS", 40)
    assert (NeighborPolicy(log, 15).probabilities(asked, log.actions.labels) == expected).all()
    assert NeighborPolicy(log, 15).probabilities(asked[:0], log.actions.labels).shape == (0, 5)


def test_more_episodes_and_neighbors_come_nearer(log: Trajectories) -> None:
    """The true probabilities are known; the seed is fixed, and the margins are factors of 2 and more."""
    behavior = map_behaviors()["near"]
    assert log.behavior is not None
    many = collect(Map2D(), behavior, 1000, stream(1, "neighbors"))

    def error(data: Trajectories, neighbors: int) -> float:
        learned = NeighborPolicy(data, neighbors).decisions(log).logged(slice(None))
        return float(np.abs(learned - log.behavior).mean())

    few = collect(Map2D(), behavior, 10, stream(2, "neighbors"))
    assert error(many, 200) < 0.03 < 0.06 < min(error(many, 5), error(few, 150))


def test_what_is_refused(log: Trajectories) -> None:
    for neighbors in (0, len(log.rewards) + 1):
        with pytest.raises(InputError, match=f"{neighbors} neighbors in a log of 600 steps"):
            NeighborPolicy(log, neighbors)
    for prior in (-1.0, np.nan):
        with pytest.raises(InputError, match="a prior of"):
            NeighborPolicy(log, 5, prior)
    with pytest.raises(InputError, match="2 observation columns is asked about 3"):
        NeighborPolicy(log, 5).probabilities(np.zeros((1, 3)), log.actions.labels)
