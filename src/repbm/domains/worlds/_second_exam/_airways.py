"""Inflamed airways of which only symptoms are seen."""

from __future__ import annotations

import numpy as np

from repbm.domains.worlds._second_exam._parts import (
    Actions,
    Columns,
    Gauge,
    Scores,
    States,
    Stepped,
    alternative,
    floored,
    sigmoid,
    softmax,
    squashed,
    unending,
    whole,
)
from repbm.domains.worlds._world import World


def half_seen_airways(generator: np.random.Generator) -> World:
    """Inflammation and allergy, in no column, drive symptoms that are; doctors too go by the symptoms alone.

    The observations are not Markov, but ratios of propensities stay valid.
    """
    symptoms, actions, horizon = whole(generator, 2, 3), whole(generator, 2, 4), whole(generator, 6, 14)
    puffs = np.linspace(0.0, 1.0, actions)
    calms, sticks = generator.uniform(0.5, 1.2), generator.uniform(0.75, 0.95)
    flares, severe = generator.uniform(0.05, 0.2), generator.uniform(0.6, 1.5)
    shows, lag = generator.uniform(0.3, 0.9, symptoms), generator.uniform(0.2, 0.7, symptoms)
    loud, burden = generator.uniform(0.2, 0.6), generator.uniform(0.2, 0.7, symptoms)
    side, lingering = generator.uniform(0.01, 0.1), generator.uniform(0.0, 0.5)
    habit, rule = generator.normal(0.4, 0.4, symptoms), generator.normal(0.5, 0.5, symptoms)
    relief = generator.uniform(0.2, 0.7)
    bias = float(generator.choice([-1.0, 1.0])) * generator.uniform(0.8, 1.8)
    gauge = Gauge.drawn(generator, symptoms, -3.0, 3.0)

    def initial(count: int, noise: np.random.Generator) -> States:
        inflamed, allergic = noise.gamma(2.0, 0.5, count), 1.0 * (noise.random(count) < 0.4)
        shown = np.outer(inflamed, shows) + noise.normal(0.0, 0.5, (count, symptoms))
        return np.column_stack([shown, inflamed, allergic])

    def step(states: States, taken: Actions, noise: np.random.Generator) -> Stepped:
        shown, inflamed, allergic = states[:, :-2], states[:, -2], states[:, -1]
        works = calms * puffs[taken] * (1.0 - 0.5 * allergic)
        flare = (noise.random(len(states)) < flares * (1.0 + allergic)) * noise.exponential(severe, len(states))
        inflamed = np.minimum(sticks * inflamed * np.exp(-works) + flare + 0.05, 5.0)
        shown = lag * shown + (1.0 - lag) * 2.0 * np.outer(inflamed, shows) - relief * puffs[taken][:, None]
        shown = squashed(shown + noise.normal(0.0, loud, shown.shape), 8.0)
        rewards = -sigmoid(shown @ burden - 1.0) - lingering * np.tanh(inflamed) - side * puffs[taken]
        return np.column_stack([shown, inflamed, allergic]), rewards, unending(states)

    def symptoms_of(states: States) -> Columns:
        return states[:, :symptoms]

    def behavior(states: States) -> Scores:
        return floored(softmax(np.outer(squashed(symptoms_of(states) @ habit - 0.5, 2.0), puffs)), 0.2)

    def preference(states: States) -> Scores:
        return np.outer(squashed(symptoms_of(states) @ rule + bias, 2.0), puffs)

    policy = alternative(generator, horizon, behavior, preference, initial(400, generator))
    return World(
        horizon=horizon,
        actions=actions,
        initial=initial,
        step=step,
        behavior=behavior,
        policy=lambda seen: policy(gauge.read(seen)),
        observe=lambda states: gauge.show(symptoms_of(states)),
    )
