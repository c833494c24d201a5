"""Insured houses in the path of storms."""

from __future__ import annotations

import numpy as np

from repbm.domains.worlds._second_exam._parts import (
    Actions,
    Gauge,
    Scores,
    States,
    Stepped,
    alternative,
    floored,
    sigmoid,
    softmax,
    unending,
    whole,
)
from repbm.domains.worlds._world import World


def storm_claims(generator: np.random.Generator) -> World:
    """Premiums come in evenly, claims seldom and now and then ruinously: rewards have heavy tails.

    Precautions, of which every action is a level, make claims rarer, at a price. The size of a claim is a power law of
    exponent 2.3 to 3.5.
    """
    actions, horizon = whole(generator, 2, 4), whole(generator, 4, 9)
    care = np.linspace(0.0, 1.0, actions)
    tail, rate = generator.uniform(2.3, 3.5), generator.uniform(-1.6, -0.6)
    spared, price = generator.uniform(1.2, 2.5), generator.uniform(0.02, 0.15)
    lasting, exposed = generator.uniform(0.5, 0.9), generator.uniform(0.3, 0.9)
    kept, windy = generator.uniform(0.5, 0.9), generator.uniform(0.3, 0.8)
    premium, unit = generator.uniform(0.2, 0.6), 10.0 ** generator.uniform(0.0, 5.0)
    habit = generator.normal(0.0, 0.6, 3)
    toward = 1.0 if generator.random() < 0.7 else -1.0
    gauge = Gauge.drawn(generator, 3, -1.0, 5.0)

    def initial(count: int, noise: np.random.Generator) -> States:
        return np.column_stack([noise.normal(size=(count, 2)), noise.uniform(0.0, 0.7, count)])

    def chances(states: States, prepared: np.ndarray) -> np.ndarray:
        return sigmoid(rate + exposed * states[:, 0] + windy * states[:, 1] - spared * prepared)

    def step(states: States, taken: Actions, noise: np.random.Generator) -> Stepped:
        prepared = lasting * states[:, 2] + (1.0 - lasting * 0.6) * care[taken]
        struck = noise.random(len(states)) < chances(states, prepared)
        claims = struck * (1.0 + noise.pareto(tail, len(states)))
        wind = kept * states[:, 1] + np.sqrt(1.0 - kept**2) * noise.normal(size=len(states))
        rewards = unit * (premium - price * care[taken] - claims)
        return np.column_stack([states[:, 0], wind, prepared]), rewards, unending(states)

    def behavior(states: States) -> Scores:
        return floored(softmax(np.outer(2.0 * np.tanh(states @ habit), care)), 0.2)

    def preference(states: States) -> Scores:
        return toward * np.outer(chances(states, states[:, 2]), care)

    policy = alternative(generator, horizon, behavior, preference, initial(400, generator))
    return World(
        horizon=horizon,
        actions=actions,
        initial=initial,
        step=step,
        behavior=behavior,
        policy=lambda seen: policy(gauge.read(seen)),
        observe=gauge.show,
        discount=float(generator.choice([1.0, 0.95, 0.9])),
    )
