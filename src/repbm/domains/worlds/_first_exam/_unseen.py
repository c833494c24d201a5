"""What the log does not show: propensities, a part of the state, or why the behavior did what it did."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from repbm.domains.worlds._first_exam._parts import (
    View,
    decaying,
    fixed,
    floored,
    greedy,
    habit,
    magnitude,
    nobody,
    pushes,
    reaching,
    scores_of,
    sigmoid,
    softmax,
    swayed,
    wish,
)
from repbm.domains.worlds._world import World


def no_propensities(generator: np.random.Generator) -> World:
    """Offers to customers or treatments of patients, chosen smoothly by what is seen, with no word on how probably."""
    columns, actions = int(generator.integers(1, 7)), int(generator.integers(2, 5))
    matrix = decaying(generator, columns, 0.4, 0.85)
    push = pushes(generator, columns, actions, generator.uniform(0.3, 0.9))
    weights = generator.normal(size=columns) / np.sqrt(columns)
    effects = generator.permutation(np.linspace(-0.8, 0.8, actions)) * generator.uniform(0.5, 1.0)
    moderated = generator.normal(0.0, 0.4, (actions, columns)) / np.sqrt(columns)
    binary, base = generator.random() < 0.4, generator.uniform(-1.5, 1.0)
    unit, noise = magnitude(generator, 0.5, 100.0), generator.uniform(0.3, 1.0)

    def merit(x: np.ndarray, action: np.ndarray) -> np.ndarray:
        bounded = 2.0 * np.tanh(x / 2.0)
        return base + x @ weights + effects[action] + (bounded * moderated[action]).sum(axis=1)

    def initial(count: int, generator: np.random.Generator) -> np.ndarray:
        return generator.normal(size=(count, columns))

    def step(
        states: np.ndarray, action: np.ndarray, generator: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        count, value = len(states), merit(states, action)
        if binary:
            reward = (generator.random(count) < sigmoid(value)).astype(np.float64)
        else:
            reward = unit * (value + noise * generator.normal(size=count))
        following = states @ matrix.T + push[action] + 0.5 * generator.normal(size=states.shape)
        return following, reward, np.zeros(count, dtype=bool)

    view = View.drawn(generator, columns)
    strength, floor = generator.uniform(0.4, 1.1), generator.uniform(0.05, 0.2)
    usual = habit(generator, columns, actions, strength, floor, curved=generator.random() < 0.4)
    world = World(
        horizon=int(generator.integers(1, 9)),
        actions=actions,
        initial=initial,
        step=step,
        behavior=view.behavior(usual),
        policy=nobody,
        observe=view.observe,
        propensities=False,
    )
    scores = scores_of(lambda x, action: merit(x, action) + 0.5 * (push[action] @ weights), actions)
    if generator.random() < 0.3:
        return fixed(world, view, scores)
    return reaching(world, view, usual, wish(generator, scores), generator, low=0.08)


def no_overlap(generator: np.random.Generator) -> World:
    """Beyond a limit the behavior never takes one action, which has another effect there, and the policy does."""
    columns, actions = int(generator.integers(1, 7)), int(generator.integers(2, 5))
    matrix = decaying(generator, columns, 0.5, 0.85)
    push = pushes(generator, columns, actions, generator.uniform(0.2, 0.6))
    limit, never = generator.uniform(-0.3, 0.4), int(generator.integers(actions))
    effects = generator.normal(0.0, 0.4, actions)
    beyond = generator.choice([-1.0, 1.0]) * generator.uniform(1.0, 3.0)
    weights, noise = generator.normal(size=columns) / np.sqrt(columns), generator.uniform(0.3, 0.8)
    unit, base = magnitude(generator, 0.2, 100.0), generator.normal()
    wanted = 1.0 if generator.random() < 0.5 else generator.uniform(0.6, 0.95)

    def initial(count: int, generator: np.random.Generator) -> np.ndarray:
        return generator.normal(size=(count, columns))

    def step(
        states: np.ndarray, action: np.ndarray, generator: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        changed = beyond * ((action == never) & (states[:, 0] > limit))
        reward = base + states @ weights + effects[action] + changed + noise * generator.normal(size=len(states))
        following = states @ matrix.T + push[action] + 0.6 * generator.normal(size=states.shape)
        return following, unit * reward, np.zeros(len(states), dtype=bool)

    view = View.drawn(generator, columns)
    lean = habit(generator, columns, actions, generator.uniform(0.3, 0.8), generator.uniform(0.2, 0.4))
    other = habit(generator, columns, actions, generator.uniform(0.3, 0.8), generator.uniform(0.2, 0.4))

    def usual(x: np.ndarray) -> np.ndarray:
        chances = lean(x)
        chances[x[:, 0] > limit, never] = 0.0
        return chances / chances.sum(axis=1, keepdims=True)

    def policy(x: np.ndarray) -> np.ndarray:
        chances = 0.5 * lean(x) + 0.5 * other(x)
        there = x[:, 0] > limit
        chances[there] *= 1.0 - wanted
        chances[there, never] += wanted
        return chances

    return World(
        horizon=int(generator.integers(1, 9)),
        actions=actions,
        initial=initial,
        step=step,
        behavior=view.behavior(usual),
        policy=view.policy(policy),
        observe=view.observe,
        answerable=False,
    )


def hidden_cause(generator: np.random.Generator) -> World:
    """Something that the log hides moves the behavior and, strongly, the outcomes."""
    columns, actions = int(generator.integers(1, 7)), int(generator.integers(2, 5))
    matrix = decaying(generator, columns, 0.5, 0.85)
    levels = generator.permutation(np.linspace(-1.0, 1.0, actions))
    knows = generator.choice([-1.0, 1.0]) * generator.uniform(1.0, 2.0)
    matters = generator.choice([-1.0, 1.0]) * generator.uniform(1.0, 2.5)
    effect, weights = (
        generator.choice([-1.0, 1.0]) * generator.uniform(0.3, 1.0),
        0.6 * generator.normal(size=columns) / np.sqrt(columns),
    )
    lasting, noise = generator.choice([1.0, 0.9]), generator.uniform(0.3, 0.8)
    unit, base = magnitude(generator, 0.3, 100.0), generator.normal(0.0, 2.0)
    floor, toward = generator.uniform(0.1, 0.2), generator.choice([-1.0, 1.0])
    slopes = 0.5 * generator.normal(size=(columns, actions)) / np.sqrt(columns)
    carried = 0.2 * generator.normal(size=columns)

    def initial(count: int, generator: np.random.Generator) -> np.ndarray:
        return generator.normal(size=(count, columns + 1))

    def step(
        states: np.ndarray, action: np.ndarray, generator: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        x, hidden, count = states[:, :columns], states[:, -1], len(states)
        reward = base + x @ weights + effect * levels[action] + matters * hidden + noise * generator.normal(size=count)
        moved = x @ matrix.T + levels[action][:, None] * carried + 0.5 * generator.normal(size=x.shape)
        hidden = lasting * hidden + np.sqrt(1.0 - lasting**2) * generator.normal(size=count)
        return np.column_stack([moved, hidden]), unit * reward, np.zeros(count, dtype=bool)

    view = View.drawn(generator, columns)

    def chances(x: np.ndarray, hidden: np.ndarray) -> np.ndarray:
        return floored(softmax(np.tanh(x) @ slopes + knows * hidden[:, None] * levels), floor)

    world = World(
        horizon=int(generator.integers(1, 6)),
        actions=actions,
        initial=initial,
        step=step,
        behavior=lambda states: chances(states[:, :columns], states[:, -1]),
        policy=nobody,
        observe=view.observe,
        propensities=False,
        answerable=False,
    )
    aim = greedy(lambda x: toward * levels * (1.0 + 0.3 * np.tanh(x[:, :1])))
    share = 1.0 if world.horizon <= 2 and generator.random() < 0.4 else generator.uniform(0.25, 0.7)

    def policy(x: np.ndarray) -> np.ndarray:
        return (1.0 - share) * chances(x, np.zeros(len(x))) + share * aim(x)

    return replace(world, policy=view.policy(policy))


def partly_seen(generator: np.random.Generator) -> World:
    """A hidden component comes and goes and matters a little; the behavior does not see it either."""
    columns, actions = int(generator.integers(2, 8)), int(generator.integers(2, 5))
    matrix = decaying(generator, columns, 0.5, 0.85)
    push = pushes(generator, columns, actions, generator.uniform(0.5, 1.0))
    weights, noise = generator.normal(size=columns) / np.sqrt(columns), generator.uniform(0.3, 0.6)
    little, carried = generator.uniform(0.1, 0.3), 0.15 * generator.normal(size=columns)
    lasting, touched = generator.uniform(0.6, 0.9), generator.normal(0.0, 0.15, actions)
    unit, bowl = magnitude(generator, 0.3, 50.0), generator.random() < 0.4

    def pay(following: np.ndarray) -> np.ndarray:
        return -np.abs(following) @ np.abs(weights) if bowl else following @ weights

    def initial(count: int, generator: np.random.Generator) -> np.ndarray:
        return generator.normal(size=(count, columns + 1))

    def step(
        states: np.ndarray, action: np.ndarray, generator: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        x, hidden, count = states[:, :columns], states[:, -1], len(states)
        moved = x @ matrix.T + push[action] + hidden[:, None] * carried + noise * generator.normal(size=x.shape)
        reward = unit * (pay(moved) + little * hidden + 0.2 * generator.normal(size=count))
        hidden = lasting * hidden + touched[action] + np.sqrt(1.0 - lasting**2) * generator.normal(size=count)
        return np.column_stack([moved, hidden]), reward, np.zeros(count, dtype=bool)

    view = View.drawn(generator, columns)
    usual = habit(generator, columns, actions, generator.uniform(0.3, 1.0), generator.uniform(0.1, 0.3))
    world = World(
        horizon=int(generator.integers(4, 13)),
        actions=actions,
        initial=initial,
        step=step,
        behavior=view.behavior(usual),
        policy=nobody,
        observe=view.observe,
        discount=1.0 if generator.random() < 0.6 else float(generator.uniform(0.9, 0.99)),
    )
    scores = scores_of(lambda x, action: pay(x @ matrix.T + push[action]), actions)
    scores = swayed(generator, scores, columns, actions, generator.uniform(0.1, 0.5))
    if generator.random() < 0.25:
        return fixed(world, view, scores)
    return reaching(world, view, usual, wish(generator, scores), generator)
