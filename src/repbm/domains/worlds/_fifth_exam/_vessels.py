"""Vessels: beer that ferments, brine that runs from tank to tank, and cells that take to a fresh flask or do not."""

from __future__ import annotations

import numpy as np

from repbm.domains.worlds._fifth_exam._choices import adopting, as_usual, asked, favoring
from repbm.domains.worlds._fifth_exam._parts import (
    Codes,
    Pick,
    Result,
    Rows,
    Rule,
    at_least,
    certain,
    chance,
    columns,
    crew,
    happens,
    integer,
    leaves,
    mostly,
    never,
    sigmoid,
)
from repbm.domains.worlds._world import World


def beer_fermentation(generator: np.random.Generator) -> World:
    """A brewer cools, leaves or warms a vat in which yeast turns sugar to alcohol, and heat spoils the taste.

    Columns: sugar and alcohol (g/l), yeast (millions a ml), warmth (degrees), and hours. All of it is curved.
    """
    firm = chance(generator, 0.7)
    horizon, hours = integer(generator, 4, 7) if firm else integer(generator, 6, 12), 8.0
    speed, half = generator.uniform(0.2, 0.45), generator.uniform(15.0, 40.0)
    likes, width = generator.uniform(18.0, 21.0), generator.uniform(2.5, 4.5)
    eats, heats = generator.uniform(2.5, 4.5), generator.uniform(0.05, 0.15)
    pulls, room = generator.uniform(1.0, 2.0), generator.uniform(15.0, 20.0)
    price, spoils, power = generator.uniform(1.0, 2.0), generator.uniform(0.2, 0.8), generator.uniform(0.5, 2.0)
    loud, keen = generator.uniform(0.02, 0.07), generator.uniform(0.88, 0.93)
    middle, slack, eases = generator.normal(18.5, 1.0), generator.uniform(0.8, 1.8), generator.uniform(0.0, 0.02)
    shift = generator.uniform(0.5, 2.5) * generator.choice([-1.0, 1.0])

    def initial(count: int, noise: np.random.Generator) -> Rows:
        sugar, yeast = noise.normal(120.0, 8.0, count), noise.gamma(9.0, 1.0, count)
        return columns(sugar, np.zeros(count), yeast, noise.normal(18.0, 1.2, count), np.zeros(count))

    def step(states: Rows, taken: Codes, noise: np.random.Generator) -> Result:
        sugar, spirit, yeast, warmth, clock = states.T
        count = len(states)
        pace = speed * sugar / (half + sugar) / (1.0 + ((warmth - likes) / width) ** 2)
        used = np.minimum(eats * pace * yeast * np.exp(loud * noise.normal(size=count)), 0.95 * sugar)
        yeast = np.minimum(yeast * np.exp(pace - 0.12 - 0.003 * spirit + loud * noise.normal(size=count)), 60.0)
        spirit = spirit + 0.5 * used
        warmth = warmth + pulls * (taken - 1.0) + heats * used - 0.15 * (warmth - room)
        warmth = warmth + 0.4 * noise.normal(size=count)
        rewards = price * 0.5 * used - spoils * np.maximum(warmth - 21.0, 0.0) ** 2 - power * (taken != 1)
        return columns(sugar - used, spirit, yeast, warmth, clock + hours), rewards, never(states)

    def thermostat(at: float, tight: float, hurry: float) -> Pick:
        def pick(seen: Rows) -> Codes:
            off = seen[:, 3] - at - eases * seen[:, 4] - hurry * (seen[:, 0] < 60.0)
            return 1 + (off < -tight).astype(np.int64) - (off > tight)

        return pick

    brewers = middle + generator.normal(0.0, 0.5, 3)
    usual = crew([mostly(thermostat(at, slack, 0.0), 3, keen) for at in brewers], generator.dirichlet(np.full(3, 3.0)))

    def change(size: float) -> Rule:
        moved = certain(thermostat(brewers.mean() + size * shift, slack * (1.0 - 0.3 * size), size), 3)
        return moved if firm else adopting(usual, moved)(0.8)

    return asked(as_usual(horizon, usual, initial, step), change, generator, 0.08, 0.15 if firm else 0.6)


def brine_tanks(generator: np.random.Generator) -> World:
    """Brine runs down a row of tanks; a valve is set every quarter of an hour. There is next to no noise in it.

    Columns: levels (m) and salt (kg/l, in thousandths) of each tank. Rewards: salt got out, less what spills over.
    """
    firm = chance(generator, 0.7)
    tanks, actions = integer(generator, 2, 3), integer(generator, 2, 5)
    horizon = integer(generator, 4, 8 - actions // 2) if firm else integer(generator, 6, 12)
    opens = np.linspace(0.0, 1.0, actions) * generator.uniform(0.3, 0.5)
    drains, salty = generator.uniform(0.12, 0.25, tanks), generator.uniform(0.03, 0.06)
    brim, dries = generator.uniform(1.0, 1.3), generator.uniform(1.02, 1.08, tanks)
    worth, fine, tiny = generator.uniform(50.0, 150.0), generator.uniform(6.0, 25.0), generator.uniform(0.0, 3e-4)
    aim, keen = generator.uniform(0.6, 1.1), generator.uniform(0.88, 0.96)
    shift, tilt = generator.uniform(0.2, 0.7) * generator.choice([-1.0, 1.0]), generator.normal(0.0, 4.0)

    def initial(count: int, noise: np.random.Generator) -> Rows:
        return columns(noise.uniform(0.3, 1.3, (count, tanks)), noise.uniform(0.01, 0.05, (count, tanks)))

    def step(states: Rows, taken: Codes, noise: np.random.Generator) -> Result:
        level, salt = states[:, :tanks], states[:, tanks:]
        out = np.minimum(drains * np.sqrt(level), 0.8 * level)
        inflow, brought = np.empty_like(level), np.empty_like(salt)
        inflow[:, 0], brought[:, 0] = opens[taken], salty
        inflow[:, 1:], brought[:, 1:] = out[:, :-1], salt[:, :-1]
        left = level - out
        salt = (left * salt * dries + inflow * brought) / (left + inflow + 1e-9)
        salt = np.clip(salt + tiny * 0.01 * noise.normal(size=salt.shape), 0.0, 0.3)
        level = left + inflow + tiny * noise.normal(size=level.shape)
        spilt = np.maximum(level - brim, 0.0).sum(axis=1)
        level = np.clip(level, 0.02, brim)
        rewards = worth * out[:, -1] * states[:, -1] - fine * spilt - 0.2 * opens[taken]
        return columns(level, salt), rewards, never(states)

    def valve(at: float, lean: float) -> Pick:
        def pick(seen: Rows) -> Codes:
            want = (at - seen[:, 0]) + 0.5 * (at - seen[:, tanks - 1]) + lean * (seen[:, -1] - 0.03)
            return np.clip(np.floor(actions * (0.5 + 0.6 * want)), 0, actions - 1).astype(np.int64)

        return pick

    keen, shifts = min(keen, 1.0 - 0.035 * (actions - 1)), aim + generator.normal(0.0, 0.1, 3)
    usual = crew([mostly(valve(at, 0.0), actions, keen) for at in shifts], generator.dirichlet(np.full(3, 3.0)))

    def change(size: float) -> Rule:
        moved = certain(valve(shifts.mean() + size * shift, size * tilt), actions)
        return moved if firm else adopting(usual, moved)(0.7)

    return asked(as_usual(horizon, usual, initial, step), change, generator, 0.08, 0.15 if firm else 0.6)


def cell_passages(generator: np.random.Generator) -> World:
    """At every passage cells take to the fresh flask and multiply, or stall: noise with two modes, far apart.

    Columns: cells (log10), lactate (mmol/l), share alive, and the passage. Rewards: thousandths of a gram of product.
    """
    actions, horizon = integer(generator, 2, 3), integer(generator, 4, 10)
    rich = np.linspace(0.0, 1.0, actions)
    up, down = generator.uniform(0.25, 0.45), generator.uniform(0.25, 0.5)
    taking, sours, feeds = generator.uniform(0.5, 1.5), generator.uniform(0.08, 0.2), generator.uniform(0.6, 1.6)
    narrow, makes = generator.uniform(0.02, 0.06), generator.uniform(0.5e-3, 2e-3)
    cost = generator.uniform(0.1, 0.6) * makes
    days = generator.dirichlet(np.full(actions, 1.2), 6)
    soured = generator.uniform(9.0, 13.0)
    least, eager = generator.uniform(0.05, 0.1), chance(generator)

    def initial(count: int, noise: np.random.Generator) -> Rows:
        parts = noise.normal(6.0, 0.25, count), noise.gamma(8.0, 1.0, count), noise.beta(18.0, 2.0, count)
        return columns(*parts, np.zeros(count))

    def step(states: Rows, taken: Codes, noise: np.random.Generator) -> Result:
        cells, lactate, alive, passage = states.T
        count, food = len(states), rich[taken]
        takes = taking + feeds * food * (1.0 - 1.6 * (lactate > 12.0)) - sours * (lactate - 8.0) + 6.0 * (alive - 0.9)
        took = happens(sigmoid(takes), noise)
        cells = cells + np.where(took, up + 0.15 * food, -down) * (1.0 - 0.4 * np.maximum(cells - 6.5, 0.0))
        cells = np.clip(cells + narrow * noise.normal(size=count), 4.0, 8.0)
        lactate = np.clip(0.5 * lactate + 2.0 + 3.5 * food + took * 1.5 + 0.8 * noise.normal(size=count), 0.5, 30.0)
        alive = alive + np.where(took, 0.35 * (0.97 - alive), -0.08) - 0.004 * np.maximum(lactate - 10.0, 0.0)
        alive = np.clip(alive + 0.01 * noise.normal(size=count), 0.2, 1.0)
        rewards = makes * 10.0 ** (cells - 6.0) * alive - cost * food
        return columns(cells, lactate, alive, passage + 1.0), rewards, never(states)

    def rota(seen: Rows) -> Codes:
        return 2 * (seen[:, 3].astype(np.int64) % 3) + (seen[:, 1] > soured)

    def wise(seen: Rows) -> Codes:
        feed = (seen[:, 1] < (10.0 if eager else 7.0)) | ((seen[:, 2] < 0.8) & (seen[:, 1] < 12.0))
        return np.where(feed, actions - 1, 0)

    usual = at_least(leaves(rota, days), least)
    change = favoring(usual, certain(wise, actions), 5.0)
    return asked(as_usual(horizon, usual, initial, step), change, generator)
