"""Trajectories, segments, support."""

from __future__ import annotations

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from repbm.core import InputError, work_alone
from repbm.data import Categorical, Trajectories, cumulative_products, each_once, indices, support, totals
from repbm.data._segments import blocks

LENGTHS = [3, 1, 4, 2]


def ragged(lengths: list[int] = LENGTHS, seed: int = 0) -> Trajectories:
    generator = np.random.default_rng(seed)
    steps, n = sum(lengths), len(lengths)
    return Trajectories(
        observations=np.arange(2.0 * steps).reshape(steps, 2),
        actions=Categorical.of(generator.choice(["stay", "go"], steps)),
        rewards=generator.normal(size=steps),
        offsets=np.concatenate([[0], np.cumsum(lengths)]),
        terminated=np.arange(n) % 2 == 0,
        final_observations=-np.ones((n, 2)),
        behavior=generator.uniform(0.2, 1, steps),
        columns={"extra": np.arange(float(steps))},
    )


def test_segments_against_plain_loops() -> None:
    """Enough entries for many blocks, some segments longer than a block."""
    generator = np.random.default_rng(0)
    lengths = np.concatenate([generator.integers(1, 400, 900), [70_000, 1, 1]])
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    factors = generator.uniform(0.5, 1.5, offsets[-1]) * (generator.random(offsets[-1]) > 1e-3)
    products = cumulative_products(lambda at: factors[at], offsets)
    sums, place = totals(lambda at: factors[at], offsets), indices(offsets)
    for k, (start, stop) in enumerate(itertools.pairwise(offsets)):
        np.testing.assert_allclose(products[start:stop], np.cumprod(factors[start:stop]), rtol=1e-9, atol=1e-300)
        assert sums[k] == pytest.approx(factors[start:stop].sum())
        np.testing.assert_array_equal(place[start:stop], np.arange(stop - start))


def test_blocks_hold_whole_segments_and_everything_once() -> None:
    offsets = np.concatenate([[0], np.cumsum([5, 1, 20, 3, 3, 3])])
    found = list(blocks(offsets, 6))
    assert [block.entries.start for block in found] == [0, *(block.entries.stop for block in found[:-1])]
    assert found[-1].entries.stop == offsets[-1]
    for block in found:
        np.testing.assert_array_equal(
            block.offsets + block.entries.start, offsets[block.segments.start : block.segments.stop + 1]
        )


@pytest.mark.parametrize("values", [[3], [1, 1, 1], [0, 2, 2, 5, 7, 7]])
def test_each_once(values: list[int]) -> None:
    assert each_once(np.array(values)).tolist() == sorted(set(values))


def test_running_products_keep_their_digits_in_long_logs() -> None:
    """The last of a million episodes is as exact as the first."""
    offsets = np.arange(0, 2_000_001, 2)
    products = cumulative_products(lambda at: np.full(at.stop - at.start, 1.1), offsets)
    np.testing.assert_allclose(products[-2:], [1.1, 1.21], rtol=1e-13)


def test_threads_that_work_alone_find_the_same() -> None:
    offsets = np.arange(0, 400_001, 8)
    values = np.random.default_rng(0).normal(size=400_000)
    shared = totals(lambda at: values[at], offsets)
    with ThreadPoolExecutor(1, initializer=work_alone) as worker:
        seen: set[int] = set()

        def terms(at: slice) -> np.ndarray:
            seen.add(threading.get_ident())
            return values[at]

        np.testing.assert_array_equal(worker.submit(totals, terms, offsets).result(), shared)
    assert len(seen) == 1


def test_take_keeps_episodes_whole() -> None:
    data = ragged()
    taken = data.take(np.array([2, 0, 2]))
    assert taken.lengths.tolist() == [4, 3, 4]
    np.testing.assert_array_equal(taken.observations[:4], data.observations[4:8])
    np.testing.assert_array_equal(taken.observations[4:7], data.observations[:3])
    np.testing.assert_array_equal(taken.columns["extra"][:4], [4, 5, 6, 7])
    assert taken.labels_of().tolist() == [2, 0, 2]
    assert taken.terminated.tolist() == [True, True, True]
    with pytest.raises(InputError, match="no episode"):
        data.take(np.zeros(4, dtype=bool))


def test_until_cuts_and_knows_what_follows() -> None:
    data = ragged().until(2)
    assert data.lengths.tolist() == [2, 1, 2, 2]
    assert data.terminated.tolist() == [False, False, False, False]
    np.testing.assert_array_equal(data.final_observations[0], [4.0, 5.0])
    np.testing.assert_array_equal(data.final_observations[1], [-1, -1])
    assert ragged().until(9).longest == 4
    with pytest.raises(InputError, match="horizon of 0"):
        ragged().until(0)


def test_split_is_by_episode_and_covers_all() -> None:
    data = ragged([2] * 10)
    first, second = data.split(0.9, np.random.default_rng(0))
    assert (len(first), len(second)) == (9, 1)
    assert sorted([*first.labels_of(), *second.labels_of()]) == list(range(10))
    with pytest.raises(InputError, match="one episode"):
        ragged([3]).split(0.5, np.random.default_rng(0))


def test_next_observations_end_in_the_final_one() -> None:
    data = ragged()
    following = data.next_observations()
    np.testing.assert_array_equal(following[0], data.observations[1])
    np.testing.assert_array_equal(following[data.lasts], data.final_observations)


def test_returns_discount_within_each_episode() -> None:
    data = ragged()
    by_hand = [
        sum(0.5**t * r for t, r in enumerate(data.rewards[a:b]))
        for a, b in zip(data.offsets[:-1], data.offsets[1:], strict=True)
    ]
    np.testing.assert_allclose(data.returns(0.5), by_hand)


def test_support_of_a_deterministic_policy() -> None:
    """f, c, u by hand: agreement 1 1 0 | 0 | 1 1 1 1 | 1 0."""
    data = ragged()
    agrees = np.array([1, 1, 0, 0, 1, 1, 1, 1, 1, 0], dtype=np.float64)
    found = support(data, lambda at: agrees[at])
    assert found.alive.tolist() == [4, 3, 2, 1]
    assert found.factual_count.tolist() == [3, 2, 1, 1]
    assert found.counterfactual_count.tolist() == [1, 1, 1, 0]
    assert found.u.tolist() == [0.75, 0.5, 0.25, 0.25]
    assert found.factual.tolist() == [1, 1, 0, 0, 1, 1, 1, 1, 1, 0]
    assert found.counterfactual.tolist() == [0, 0, 1, 1, 0, 0, 0, 0, 0, 1]
    np.testing.assert_allclose(found.marginal_weights[4:8], [1 / 0.75, 2, 4, 4])
    assert found.last_supported_step == 3
    assert found.effective_episodes.tolist() == [3, 2, 1, 1]


def test_support_of_a_stochastic_policy_splits_every_episode() -> None:
    """f_t + c_t is what f_{t-1} was."""
    data = ragged()
    logged = np.random.default_rng(3).uniform(0, 1, 10)
    found = support(data, lambda at: logged[at])
    before = data.delayed(found.factual, 1.0)(slice(None))
    np.testing.assert_allclose(found.factual + found.counterfactual, before)
    np.testing.assert_allclose(data.step_sums(lambda at: found.factual[at]), found.factual_count)


def test_labels_are_coded_once_and_read_back() -> None:
    coded = Categorical.of([3, 1, 3, 7], labels=(7, 3))
    assert coded.labels == (7, 3, 1)
    assert coded.codes.tolist() == [1, 2, 1, 0]
    assert coded.decoded() == [3, 1, 3, 7]
    assert Categorical.of(np.array(["b", "a"])).labels == ("a", "b")
    assert Categorical.of(np.array([True, False])).labels == (0, 1)
    assert Categorical.of(np.array([10.0, -2.0])).decoded() == [10, -2]
    assert Categorical.of(np.array([10**12, 5])).decoded() == [10**12, 5]
    assert coded.onto((1, 2, 3)).labels == (1, 2, 3, 7)
    assert coded.onto((1, 2, 3)).decoded() == coded.decoded()
    with pytest.raises(ValueError, match=r"0\.5"):
        Categorical.of(np.array([0.5]))
