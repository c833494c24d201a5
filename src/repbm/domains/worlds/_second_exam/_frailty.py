"""A clinic where doctors see more than they write down."""

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
    squashed,
    unending,
    whole,
)
from repbm.domains.worlds._world import World


def unseen_frailty(generator: np.random.Generator) -> World:
    """Frail patients are treated more and fare worse, and frailty is in no column: the log cannot tell the two apart.

    Frailty is the last component of the state; it drives the behavior and the outcomes. Propensities, which would
    give it away, are missing.
    """
    signs, actions, horizon = whole(generator, 2, 4), whole(generator, 2, 3), whole(generator, 5, 10)
    strength = np.linspace(0.0, 1.0, actions)
    heals, harm = generator.uniform(0.5, 1.0, signs), generator.uniform(0.0, 0.15)
    kept, worse = generator.uniform(0.7, 0.9, signs), generator.uniform(0.2, 0.5, signs)
    toll, swayed = generator.uniform(0.8, 1.6), generator.uniform(1.5, 2.5)
    stays, loud = generator.uniform(0.9, 1.0), generator.uniform(0.2, 0.5)
    weights, habit = generator.uniform(0.2, 0.8, signs), generator.normal(0.3, 0.3, signs)
    rule, lean = generator.normal(0.3, 0.4, signs), float(generator.choice([-1.0, 1.0])) * generator.uniform(0.9, 1.6)
    gauge = Gauge.drawn(generator, signs, -2.0, 4.0)

    def initial(count: int, noise: np.random.Generator) -> States:
        frailty = noise.normal(size=(count, 1))
        return np.column_stack([noise.normal(size=(count, signs)) + 0.2 * frailty, frailty])

    def step(states: States, taken: Actions, noise: np.random.Generator) -> Stepped:
        shown, frailty = states[:, :-1], states[:, -1]
        given = strength[taken][:, None]
        following = kept * shown + worse * np.tanh(frailty)[:, None] - heals * given
        following = squashed(following + noise.normal(0.0, loud, shown.shape), 6.0)
        rewards = 1.0 - sigmoid(following @ weights + toll * frailty) - harm * given[:, 0] * sigmoid(frailty)
        frailty = stays * frailty + np.sqrt(1.0 - stays**2) * noise.normal(size=len(states))
        return np.column_stack([following, frailty]), rewards, unending(states)

    def behavior(states: States) -> Scores:
        wish = squashed(states[:, :-1] @ habit + swayed * states[:, -1], 3.0)
        return floored(softmax(np.outer(wish, strength)), 0.1)

    def policy(seen: States) -> Scores:
        wish = squashed(gauge.read(seen) @ rule + lean, 3.0)
        return floored(softmax(np.outer(wish, strength)), 0.1)

    return World(
        horizon=horizon,
        actions=actions,
        initial=initial,
        step=step,
        behavior=behavior,
        policy=policy,
        observe=lambda states: gauge.show(states[:, :-1]),
        propensities=False,
        answerable=False,
    )
