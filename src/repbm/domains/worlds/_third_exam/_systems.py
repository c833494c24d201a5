"""Systems that are steered: pools of a canal, a colony of bees, machines of a computing center."""

from __future__ import annotations

import numpy as np

from repbm.domains.worlds._third_exam._decisions import (
    asked,
    ladder,
    leanings,
    seen_whole,
    shifted,
    slip_of,
    weighing,
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
    sign,
    within,
)
from repbm.domains.worlds._world import World


def canal_levels(generator: np.random.Generator) -> World:
    """Water runs from pool to pool; settings of the gates move the levels. Linear with much noise."""
    pools, actions, horizon = count_of(generator, 1, 5), count_of(generator, 3, 5), count_of(generator, 5, 14)
    stays = generator.uniform(0.45, 0.9, pools)
    passing = np.diag(stays) + np.diag(0.7 * (1.0 - stays[:-1]), -1)
    gates = generator.uniform(-0.6, 0.6, (actions, pools))
    rain, waves, errors = generator.normal(0.0, 0.15, pools), generator.uniform(0.3, 0.7), generator.uniform(0.2, 1.0)
    worth, bend = generator.normal(0.0, 0.6, pools), generator.uniform(0.0, 0.4) * either(generator, 0.6)
    wage, custom = generator.exponential(0.15, actions), generator.normal(0.0, 0.6, (pools, actions))
    dress = Dress.drawn(generator, pools)

    def initial(count: int, noise: np.random.Generator) -> States:
        return noise.normal(0.0, 1.0, (count, pools))

    def step(states: States, taken: Taken, noise: np.random.Generator) -> Outcome:
        following = states @ passing.T + gates[taken] + rain + waves * noise.normal(size=states.shape)
        rewards = following @ worth - bend * (following**2).sum(axis=1) - wage[taken]
        return following, rewards + errors * noise.normal(size=len(states)), going_on(states)

    def wish(levels: Sights) -> Chances:
        expected = (levels @ passing.T + rain)[:, None, :] + gates
        return 1.5 * (expected @ worth - bend * (expected**2).sum(axis=2) - wage)

    usual = weighing(lambda levels: within(levels @ custom, 2.0), generator.uniform(0.05, 0.2))
    world = seen_whole(horizon, actions, initial, step, usual, dress, float(generator.choice([1.0, 0.95])))
    return asked(world, dress, leanings(usual, wish), generator, 0.1, 0.6)


def bee_colony(generator: np.random.Generator) -> World:
    """Bees gather honey in season while mites multiply; treatment kills mites and stresses bees. All of it smooth.

    Components: logarithms of the bees and of the mites, stores, and the week.
    """
    actions, horizon = count_of(generator, 2, 3), count_of(generator, 8, 16)
    strength = np.linspace(0.0, 1.0, actions)
    breeds, crowd = generator.uniform(0.2, 0.5), generator.uniform(1.5, 3.0)
    multiplies, kills = generator.uniform(0.15, 0.4), generator.uniform(0.8, 2.0)
    toll, stress = generator.uniform(0.3, 0.8), generator.uniform(0.03, 0.2)
    yields, eats, price = generator.uniform(1.0, 3.0), generator.uniform(0.1, 0.3), generator.uniform(0.02, 0.3)
    peak, wide = generator.uniform(0.2, 0.8) * horizon, generator.uniform(0.2, 0.5) * horizon
    weather, strays = generator.uniform(0.05, 0.2), generator.uniform(0.1, 0.4)
    cuts = np.sort(generator.normal(0.6, 0.6, actions - 1))
    dress = Dress.drawn(generator, 4)

    def initial(count: int, noise: np.random.Generator) -> States:
        bees, mites = noise.normal(0.0, 0.4, count), noise.normal(0.0, 0.8, count)
        return np.column_stack([bees, mites, noise.gamma(2.0, 0.5, count), np.zeros(count)])

    def step(states: States, taken: Taken, noise: np.random.Generator) -> Outcome:
        bees, mites, stores, week = states.T
        given, count = strength[taken], len(states)
        bloom = np.exp(-(((week - peak) / wide) ** 2))
        load = np.exp(mites) / (2.0 + np.exp(mites))
        honey = yields * bloom * np.exp(bees) / (1.0 + np.exp(bees)) * (1.0 - 0.4 * load)
        hungry = np.exp(-2.0 * stores)
        bees = bees + breeds * (1.0 - np.exp(bees) / crowd) - toll * load - stress * given - 0.2 * hungry
        mites = mites + multiplies * (1.0 + 0.3 * np.tanh(bees)) - kills * given
        stores = np.maximum(0.7 * stores + 0.5 * honey - eats * np.exp(within(bees, 1.5)), 0.0)
        bees = within(bees + weather * noise.normal(size=count), 4.0)
        mites = within(mites + strays * noise.normal(size=count), 5.0)
        rewards = honey * np.exp(0.2 * noise.normal(size=count)) - price * given
        return np.column_stack([bees, mites, stores, week + 1.0]), rewards, going_on(states)

    def worry(sights: Sights) -> Numbers:
        return sights[:, 1] + 0.3 * sights[:, 0]

    usual = ladder(worry, cuts, width_of(generator, horizon), slip_of(generator, horizon, 0.4, 0.8))
    world = seen_whole(horizon, actions, initial, step, usual, dress)
    moved = generator.uniform(0.2, 0.6) * sign(generator)
    return asked(world, dress, shifted(worry, cuts, moved), generator, 0.06, 0.4)


def server_rooms(generator: np.random.Generator) -> World:
    """Machines are switched off, kept or switched on, while work comes in by the hour of the day, for 50 to 100 steps.

    Components: machines that run, work that waits, work that comes in, and the hour as a sine and a cosine.
    """
    actions, horizon = 3, count_of(generator, 50, 100)
    most, day = count_of(generator, 6, 14), count_of(generator, 12, 24)
    tide, burst = generator.uniform(0.2, 0.6), generator.uniform(0.1, 0.4)
    keeps, speed = generator.uniform(0.5, 0.9), generator.uniform(0.8, 1.4)
    power, waiting = generator.uniform(0.1, 0.4), generator.uniform(0.2, 0.8)
    turn, heat = 2.0 * np.pi / day, generator.uniform(0.6, 1.4)
    eager, weary = generator.uniform(0.2, 0.8), generator.uniform(0.4, 1.0)
    dress = Dress.drawn(generator, 5)

    def initial(count: int, noise: np.random.Generator) -> States:
        hour = noise.integers(0, day, count) * turn
        running, coming = noise.integers(1, most, count), 0.5 * most * np.exp(burst * noise.normal(size=count))
        return np.column_stack([running, noise.exponential(1.0, count), coming, np.sin(hour), np.cos(hour)])

    def step(states: States, taken: Taken, noise: np.random.Generator) -> Outcome:
        running, waits, coming, sine, cosine = states.T
        running = np.clip(running + taken - 1.0, 1.0, most)
        total = waits + coming
        done = np.minimum(total, speed * running)
        waits = np.minimum(0.9 * (total - done), 3.0 * most)
        rewards = done - power * running - waiting * np.sqrt(waits + 0.01)
        level = np.log(0.5 * most) + tide * sine
        coming = np.exp(keeps * np.log(coming) + (1.0 - keeps) * level + burst * noise.normal(size=len(states)))
        coming = np.minimum(coming, 3.0 * most)
        hour = np.cos(turn) * np.column_stack([sine, cosine]) + np.sin(turn) * np.column_stack([cosine, -sine])
        return np.column_stack([running, waits, coming, hour]), rewards, going_on(states)

    def need(sights: Sights, ahead: float) -> Numbers:
        running, waits, coming, sine, _ = sights.T
        return (coming + eager * waits) / speed + ahead * most * 0.2 * sine - weary * running

    def custom(sights: Sights) -> Chances:
        return np.outer(within(heat * need(sights, 0.0), 2.0), [-1.0, 0.0, 1.0]) * 0.8

    def wish(sights: Sights) -> Chances:
        return np.outer(np.tanh(need(sights, 0.7) - 0.5), [-1.0, 0.0, 1.0])

    usual = weighing(custom, generator.uniform(0.1, 0.25))
    world = seen_whole(horizon, actions, initial, step, usual, dress, float(generator.choice([1.0, 0.98, 0.95])))
    rules = leanings(usual, wish) if either(generator, 0.7) else leanings(usual, lambda sights: -wish(sights))
    return asked(world, dress, rules, generator, 0.04, 0.3)
