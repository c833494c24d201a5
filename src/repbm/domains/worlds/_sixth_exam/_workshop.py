"""Workshops and stores: pots that are glazed, grain that keeps or rots, and trees beside power lines."""

from __future__ import annotations

import numpy as np

from repbm.domains.worlds._sixth_exam._parts import (
    Choice,
    Custom,
    Grid,
    Moved,
    Table,
    Vector,
    chosen,
    codes,
    firm,
    flip,
    leaning,
    loose,
    no_end,
    occurs,
    rise,
    soft,
    table,
    toward,
    tuned,
    whole,
)
from repbm.domains.worlds._world import World


def kiln_glaze(generator: np.random.Generator) -> World:
    """A pot is fired once, by one of three to five schedules; how it shines goes up and down with its glaze.

    Columns: iron in the clay (percent), thickness of the glaze (mm), shelf of the kiln (a code), humidity, and days
    that the pot has dried. Rewards: what it sells for, or what a cracked one costs.
    """
    actions, shelves = whole(generator, 3, 5), whole(generator, 4, 8)
    shine, pace = generator.uniform(0.3, 0.6), generator.uniform(3.0, 7.0, actions)
    phase, misread = generator.uniform(0.0, 2.0 * np.pi, actions), generator.uniform(0.3, 1.2)
    suits = generator.normal(0.0, 0.25, (shelves, actions))
    rusty, thick = generator.uniform(1.8, 3.2), generator.uniform(0.9, 1.5)
    clash, cracks = generator.normal(0.0, 0.4, actions), generator.uniform(0.02, 0.2, actions)
    price, waste = generator.uniform(15.0, 80.0), generator.uniform(10.0, 60.0)
    habits, tastes = generator.normal(0.0, 0.6, (3, actions)), generator.normal(0.0, 0.4, actions)
    least, loud = generator.uniform(0.05, 0.09), generator.uniform(0.2, 0.5)

    def initial(count: int, noise: np.random.Generator) -> Table:
        iron, glaze = noise.gamma(6.0, 0.4, count), noise.uniform(0.3, 2.2, count)
        shelf = noise.integers(shelves, size=count)
        return table(iron, glaze, shelf, noise.uniform(30.0, 80.0, count), noise.poisson(5.0, count))

    def shines(seen: Table, shift: float) -> Grid:
        iron, glaze, shelf = seen[:, 0], seen[:, 1], codes(seen[:, 2])
        odd = (iron > rusty) ^ (glaze > thick)
        return shine * np.sin(glaze[:, None] * pace + phase + shift) + suits[shelf] + np.outer(odd, clash)

    def step(states: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        count = len(states)
        pretty = chosen(shines(states, 0.0), taken) + loud * noise.normal(size=count)
        wet = (states[:, 3] > 60.0) & (states[:, 4] < 5.0)
        cracked = occurs(cracks[taken] * (1.0 + 1.5 * wet), noise)
        rewards = np.where(cracked, -waste, price * np.exp(np.minimum(pretty, 2.0)))
        return states, rewards, np.ones(count, dtype=bool)

    def likes(seen: Table) -> Grid:
        scaled = np.column_stack([seen[:, 0] - 2.4, 2.0 * (seen[:, 1] - 1.2), (seen[:, 3] - 55.0) / 15.0])
        return np.clip(scaled, -2.0, 2.0) @ habits + tastes

    def master(seen: Table) -> Choice:
        return shines(seen, misread).argmax(axis=1)

    usual = soft(likes, least)
    return World(1, actions, initial, step, behavior=usual, policy=firm(master, actions))


def grain_silo(generator: np.random.Generator) -> World:
    """Grain in a silo is left, blown through or (in some) blown through warm, every day of 20 to 40. Where it is warm
    and moist, mould grows; from some point on it heats itself, and stops only when it is cold.

    Columns: warmth and moisture of the grain, mould (0 to 10), warmth and humidity outside, and the day.
    """
    actions, horizon = whole(generator, 2, 3), whole(generator, 20, 40)
    draws_in, dries = generator.uniform(0.1, 0.3), generator.uniform(0.3, 0.8)
    moist, mild = generator.uniform(15.0, 16.5), generator.uniform(14.0, 18.0)
    cold, burns = mild - generator.uniform(4.0, 7.0), generator.uniform(0.5, 1.5)
    spreads, lights = generator.uniform(0.1, 0.25), generator.uniform(2.0, 3.5)
    costs = np.array([0.0, 1.0, 2.6])[:actions] * generator.uniform(10.0, 30.0)
    rots, dry_bonus = generator.uniform(15.0, 50.0), generator.uniform(300.0, 1500.0)
    damp, sure = generator.uniform(55.0, 70.0), generator.uniform(0.68, 0.85)
    moved, hours = generator.uniform(6.0, 14.0) * generator.choice([-1.0, 1.0]), generator.uniform(0.0, 2.0 * np.pi)

    def outside(day: Vector, noise: np.random.Generator) -> Table:
        warmth = 13.0 + 6.0 * np.sin(hours + day / 6.0) + 3.0 * noise.normal(size=len(day))
        return table(warmth, np.clip(62.0 - 1.2 * (warmth - 13.0) + 14.0 * noise.normal(size=len(day)), 20.0, 100.0))

    def initial(count: int, noise: np.random.Generator) -> Table:
        day = np.zeros(count)
        grain = noise.normal(21.0, 3.0, count), noise.normal(16.5, 0.6, count), noise.exponential(0.2, count)
        return table(*grain, outside(day, noise), day)

    def step(states: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        warmth, moisture, mould, out, humid, day = states.T
        count, blown = len(states), taken > 0
        heated = 6.0 * (taken == 2)
        air = humid * np.exp(-0.06 * heated)
        moisture = moisture + blown * dries * (air - 60.0) / 40.0 + 0.08 * noise.normal(size=count)
        moisture = np.clip(moisture, 10.0, 24.0)
        glows = (mould > lights) & (warmth > cold)
        warmth = warmth + blown * draws_in * (out + heated - warmth) + burns * glows + 0.3 * noise.normal(size=count)
        warmth = np.clip(warmth, -5.0, 45.0)
        thrives = (moisture > moist) & (warmth > mild) | glows
        mould = np.clip(mould + np.where(thrives, spreads, -0.03) * noise.gamma(4.0, 0.25, count), 0.0, 10.0)
        rewards = -costs[taken] - rots * np.maximum(mould - 1.0, 0.0)
        rewards = rewards + dry_bonus * ((day >= horizon - 1.0) & (moisture < 14.5))
        return table(warmth, moisture, mould, outside(day + 1.0, noise), day + 1.0), rewards, no_end(states)

    def fan(most: float, keen: float) -> Custom:
        def pick(seen: Table) -> Choice:
            worth_it = (seen[:, 4] < most) & (seen[:, 1] > 13.5) | (seen[:, 2] > lights) & (seen[:, 3] < seen[:, 0])
            return np.where(worth_it, np.where(seen[:, 4] > most - 10.0, actions - 1, 1), 0)

        return loose(pick, actions, keen)

    usual = fan(damp, sure)
    world = World(horizon, actions, initial, step, behavior=usual, policy=usual)
    return tuned(world, toward(usual, fan(damp + moved, 0.97)), generator, 0.01, 0.08)


def line_pruning(generator: np.random.Generator) -> World:
    """Trees grow toward a power line, are trimmed or felled now and then, and seldom set all on fire, when it is dry
    and windy: few losses, some of them huge. Rewards in thousands.

    Columns: gap between trees and line (m), dryness (0 to 1), wind (m/s), kind of tree (a code), and the quarter.
    """
    kinds, horizon = whole(generator, 3, 6), whole(generator, 10, 20)
    grows = generator.uniform(0.15, 0.6, kinds)
    gains = np.array([0.0, 1.2, 3.5]) * generator.uniform(0.8, 1.3)
    costs = np.array([0.0, 4.0, 15.0]) * generator.uniform(0.6, 1.5)
    sparks, near = generator.uniform(0.04, 0.09), generator.uniform(0.8, 1.6)
    parched, gusts = generator.uniform(0.55, 0.7), generator.uniform(9.0, 12.0)
    damage, tail = generator.uniform(120.0, 400.0), generator.uniform(2.6, 3.5)
    wary, dear = generator.uniform(0.6, 1.4), generator.uniform(0.8, 2.0)
    least, turn, start = generator.uniform(0.04, 0.08), generator.choice([-1.0, 1.0]), whole(generator, 0, 3)

    def weather(quarter: Vector, noise: np.random.Generator) -> Table:
        season = np.sin(0.5 * np.pi * (quarter + start))
        dry = rise(-0.6 + 1.3 * season + 0.8 * noise.normal(size=len(quarter)))
        return table(dry, 9.0 * noise.weibull(2.2, len(quarter)))

    def initial(count: int, noise: np.random.Generator) -> Table:
        quarter = np.zeros(count)
        gap = noise.gamma(5.0, 0.6, count)
        return table(gap, weather(quarter, noise), noise.integers(kinds, size=count), quarter)

    def step(states: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        gap, dry, wind, kind, quarter = states.T
        count = len(states)
        gap = np.minimum(gap + gains[taken], 8.0)
        risk = sparks * rise((near - gap) / 0.4) * np.where((dry > parched) & (wind > gusts), 6.0, 0.5)
        burns = occurs(np.minimum(risk, 0.6), noise)
        huge = np.minimum(1.0 + noise.pareto(tail, count), 25.0) * (tail - 1.0) / tail
        rewards = -costs[taken] * (1.0 + 0.2 * wind / 9.0) - damage * huge * burns
        gap = np.maximum(gap - grows[codes(kind)] * noise.gamma(6.0, 1.0 / 6.0, count), 0.05)
        return table(gap, weather(quarter + 1.0, noise), kind, quarter + 1.0), rewards, no_end(states)

    def likes(seen: Table) -> Grid:
        urge = wary * np.clip(2.0 - seen[:, 0], -2.0, 2.0)
        return np.column_stack([np.full(len(seen), dear), urge, 0.6 * urge - 0.8])

    def wish(seen: Table) -> Grid:
        soon = np.where(seen[:, 1] > 0.45, 1.0, turn * 0.6) * (seen[:, 0] < 2.5)
        return np.column_stack([np.zeros(len(seen)), soon, soon - 0.3])

    usual = soft(likes, least)
    world = World(horizon, 3, initial, step, behavior=usual, policy=usual)
    most = 3.0 if flip(generator) else 2.0
    return tuned(world, leaning(usual, wish, most), generator, 0.04, 0.4)
