"""A field over a season."""

from __future__ import annotations

import numpy as np

from repbm.domains.worlds._second_exam._parts import (
    Actions,
    Scores,
    States,
    Stepped,
    alternative,
    floored,
    softmax,
    unending,
    whole,
)
from repbm.domains.worlds._world import World


def season_irrigation(generator: np.random.Generator) -> World:
    """A field is watered day by day through 60 to 150 days of weather; crops like neither drought nor wet feet.

    Columns: soil moisture in per cent, temperature, the day, millimetres of rain today.
    """
    actions, horizon = whole(generator, 2, 4), whole(generator, 60, 150)
    water = np.linspace(0.0, generator.uniform(0.12, 0.25), actions)
    dries, rains = generator.uniform(0.04, 0.09), generator.uniform(0.1, 0.25)
    shower, price = generator.uniform(0.05, 0.15), generator.uniform(0.3, 1.0)
    aim, wide = generator.uniform(0.4, 0.6), generator.uniform(0.12, 0.25)
    warm, kept = generator.uniform(0.3, 0.8), generator.uniform(0.6, 0.9)
    eager, unit = generator.uniform(2.0, 8.0), 10.0 ** generator.uniform(-1.0, 2.0)
    target = aim + generator.uniform(-0.1, 0.1)

    def initial(count: int, noise: np.random.Generator) -> States:
        soil, heat = noise.beta(4.0, 5.0, count), noise.normal(0.0, 0.5, count)
        return np.column_stack([soil, heat, np.zeros(count), np.zeros(count)])

    def step(states: States, taken: Actions, noise: np.random.Generator) -> Stepped:
        soil, heat, day, _ = states.T
        count = len(states)
        rain = (noise.random(count) < rains) * noise.exponential(shower, count)
        season = np.sin(np.pi * day / horizon)
        lost = dries * soil * np.exp(0.4 * heat + warm * season) * 2.0
        soil = np.clip(soil + water[taken] + rain - lost, 0.0, 1.0)
        growth = np.exp(-(((soil - aim) / wide) ** 2)) * (0.3 + season)
        heat = kept * heat + 0.4 * noise.normal(size=count) - 0.5 * (rain > 0.0)
        rewards = unit * (growth - price * water[taken])
        return np.column_stack([soil, heat, day + 1.0, rain]), rewards, unending(states)

    scale = np.array([100.0, 8.0, 1.0, 100.0])
    shift = np.array([0.0, 18.0, 0.0, 0.0])

    def behavior(states: States) -> Scores:
        return floored(softmax(np.outer(eager * (0.35 - states[:, 0]) - 1.0, water / water[-1])), 0.15)

    def preference(states: States) -> Scores:
        wished = np.clip(target - states[:, 0] + dries, 0.0, water[-1])
        return -np.abs(wished[:, None] - water)

    policy = alternative(generator, horizon, behavior, preference, initial(400, generator))
    return World(
        horizon=horizon,
        actions=actions,
        initial=initial,
        step=step,
        behavior=behavior,
        policy=lambda seen: policy((seen - shift) / scale),
        observe=lambda states: states * scale + shift,
        discount=float(generator.choice([1.0, 0.995, 0.99])),
    )
