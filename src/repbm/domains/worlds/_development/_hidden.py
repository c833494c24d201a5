"""What the log does not show: a hidden cause of actions and outcomes, a mild hidden component, actions never taken."""

from __future__ import annotations

import numpy as np

from repbm.domains.worlds._development._linear import Linear
from repbm.domains.worlds._development._parts import Outcome, Rows, between, by_chance, conduct, count, habits, softmax
from repbm.domains.worlds._world import World


def confounded(generator: np.random.Generator) -> World:
    """A linear system with a hidden component that drives rewards and that the behavior sees: nobody can tell from
    the log, which has no propensities."""
    horizon, actions = count(generator, 2, 10), count(generator, 2, 4)
    system = Linear.drawn(generator, count(generator, 1, 5), actions)
    weight, memory = generator.uniform(1.0, 2.0), generator.uniform(0.7, 0.95)
    favor = generator.uniform(1.0, 2.0) * np.linspace(-1, 1, actions) * generator.choice([-1.0, 1.0])
    effect = 0.5 * np.linspace(-1, 1, actions) * generator.choice([-1.0, 1.0])

    def initial(number: int, draws: np.random.Generator) -> Rows:
        return np.column_stack([draws.normal(size=number), system.initial(number, draws)])

    def step(states: Rows, actions: np.ndarray, draws: np.random.Generator) -> Outcome:
        hidden = states[:, 0]
        following, rewards, ended = system.step(states[:, 1:], actions, draws)
        rewards = rewards + weight * hidden * (1 + effect[actions])
        hidden = memory * hidden + np.sqrt(1 - memory**2) * draws.normal(size=len(states))
        return np.column_stack([hidden, following]), rewards, ended

    sample = system.initial(512, generator)
    acts, wanted = conduct(generator, system.scores, sample, horizon, (0.3, 0.7), 0.2)
    lean = generator.uniform(0.6, 1.2) * np.linspace(-1, 1, actions) * generator.choice([-1.0, 1.0])

    def behavior(states: Rows) -> Rows:
        return softmax(np.log(acts(states[:, 1:])) + favor * states[:, :1])

    def policy(seen: Rows) -> Rows:
        chances = wanted(seen) * np.exp(lean)
        return chances / chances.sum(axis=1, keepdims=True)

    return World(
        horizon,
        actions,
        initial,
        step,
        behavior,
        policy,
        observe=lambda states: states[:, 1:],
        propensities=False,
        answerable=False,
    )


def partial(generator: np.random.Generator) -> World:
    """A linear system with a hidden component that matters a little; the behavior acts on what the log shows."""
    horizon, actions = count(generator, 4, 12), count(generator, 2, 4)
    system = Linear.drawn(generator, count(generator, 2, 5), actions)
    weight, memory = generator.uniform(0.1, 0.4), generator.uniform(0.5, 0.95)
    drift = 0.1 * generator.normal(size=system.components)

    def initial(number: int, draws: np.random.Generator) -> Rows:
        return np.column_stack([draws.normal(size=number), system.initial(number, draws)])

    def step(states: Rows, actions: np.ndarray, draws: np.random.Generator) -> Outcome:
        hidden = states[:, 0]
        following, rewards, ended = system.step(states[:, 1:], actions, draws)
        following, rewards = following + hidden[:, None] * drift, rewards + weight * hidden
        hidden = memory * hidden + np.sqrt(1 - memory**2) * draws.normal(size=len(states))
        return np.column_stack([hidden, following]), rewards, ended

    behavior, policy = conduct(generator, system.scores, system.initial(512, generator), horizon)
    return World(
        horizon,
        actions,
        initial,
        step,
        lambda states: behavior(states[:, 1:]),
        policy,
        observe=lambda states: states[:, 1:],
        propensities=by_chance(generator, 0.7),
    )


def no_positivity(generator: np.random.Generator) -> World:
    """In a region that is often visited the policy takes action 0, which has large effects there and was never logged
    there."""
    horizon, actions = count(generator, 1, 8), count(generator, 2, 4)
    system = Linear.drawn(generator, count(generator, 1, 5), actions)
    line, size = generator.uniform(-0.3, 0.4), generator.uniform(1.0, 2.5) * generator.choice([-1.0, 1.0])
    wanted = 1.0 if by_chance(generator, 1 / 3) else generator.uniform(0.5, 0.95)
    noise, sample = between(generator, 0.1, 0.5), system.initial(512, generator)
    habit = habits(generator, actions, sample, 0.6)

    def step(states: Rows, actions: np.ndarray, draws: np.random.Generator) -> Outcome:
        inside = (states[:, 0] > line) & (actions == 0)
        following, rewards, ended = system.step(states, actions, draws)
        return following, rewards + inside * (size + noise * draws.normal(size=len(states))), ended

    def shifted(seen: Rows, probability: float) -> Rows:
        """The habit, but action 0 with this probability inside the region."""
        chances = softmax(habit(seen))
        rest = chances * (np.arange(actions) > 0)
        rest *= (1 - probability) / rest.sum(axis=1, keepdims=True)
        rest[:, 0] = probability
        return np.where(seen[:, :1] > line, rest, chances)

    return World(
        horizon,
        actions,
        system.initial,
        step,
        behavior=lambda states: shifted(states, 0.0),
        policy=lambda seen: shifted(seen, wanted),
        answerable=False,
    )
