"""Limits: bad air that is fined beyond one, and a mountain road that is seldom closed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from repbm.domains.worlds._third_exam._decisions import (
    asked,
    ladder,
    leanings,
    seen_whole,
    sharings,
    shifted,
    slip_of,
    width_of,
)
from repbm.domains.worlds._third_exam._parts import (
    Chances,
    Dress,
    Numbers,
    Outcome,
    Sights,
    States,
    Taken,
    count_of,
    either,
    going_on,
    logistic,
    sign,
    soft,
)
from repbm.domains.worlds._world import World


def air_alerts(generator: np.random.Generator) -> World:
    """A city restrains traffic on bad days; it is fined by steps where the air of a day passes limits.

    Components: logarithm of the dust, wind, cold, the weekday, and whether it is of a weekend.
    The log does not say how probable its actions were.
    """
    actions, horizon = count_of(generator, 2, 3), count_of(generator, 5, 12)
    severity = np.linspace(0.0, 1.0, actions)
    sticks, blows = generator.uniform(0.3, 0.7), generator.uniform(0.2, 0.5)
    stoves, works = generator.uniform(0.1, 0.3), generator.uniform(0.6, 1.8)
    loud, gusts = generator.uniform(0.15, 0.4), generator.uniform(0.5, 0.9)
    limits = np.sort(generator.uniform(0.0, 1.4, count_of(generator, 1, 3)))
    fines, cost = generator.uniform(0.5, 2.0, len(limits)), generator.uniform(0.2, 1.2)
    cuts = np.sort(generator.normal(0.5, 0.5, actions - 1))
    forecast = generator.uniform(0.2, 0.6)
    dress = Dress.drawn(generator, 5)

    def initial(count: int, noise: np.random.Generator) -> States:
        weekday = noise.integers(0, 7, count).astype(np.float64)
        air = noise.normal(0.0, 1.0, (count, 3)) * [0.6, 1.0, 1.0]
        return np.column_stack([air, weekday, weekday >= 5.0])

    def step(states: States, taken: Taken, noise: np.random.Generator) -> Outcome:
        dust, wind, cold, weekday, idle = states.T
        count, eased = len(states), severity[taken]
        traffic = (0.6 - 0.4 * idle) * (1.0 - works * eased) - 0.2
        dust = (
            sticks * dust + traffic + stoves * cold - blows * np.maximum(wind, -0.5) + loud * noise.normal(size=count)
        )
        rewards = 0.3 - (dust[:, None] > limits) @ fines - cost * eased * (1.0 - 0.6 * idle)
        wind = gusts * wind + np.sqrt(1.0 - gusts**2) * noise.normal(size=count)
        cold = 0.9 * cold + 0.43 * noise.normal(size=count)
        weekday = (weekday + 1.0) % 7.0
        return np.column_stack([dust, wind, cold, weekday, weekday >= 5.0]), rewards, going_on(states)

    def alarm(sights: Sights) -> Numbers:
        return sights[:, 0] - forecast * sights[:, 1] - 0.3 * sights[:, 4]

    usual = ladder(alarm, cuts, width_of(generator, horizon), slip_of(generator, horizon, 0.4, 0.8))
    world = seen_whole(horizon, actions, initial, step, usual, dress)
    rules = shifted(alarm, cuts, generator.uniform(0.2, 0.5) * sign(generator))
    return replace(asked(world, dress, rules, generator, 0.06, 0.4), propensities=False)


def avalanche_road(generator: np.random.Generator) -> World:
    """A pass is open, open with convoys, or closed, which it seldom was; an avalanche on traffic costs much.

    Components: depth of snow, fresh snow, warmth, drift.
    """
    actions, horizon = count_of(generator, 2, 3), count_of(generator, 4, 8)
    shut = np.linspace(0.0, 1.0, actions)
    settles, falls = generator.uniform(0.7, 0.95), generator.uniform(0.3, 0.8)
    weigh = generator.uniform(0.3, 1.0, 4)
    base, disaster = generator.uniform(-4.5, -3.0), generator.uniform(6.0, 20.0)
    traffic, clearing = generator.uniform(0.6, 1.2), generator.uniform(0.0, 0.3)
    seldom, heed = generator.uniform(-4.2, -3.0), generator.uniform(0.2, 0.6)
    danger_cut = generator.uniform(0.6, 1.4)
    dress = Dress.drawn(generator, 4)

    def initial(count: int, noise: np.random.Generator) -> States:
        depth, fresh = noise.gamma(3.0, 0.4, count), noise.exponential(falls, count) * (noise.random(count) < 0.5)
        return np.column_stack([depth, fresh, noise.normal(size=(count, 2))])

    def danger(sights: Sights) -> Numbers:
        return (sights * weigh).sum(axis=1) - weigh[0]

    def step(states: States, taken: Taken, noise: np.random.Generator) -> Outcome:
        depth, fresh, warmth, drift = states.T
        count, closed = len(states), shut[taken]
        slides = noise.random(count) < logistic(base + 1.2 * danger(states))
        hit = slides & (noise.random(count) < 1.0 - closed)
        rewards = traffic * (1.0 - closed) - clearing * slides - disaster * hit + 0.1 * noise.normal(size=count)
        depth = np.where(slides, 0.5 * depth, settles * depth + 0.5 * fresh)
        warmth = 0.7 * warmth + 0.7 * noise.normal(size=count)
        drift = 0.6 * drift + 0.8 * noise.normal(size=count)
        storm = noise.random(count) < logistic(-0.3 + 0.5 * drift)
        fresh = storm * noise.exponential(falls, count) * (warmth < 1.5)
        return np.column_stack([np.minimum(depth, 8.0), fresh, warmth, drift]), rewards, going_on(states)

    def usual(sights: Sights) -> Chances:
        urge = np.minimum(seldom + heed * danger(sights), -1.5)
        return soft(np.outer(urge, shut))

    def wish(sights: Sights) -> Chances:
        return np.outer(1.5 * np.tanh(danger(sights) - danger_cut), shut)

    world = seen_whole(horizon, actions, initial, step, usual, dress)
    closing = ladder(danger, np.linspace(danger_cut, danger_cut + 0.8, actions - 1))
    rules = leanings(usual, wish) if either(generator) else sharings(usual, closing)
    return asked(world, dress, rules, generator, 0.04, 0.4)
