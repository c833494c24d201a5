"""Pumps that are seldom overhauled."""

from __future__ import annotations

import numpy as np

from repbm.domains.worlds._second_exam._parts import (
    Actions,
    Gauge,
    Scores,
    States,
    Stepped,
    floored,
    sigmoid,
    softmax,
    unending,
    whole,
)
from repbm.domains.worlds._world import World


def rare_overhaul(generator: np.random.Generator) -> World:
    """Pumps foul and vibrate; an overhaul mends both but is logged in 2 to 6 decisions of 100.

    The policy overhauls fouled pumps often and clean ones hardly more than was usual.
    """
    actions, horizon = whole(generator, 2, 4), whole(generator, 3, 7)
    low, high = generator.uniform(0.02, 0.03), generator.uniform(0.045, 0.06)
    fouls, shakes = generator.uniform(0.1, 0.35), generator.uniform(0.1, 0.4)
    mends, price = generator.uniform(0.5, 0.85), generator.uniform(0.1, 0.5)
    tweak = np.concatenate([[0.0], generator.normal(0.0, 0.15, actions - 1)])
    tweak[-1] = 0.0
    jitter, loud = generator.uniform(0.05, 0.3), generator.uniform(0.1, 0.3)
    habit = generator.normal(0.0, 0.4, (3, actions - 1))
    most, edge = generator.uniform(0.22, 0.45) / np.sqrt(horizon / 3.0), generator.uniform(0.3, 1.0)
    gauge = Gauge.drawn(generator, 3)
    rare = actions - 1

    def initial(count: int, noise: np.random.Generator) -> States:
        return np.column_stack([noise.gamma(2.0, 0.4, count), noise.normal(size=count), noise.normal(size=count)])

    def step(states: States, taken: Actions, noise: np.random.Generator) -> Stepped:
        foul, shake, load = states.T
        repaired = taken == rare
        foul = np.where(repaired, (1.0 - mends) * foul, foul + tweak[taken])
        shake = np.where(repaired, 0.3 * shake, shake)
        flow = 2.0 * np.exp(-0.8 * np.maximum(foul, 0.0)) * (1.0 + 0.2 * np.tanh(load)) - 0.2 * np.abs(shake)
        rewards = flow - price * repaired + noise.normal(0.0, jitter, len(foul))
        foul = np.clip(foul + fouls * noise.gamma(2.0, 0.5, len(foul)) * sigmoid(load + 1.0), 0.0, 6.0)
        shake = 0.8 * shake + shakes * noise.normal(size=len(foul)) * (1.0 + 0.3 * foul)
        load = 0.7 * load + loud * noise.normal(size=len(foul))
        return np.column_stack([foul, shake, load]), rewards, unending(states)

    def usual(states: States) -> Scores:
        return floored(softmax(np.tanh(states) @ habit), 0.2)

    def with_overhauls(states: States, share: np.ndarray) -> Scores:
        return np.column_stack([usual(states) * (1.0 - share[:, None]), share])

    def behavior(states: States) -> Scores:
        return with_overhauls(states, low + (high - low) * sigmoid(states[:, 1]))

    def policy(seen: States) -> Scores:
        states = gauge.read(seen)
        return with_overhauls(states, 0.04 + (most - 0.04) * sigmoid(4.0 * (states[:, 0] - edge)))

    return World(
        horizon=horizon,
        actions=actions,
        initial=initial,
        step=step,
        behavior=behavior,
        policy=policy,
        observe=gauge.show,
        discount=float(generator.choice([1.0, 0.95])),
    )
