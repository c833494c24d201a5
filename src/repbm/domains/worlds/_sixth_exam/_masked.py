"""What nobody wrote down: nurses who smell that a wound is infected."""

from __future__ import annotations

import numpy as np

from repbm.domains.worlds._sixth_exam._parts import (
    Choice,
    Grid,
    Moved,
    Table,
    Vector,
    leaning,
    no_end,
    soft,
    table,
    whole,
)
from repbm.domains.worlds._world import World


def wound_dressing(generator: np.random.Generator) -> World:
    """Nurses smell germs in a wound and dress it with silver or honey the more; germs also keep it open. They are in no
    column, and the log has no propensities: what a rule for all wounds would do cannot be told from it.

    Seen: area (cm2), exudate, pain, and the day. Not seen: germs, which last.
    """
    horizon, actions = whole(generator, 4, 7), whole(generator, 2, 3)
    strong = np.linspace(0.0, 1.0, actions)
    heals, keeps_open = generator.uniform(0.08, 0.15), generator.uniform(0.045, 0.06)
    cleans, lasts = generator.uniform(0.0, 0.3), generator.uniform(0.9, 0.98)
    shows, smells = generator.uniform(0.1, 0.4), generator.uniform(0.55, 0.7)
    aids, fee = generator.uniform(-0.02, 0.04), generator.uniform(0.1, 0.5)
    loud, heeds = generator.uniform(0.1, 0.18), generator.normal(0.0, 0.3, 3)
    smells = smells * (0.85 if actions == 2 else 1.05)
    least, turn = generator.uniform(0.05, 0.09), generator.choice([-1.0, 1.0])
    asks = generator.uniform(1.4, 1.9)

    def initial(count: int, noise: np.random.Generator) -> Table:
        germs = noise.normal(size=count)
        area, pain = noise.gamma(12.0, 1.0, count), noise.normal(4.0, 1.5, count)
        return table(area, noise.normal(size=count) + shows * germs, pain, np.zeros(count), germs)

    def step(states: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        area, exudate, pain, day, germs = states.T
        count, dose = len(states), strong[taken]
        rate = heals - keeps_open * germs + dose * (aids + 0.02 * np.tanh(exudate)) + loud * noise.normal(size=count)
        smaller = np.clip(area * np.exp(-rate), 0.05, 120.0)
        rewards = (area - smaller) - fee * dose - 0.1 * (pain - 4.0)
        germs = lasts * germs - cleans * dose + np.sqrt(1.0 - lasts**2) * noise.normal(size=count)
        exudate = 0.5 * exudate + shows * germs + 0.8 * noise.normal(size=count)
        pain = np.clip(4.0 + 0.6 * (pain - 4.0) + 0.1 * germs + noise.normal(size=count), 0.0, 10.0)
        return table(smaller, exudate, pain, day + 1.0, germs), rewards, no_end(states)

    def urge(seen: Table) -> Vector:
        scaled = np.column_stack([(seen[:, 0] - 12.0) / 6.0, seen[:, 1], (seen[:, 2] - 4.0) / 1.5])
        return np.clip(scaled, -2.0, 2.0) @ heeds

    def behavior(states: Table) -> Grid:
        smelt = smells * np.clip(states[:, 4], -2.5, 2.5)
        return soft(lambda seen: 2.0 * np.outer(urge(seen) + smelt, strong), least)(states)

    blind = soft(lambda seen: 2.0 * np.outer(urge(seen), strong), least)
    policy = leaning(blind, lambda seen: np.outer(turn + 0.2 * np.tanh(seen[:, 1]), strong), asks)(1.0)
    return World(
        horizon,
        actions,
        initial,
        step,
        behavior=behavior,
        policy=policy,
        observe=lambda states: states[:, :4],
        propensities=False,
        answerable=False,
    )
