"""Time: long horizons, and effects that come late."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from repbm.domains.worlds._first_exam._parts import (
    Scores,
    View,
    fixed,
    habit,
    magnitude,
    mixed,
    nobody,
    reaching,
    scores_of,
    sigmoid,
    wish,
)
from repbm.domains.worlds._world import World

Start = Callable[[int, np.random.Generator], np.ndarray]
Step = Callable[[np.ndarray, np.ndarray, np.random.Generator], tuple[np.ndarray, np.ndarray, np.ndarray]]


def long(generator: np.random.Generator) -> World:
    """A stock that is refilled, or customers who tire of being contacted, over many steps of discounted rewards."""
    actions = int(generator.integers(2, 6))
    kinds = (_stock, _contacts)
    columns, initial, step, scores = kinds[int(generator.integers(len(kinds)))](generator, actions)
    view = View.drawn(generator, columns)
    usual = habit(generator, columns, actions, generator.uniform(0.2, 0.8), generator.uniform(0.2, 0.4))
    world = World(
        horizon=int(generator.integers(40, 81)),
        actions=actions,
        initial=initial,
        step=step,
        behavior=view.behavior(usual),
        policy=nobody,
        observe=view.observe,
        discount=float(generator.uniform(0.95, 0.99)),
    )
    if generator.random() < 0.3:
        return fixed(world, view, scores)
    share, goal = generator.uniform(0.3, 0.9), wish(generator, scores)
    return replace(world, policy=view.policy(lambda x: mixed(usual(x), goal(x), share)))


def _stock(generator: np.random.Generator, actions: int) -> tuple[int, Start, Step, Scores]:
    """Orders refill a stock that random demand draws on; sales pay, what is left over costs."""
    sizes = np.linspace(0.0, generator.uniform(1.5, 2.5), actions)
    price, purchase, holding = generator.uniform(2.0, 4.0), generator.uniform(0.8, 1.5), generator.uniform(0.1, 0.4)
    steady, unit, room = generator.uniform(0.6, 0.9), magnitude(generator, 0.5, 30.0), generator.uniform(4.0, 7.0)
    aim, follow = generator.uniform(1.0, 2.2), generator.uniform(0.0, 0.8)

    def initial(count: int, generator: np.random.Generator) -> np.ndarray:
        return np.stack([generator.uniform(0.0, 3.0, count), generator.normal(0.0, 0.5, count)], axis=1)

    def step(
        states: np.ndarray, action: np.ndarray, generator: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        stock, trend = np.minimum(states[:, 0] + sizes[action], room), states[:, 1]
        demand = generator.gamma(3.0, np.exp(0.5 * np.tanh(trend)) / 3.0)
        sold = np.minimum(stock, demand)
        left = stock - sold
        reward = unit * (price * sold - purchase * sizes[action] - holding * left)
        trend = steady * trend + 0.4 * generator.normal(size=len(trend))
        return np.stack([left, trend], axis=1), reward, np.zeros(len(states), dtype=bool)

    return 2, initial, step, scores_of(lambda x, a: -((sizes[a] - (aim + follow * x[:, 1] - x[:, 0])) ** 2), actions)


def _contacts(generator: np.random.Generator, actions: int) -> tuple[int, Start, Step, Scores]:
    """Contacts raise interest and fatigue; purchases depend on interest, fatigue and the kind of customer."""
    levels = np.linspace(0.0, 1.0, actions)
    keep, rest = generator.uniform(0.7, 0.9), generator.uniform(0.6, 0.85)
    warm, tire = generator.uniform(0.3, 0.7), generator.uniform(0.5, 1.0)
    worth, cost, base = magnitude(generator, 1.0, 40.0), generator.uniform(0.02, 0.1), generator.uniform(-2.0, -0.5)
    kinds = int(generator.integers(1, 4))
    taste = generator.normal(0.0, 0.5, kinds)
    limit = generator.uniform(0.6, 1.4)

    def initial(count: int, generator: np.random.Generator) -> np.ndarray:
        states = generator.normal(size=(count, 2 + kinds))
        states[:, 1] = np.abs(states[:, 1])
        return states

    def step(
        states: np.ndarray, action: np.ndarray, generator: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        count, level, following = len(states), levels[action], states.copy()
        tired = sigmoid(3.0 * (states[:, 1] - limit))
        following[:, 0] = keep * states[:, 0] + warm * level * (1.0 - 1.5 * tired) + 0.3 * generator.normal(size=count)
        following[:, 1] = rest * states[:, 1] + tire * level * (1.0 - rest) * 3.0
        following[:, 1] += 0.1 * np.abs(generator.normal(size=count))
        buys = generator.random(count) < sigmoid(base + following[:, 0] + states[:, 2:] @ taste)
        return following, worth * (buys - cost * level), np.zeros(count, dtype=bool)

    def scores(x: np.ndarray) -> np.ndarray:
        return levels * np.where(x[:, 1] < limit, 1.0, -1.0)[:, None]

    return 2 + kinds, initial, step, scores


def delayed(generator: np.random.Generator) -> World:
    """Doses pass through compartments before they work, and cost at once: what is done now is felt steps later."""
    stages, actions = int(generator.integers(2, 5)), int(generator.integers(2, 5))
    levels = np.linspace(0.0, 1.0, actions)
    flows, decay = generator.uniform(0.45, 0.85, stages), generator.uniform(0.2, 0.5)
    lasting, drift = generator.uniform(0.7, 0.9), generator.uniform(0.1, 0.4)
    effect, noise = generator.uniform(0.6, 1.3), generator.uniform(0.15, 0.35)
    cost, unit, squared = generator.uniform(0.1, 0.5), magnitude(generator, 0.3, 100.0), generator.random() < 0.5
    slope, stored = generator.uniform(0.3, 1.0), generator.uniform(0.0, 0.5)
    spare = int(generator.integers(0, 3))
    columns = 1 + stages + spare

    def initial(count: int, generator: np.random.Generator) -> np.ndarray:
        states = generator.normal(size=(count, columns))
        states[:, 0] = 1.0 + 0.8 * states[:, 0]
        states[:, 1 : 1 + stages] = 0.3 * np.abs(states[:, 1 : 1 + stages])
        return states

    def step(
        states: np.ndarray, action: np.ndarray, generator: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        count, following = len(states), states.copy()
        tanks = states[:, 1 : 1 + stages]
        moved = flows * tanks
        tanks = tanks - moved
        tanks[:, 1:] += moved[:, :-1]
        tanks[:, 0] += levels[action] * np.exp(0.15 * generator.normal(size=count))
        tanks[:, -1] *= 1.0 - decay * 0.5
        working = 2.0 * states[:, stages] / (1.0 + states[:, stages])
        following[:, 0] = lasting * states[:, 0] + drift - effect * working + noise * generator.normal(size=count)
        following[:, 1 : 1 + stages] = tanks
        ill = following[:, 0]
        reward = -unit * ((ill**2 if squared else ill) + cost * levels[action])
        return following, reward, np.zeros(count, dtype=bool)

    view = View.drawn(generator, columns)
    usual = habit(generator, columns, actions, generator.uniform(0.3, 0.9), generator.uniform(0.1, 0.3))
    world = World(
        horizon=int(generator.integers(8, 19)),
        actions=actions,
        initial=initial,
        step=step,
        behavior=view.behavior(usual),
        policy=nobody,
        observe=view.observe,
    )
    scores = scores_of(
        lambda x, a: -((levels[a] - (slope * x[:, 0] - stored * x[:, 1 : 1 + stages].sum(axis=1))) ** 2), actions
    )
    if generator.random() < 0.3:
        return fixed(world, view, scores)
    return reaching(world, view, usual, wish(generator, scores), generator)
