"""Regions where the policy does what was hardly ever logged: of any shape, at any time, after any treatment."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from repbm.core import PositivityRules
from repbm.data import Categorical, Trajectories
from repbm.doctor._logged_rates import logged_rates
from repbm.doctor._positivity import Region, uncovered_regions
from repbm.estimators import Case
from repbm.policies import CallablePolicy


def logged(episodes: int, steps: int, chance, seed: int = 0) -> Trajectories:
    """Four columns of noise; `chance(states, step, times, previous)` is that of action 1."""
    generator = np.random.default_rng(seed)
    states = generator.normal(size=(episodes, steps, 4))
    actions = np.zeros((episodes, steps), dtype=np.int32)
    for step in range(steps):
        times = actions[:, :step].sum(axis=1)
        previous = actions[:, step - 1] if step else np.zeros(episodes)
        odds = chance(states[:, step], step, times, previous)
        actions[:, step] = generator.random(episodes) < np.broadcast_to(odds, episodes)
    return Trajectories(
        states.reshape(-1, 4),
        Categorical(actions.ravel(), ("wait", "treat")),
        np.zeros(episodes * steps),
        np.arange(episodes + 1) * steps,
        np.ones(episodes, dtype=bool),
        np.zeros((episodes, 4)),
        np.full(episodes * steps, 0.5),
        observation_names=("age", "pulse", "weight", "height"),
    )


def found(data: Trajectories, rules: PositivityRules = PositivityRules()) -> list[Region]:  # noqa: B008 - frozen
    policy = CallablePolicy(lambda states: np.array(["treat"] * len(states)))
    return uncovered_regions(Case.of(data, policy), np.ones(len(data.rewards)), rules, known_table=False)


@pytest.mark.parametrize(
    ("named", "chance"),
    [
        ("earlier times of treat > 0", lambda states, step, times, previous: np.where(times > 0, 0.0, 0.4)),
        ("before=treat", lambda states, step, times, previous: np.where(previous > 0, 0.0, 0.4)),
        ("step of the episode ≤ 1", lambda states, step, times, previous: 0.0 if step == 0 else 0.4),
        ("step of the episode > 3", lambda states, step, times, previous: 0.0 if step == 3 else 0.4),
    ],
    ids=["never twice", "never at once again", "never at first", "never at last"],
)
def test_what_was_never_done_then_or_after_that(named: str, chance) -> None:
    """A log of 300 episodes in which every state is treated, but never at some time, or after some treatment."""
    regions = found(logged(300, 4, chance))
    assert regions
    assert regions[0].logged == 0
    assert any(named in condition for region in regions for condition in region.conditions), regions


@pytest.mark.parametrize(
    "inside",
    [
        lambda x: (x[:, 0] ** 2 + x[:, 1] ** 2) < 0.5,
        lambda x: x[:, 0] + x[:, 1] + x[:, 2] > 2,
        lambda x: (x[:, 0] * x[:, 1] > 0) & (x[:, 2] > 0),
    ],
    ids=["a circle", "beyond a diagonal", "where two columns have one sign"],
)
def test_regions_need_no_straight_edges(inside) -> None:
    data = logged(2000, 1, lambda states, *_: np.where(inside(states), 0.0, 0.5))
    regions = found(data)
    assert regions
    assert sum(region.logged for region in regions) < 0.1 * sum(region.steps for region in regions)


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.15, 0.5])
def test_chance_alone_is_no_region(rate: float) -> None:
    """30 logs in which every step is treated with the same probability: at most one may be suspected."""
    suspected = [bool(found(logged(100 if seed % 2 else 400, 4, lambda *_: rate, seed))) for seed in range(30)]
    assert sum(suspected) <= 1


def test_a_log_that_shows_everything_seldom_is_no_gap() -> None:
    """Steps treated with 3 %, but 36 times or so: few of many still tell."""
    assert not found(logged(300, 4, lambda *_: 0.03, 1))


def test_of_one_log_rates_are_told_once(monkeypatch) -> None:
    """A changed threshold asks about the same actions: their rates are a sixth of its answer on the served page."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    grown: list[int] = []
    fit = HistGradientBoostingClassifier.fit
    monkeypatch.setattr(HistGradientBoostingClassifier, "fit", lambda *given: grown.append(1) or fit(*given))
    data, rules = logged(60, 3, lambda *_: 0.4), PositivityRules()
    first = logged_rates(data, data.observations, [0, 1], rules)
    once = len(grown)
    assert once > 0
    assert logged_rates(data, data.observations, [1, 0], rules) is first
    assert len(grown) == once
    assert list(logged_rates(data, data.observations, [1], rules)) == [1]
    again = logged_rates(data, data.observations, [0, 1], PositivityRules(trees=5))
    assert len(grown) == 3 * once
    assert (again[1] != first[1]).any()
    assert (logged_rates(replace(data), data.observations, [0, 1], rules)[1] == first[1]).all()
