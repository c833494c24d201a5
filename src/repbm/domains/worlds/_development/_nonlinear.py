"""Nonlinear dynamics: a pendulum, a treatment whose effect saturates, and one decision with a curved outcome."""

from __future__ import annotations

import numpy as np

from repbm.domains.worlds._development._parts import (
    Outcome,
    Rows,
    between,
    by_chance,
    conduct,
    count,
    logistic,
    never,
)
from repbm.domains.worlds._world import World


def pendulum(generator: np.random.Generator) -> World:
    """A damped pendulum with noise that is pushed left or right; upright is best. The angle is seen or its sine and
    cosine are."""
    horizon, actions = count(generator, 6, 20), count(generator, 2, 5)
    gravity, damping = generator.uniform(0.2, 0.6), generator.uniform(0.02, 0.2)
    torques = np.linspace(-1, 1, actions) * generator.uniform(0.15, 0.5)
    noise, cost, reward_noise = between(generator, 0.02, 0.2), generator.uniform(0, 0.5), between(generator, 0.02, 0.3)
    spread, round_ = generator.uniform(0.4, 1.5), by_chance(generator, 0.5)

    def initial(number: int, draws: np.random.Generator) -> Rows:
        return draws.normal(size=(number, 2)) * np.array([spread, 0.3])

    def step(states: Rows, actions: np.ndarray, draws: np.random.Generator) -> Outcome:
        angle, speed = states.T
        speed = (1 - damping) * speed + 0.5 * gravity * np.sin(angle) + torques[actions]
        speed = speed + noise * draws.normal(size=len(states))
        angle = angle + 0.5 * speed
        rewards = np.cos(angle) - cost * np.abs(torques[actions]) + reward_noise * draws.normal(size=len(states))
        return np.column_stack([angle, speed]), rewards, never(len(states))

    def observe(states: Rows) -> Rows:
        angle, speed = states.T
        return np.column_stack([np.cos(angle), np.sin(angle), speed]) if round_ else states

    def scores(seen: Rows) -> Rows:
        lean = seen[:, 1] if round_ else np.sin(seen[:, 0])
        return -(np.tanh(1.5 * lean + seen[:, -1])[:, None]) * np.sign(torques) * np.sqrt(np.abs(torques))

    behavior, policy = conduct(generator, scores, observe(initial(512, generator)), horizon)
    return World(horizon, actions, initial, step, lambda states: behavior(observe(states)), policy, observe)


def saturating(generator: np.random.Generator) -> World:
    """A marker that grows by itself and is lowered by doses whose effect saturates; doses harm in other ways.

    Further columns are constant: they say how well a patient responds.
    """
    horizon, actions = count(generator, 5, 15), count(generator, 2, 5)
    doses, traits = np.linspace(0, 1, actions), count(generator, 1, 4)
    growth, half, power = generator.uniform(0.05, 0.3), generator.uniform(0.2, 0.8), generator.uniform(1, 4)
    strength, harm = generator.uniform(0.3, 0.9), generator.uniform(0.1, 0.6)
    noise, reward_noise = between(generator, 0.03, 0.3), between(generator, 0.02, 0.3)
    response = generator.normal(size=traits) / np.sqrt(traits)
    effects = doses**power / (half**power + doses**power)

    def initial(number: int, draws: np.random.Generator) -> Rows:
        return np.column_stack([np.exp(0.5 * draws.normal(size=number)), draws.normal(size=(number, traits))])

    def shrunk(states: Rows) -> Rows:
        """By how much every action lowers the logarithm of the marker."""
        return strength * logistic(states[:, 1:] @ response + 0.5)[:, None] * effects

    def step(states: Rows, actions: np.ndarray, draws: np.random.Generator) -> Outcome:
        lowered = shrunk(states)[np.arange(len(states)), actions]
        marker = states[:, 0] * np.exp(growth - lowered + noise * draws.normal(size=len(states)))
        marker = np.clip(marker, 0.02, 20.0)
        rewards = 1 / (1 + marker) - harm * doses[actions] ** 2 + reward_noise * draws.normal(size=len(states))
        return np.column_stack([marker, states[:, 1:]]), rewards, never(len(states))

    def scores(seen: Rows) -> Rows:
        burden = seen[:, :1] / (1 + seen[:, :1])
        return 2 * burden * shrunk(seen) - harm * doses**2

    behavior, policy = conduct(generator, scores, initial(512, generator), horizon)
    return World(horizon, actions, initial, step, behavior, policy, last_state=by_chance(generator, 0.7))


def one_step(generator: np.random.Generator) -> World:
    """One decision each; the outcome, a number or a yes or no, is a curved function of all columns and the action."""
    actions, columns = count(generator, 2, 5), count(generator, 2, 8)
    binary, noise = by_chance(generator, 0.5), between(generator, 0.1, 1.0)
    slopes = generator.normal(size=(columns, actions)) / np.sqrt(columns)
    waves = generator.normal(size=(columns, actions))
    bends = generator.uniform(0.3, 1.2, actions)
    base = 0.3 * generator.normal(size=actions)

    def means(seen: Rows) -> Rows:
        return base + np.tanh(seen @ slopes) + bends * np.sin(seen @ waves / np.sqrt(columns)) + 0.3 * seen[:, :1] ** 2

    def initial(number: int, draws: np.random.Generator) -> Rows:
        return draws.normal(size=(number, columns))

    def step(states: Rows, actions: np.ndarray, draws: np.random.Generator) -> Outcome:
        mean = means(states)[np.arange(len(states)), actions]
        if binary:
            rewards = (draws.random(len(states)) < logistic(1.5 * mean - 0.5)).astype(np.float64)
        else:
            rewards = mean + noise * draws.normal(size=len(states))
        return states, rewards, np.ones(len(states), dtype=bool)

    behavior, policy = conduct(generator, means, initial(512, generator), 1, (0.1, 0.6))
    return World(1, actions, initial, step, behavior, policy, last_state=by_chance(generator, 0.5))
