"""What nobody wrote down: inspectors who hear that a bridge is rotten inside."""

from __future__ import annotations

import numpy as np

from repbm.domains.worlds._customs import leaning, soft
from repbm.domains.worlds._drawing import with_a_hidden_cause
from repbm.domains.worlds._rows import Choice, Grid, Moved, Signs, Table, nobody, sign, table, weighed, whole
from repbm.domains.worlds._world import World


@with_a_hidden_cause
def bridge_inspections(generator: np.random.Generator) -> World:
    """A bridge is left, patched, or (in some worlds) closed and repaired, year by year. Inspectors knock on the beams
    and hear how rotten they are, which also costs later; they do more the worse it sounds. No column holds it, and the
    log has no propensities: what a rule for all bridges would cost, cannot be told from it. Who adjusts for all that
    is seen, is wrong by 4 to 8 standard errors of the mean of 1,000 episodes.

    Seen: cracks (mm), loads (tons a day), rust that shows (percent), and the year. Not seen: rot inside, which stays
    and grows slowly. Rewards: thousands spent, below 0. Effective episodes of 1,000, were its odds logged: 60 to 370.
    """
    horizon, actions = whole(generator, 4, 7), whole(generator, 2, 3)
    works = np.linspace(0.0, 1.0, actions)
    ruins, wears = generator.uniform(20.0, 30.0), generator.uniform(3.0, 8.0)
    helps, fee = generator.uniform(0.0, 12.0), generator.uniform(5.0, 20.0)
    stays, mends = generator.uniform(0.85, 0.97), generator.uniform(0.0, 0.25)
    hears, shows = generator.uniform(0.28, 0.5), generator.uniform(0.05, 0.3)
    loud, heeds = generator.uniform(30.0, 55.0), generator.normal(0.0, 0.3, 3)
    least, asks, turn = generator.uniform(0.05, 0.09), generator.uniform(0.8, 1.4), sign(generator)
    whims, hears = generator.normal(0.0, 0.3, 3), hears * (1.0 if actions == 2 else 1.3)

    def initial(count: int, noise: np.random.Generator) -> Table:
        rot = noise.normal(size=count)
        cracks, rust = noise.gamma(4.0, 0.5, count), noise.normal(20.0, 6.0, count) + 6.0 * shows * rot
        return table(cracks, noise.normal(900.0, 200.0, count), rust, np.zeros(count), rot)

    def step(states: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        cracks, loads, rust, year, rot = states.T
        count, work = len(states), works[taken]
        worn = wears * cracks * (0.5 + 0.5 * loads / 900.0)
        rewards = -100.0 - ruins * np.clip(rot, -3.0, 3.0) - worn + helps * work - fee * work
        rewards = np.minimum(rewards + loud * noise.normal(size=count), 0.0)
        cracks = np.clip(cracks * (1.0 - 0.4 * work) + noise.gamma(2.0, 0.2, count), 0.0, 12.0)
        rot = stays * rot - mends * work + np.sqrt(1.0 - stays**2) * noise.normal(size=count)
        rust = 20.0 + 0.7 * (rust - 20.0) + 3.0 * shows * rot + 4.0 * noise.normal(size=count)
        loads = 900.0 + 0.8 * (loads - 900.0) + 120.0 * noise.normal(size=count)
        return table(cracks, loads, rust, year + 1.0, rot), rewards, nobody(states)

    def signs(seen: Table) -> Signs:
        scaled = np.column_stack([seen[:, 0] - 2.0, (seen[:, 1] - 900.0) / 200.0, (seen[:, 2] - 20.0) / 6.0])
        return np.clip(scaled, -2.0, 2.0)

    def behavior(states: Table) -> Grid:
        heard = hears * np.clip(states[:, 4], -2.5, 2.5)
        return soft(lambda seen: 2.0 * np.outer(weighed(signs(seen), heeds) + heard, works), least)(states)

    blind = soft(lambda seen: 2.0 * np.outer(weighed(signs(seen), heeds), works), least)
    policy = leaning(blind, lambda seen: np.outer(turn + weighed(signs(seen), whims), works), asks)(1.0)
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
