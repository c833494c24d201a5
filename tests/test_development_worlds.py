"""Families of worlds: what a seed draws is fixed, finite and, where it should be, answerable."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from repbm.core import stream
from repbm.domains.worlds import DEVELOPMENT, World

NO_OVERLAP = (
    "no-positivity",
    "first/no-overlap",
    "second/forbidden-dose",
    "third/drone-routes",
    "fourth/contrast-scans",
    "fifth/course-placement",
    "sixth/crane-lifts",
    "sixth/joint-injection",
    "sixth/season-markdown",
    "sixth/interpreter-desk",
    "seventh/reservoir-gates",
    "seventh/preterm-feeding",
    "seventh/jump-training",
    "seventh/herbicide-mixes",
)
HIDDEN_CAUSES = (
    "confounded",
    "first/hidden-cause",
    "second/unseen-frailty",
    "third/home-visits",
    "fourth/physio-motivation",
    "fifth/calf-barn",
    "sixth/wound-dressing",
    "seventh/bridge-inspections",
)
UNANSWERABLE = (*NO_OVERLAP, *HIDDEN_CAUSES)
FAMILIES = [pytest.param(name, marks=pytest.mark.slow) if "/" in name else name for name in DEVELOPMENT]
"""Those of earlier exams, which no longer change, are looked at with what is slow."""


def drawn_anew(name: str, seed: int) -> World:
    return DEVELOPMENT[name](stream(seed, "world", name))


drawn = cache(drawn_anew)
"""Families look for worlds that are neither easy nor hopeless, which takes time."""


@pytest.mark.parametrize("name", FAMILIES)
def test_a_seed_draws_a_world_and_its_log(name: str) -> None:
    worlds = drawn(name, 1), drawn_anew(name, 1), drawn(name, 2)
    logs = [world.log(50, stream(3, "log"))[0] for world in worlds]
    for field in ("observations", "rewards", "offsets", "terminated", "final_observations"):
        np.testing.assert_array_equal(getattr(logs[0], field), getattr(logs[1], field))
    np.testing.assert_array_equal(logs[0].actions.codes, logs[1].actions.codes)
    assert logs[0].rewards[:50].tolist() != logs[2].rewards[:50].tolist()


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("seed", range(2))
def test_numbers_are_finite_and_actions_supported(name: str, seed: int) -> None:
    world = drawn(name, seed)
    log, starts = world.log(100, stream(seed, "log"))
    assert starts.dtype == np.float64
    assert np.isfinite(log.observations).all()
    assert np.isfinite(log.rewards).all()
    assert np.isfinite(world.returns(starts, stream(seed, "returns"))).all()
    assert np.diff(log.offsets).max() <= world.horizon
    assert 2 <= world.actions <= 6
    chances = world.policy(log.observations)
    assert chances.shape == (len(log.rewards), world.actions)
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    assert (chances >= 0).all()


@pytest.mark.parametrize("name", FAMILIES)
def test_the_policy_never_does_what_was_never_done_where_the_log_can_tell(name: str) -> None:
    """Some gaps are of one part of the time, or of what was done before."""
    for seed in range(3):
        world = drawn(name, seed)
        assert world.answerable != (name in UNANSWERABLE)
        states = world.initial(200, stream(seed, "states"))
        generator, never_logged = stream(seed, "steps"), False
        for _ in range(world.horizon if name in NO_OVERLAP else min(world.horizon, 4)):
            usual, wanted = world.behavior(states), world.policy(world.observe(states))
            np.testing.assert_allclose(usual.sum(axis=1), 1)
            never_logged |= bool(((wanted > 0) & (usual == 0)).any())
            states, _, ended = world.step(states, wanted.argmax(axis=1), generator)
            states = states[~ended]
            if not len(states):
                break
        assert never_logged == (name in NO_OVERLAP)


@pytest.mark.parametrize("name", FAMILIES)
def test_weights_have_mean_1_where_the_behavior_is_known(name: str) -> None:
    """Ratios of single steps: their mean is 1 but for drawing, checked at six standard errors."""
    if not drawn(name, 0).answerable:
        pytest.skip("not answerable")
    world = replace(drawn(name, 1), propensities=True)
    log, _ = world.log(1000, stream(5, "log"))
    assert log.behavior is not None
    taken = world.policy(log.observations)[np.arange(len(log.rewards)), log.actions.codes]
    ratios = taken / log.behavior
    assert abs(ratios.mean() - 1) < 6 * ratios.std() / np.sqrt(len(ratios)) + 1e-9
