"""The rhythm of hours and seasons: bicycles in their docks, and wells that draw on one aquifer."""

from __future__ import annotations

import numpy as np

from repbm.domains.worlds._fourth_exam._changes import asking, grading, habit, handing, logged, moving, tilting
from repbm.domains.worlds._fourth_exam._parts import (
    Amounts,
    Happening,
    Picks,
    Scores,
    Sheet,
    Shown,
    State,
    bounded,
    expit,
    flips,
    nowhere,
    sometimes,
    turn,
    whole,
)
from repbm.domains.worlds._world import World


def bike_docks(generator: np.random.Generator) -> World:
    """A van takes bicycles from a station or brings some; riders come by the hour, and leave if there is none.

    Parts: bicycles, the hour from 0 to 23, bicycles nearby, and two flags: weekend and rain. Everything is counted.
    """
    actions, horizon = whole(generator, 3, 5), whole(generator, 10, 20)
    docks = whole(generator, 10, 24)
    loads = np.rint(np.linspace(-1.0, 1.0, actions) * generator.uniform(0.15, 0.35) * docks)
    lively, peaks = generator.uniform(0.08, 0.2) * docks, generator.uniform(0.4, 1.0, 2)
    commuting = np.array([generator.uniform(7.0, 9.0), generator.uniform(16.0, 19.0)])
    inward, dry = turn(generator), generator.uniform(0.3, 0.8)
    missed, refused, van = generator.uniform(0.5, 1.5), generator.uniform(0.2, 0.8), generator.uniform(0.05, 0.25)
    start, wetter = whole(generator, 4, 9), generator.uniform(0.05, 0.2)
    aims, errs = generator.normal(0.0, 0.15), generator.uniform(0.05, 0.3)
    sheet = Sheet.drawn(generator, 5, plain=(0, 1, 2, 3, 4))

    def rush(hour: np.ndarray) -> np.ndarray:
        apart = np.abs(hour[:, None] - commuting)
        return np.exp(-0.5 * (np.minimum(apart, 24.0 - apart) / 1.5) ** 2)

    def rates(hour: Amounts, weekend: Amounts, rain: Amounts) -> tuple[Amounts, Amounts]:
        """Riders who want to leave, and riders who want to arrive."""
        morning, evening = (rush(hour) * peaks).T * (1.0 - 0.8 * weekend)
        level = lively * (0.3 + 0.5 * np.maximum(np.sin((hour - 6.0) * np.pi / 14.0), 0.0)) * (1.0 - dry * rain)
        return level * (1.0 + 2.0 * np.where(inward > 0.0, morning, evening)), level * (
            1.0 + 2.0 * np.where(inward > 0.0, evening, morning)
        )

    def initial(count: int, noise: np.random.Generator) -> State:
        bikes, near = noise.integers(0, docks + 1, count), noise.binomial(3 * docks, 0.4, count)
        hour = start + noise.integers(0, 3, count)
        return np.column_stack([bikes, hour, near, noise.random(count) < 0.3, noise.random(count) < 0.2]) * 1.0

    def step(states: State, taken: Picks, noise: np.random.Generator) -> Happening:
        bikes, hour, near, weekend, rain = np.rint(states).T
        brought = np.clip(bikes + np.minimum(loads[taken], near), 0.0, docks) - bikes
        bikes, near = bikes + brought, near - brought
        leaving, coming = rates(hour, weekend, rain)
        wants, returns = noise.poisson(leaving), noise.poisson(coming * np.clip(near / (1.2 * docks), 0.2, 1.5))
        rides = np.minimum(wants, bikes)
        parked = np.minimum(np.minimum(returns, docks - bikes + rides), near)
        rewards = rides - missed * (wants - rides) - refused * (returns - parked) - van * np.abs(brought)
        bikes = bikes - rides + parked
        near = np.clip(near + rides - parked, 0.0, 4.0 * docks)
        rain = flips(np.where(rain > 0.5, 0.7, wetter), noise)
        return np.column_stack([bikes, (hour + 1.0) % 24.0, near, weekend, rain]) * 1.0, rewards * 1.0, nowhere(states)

    def lacks(shown: Shown, foresight: float) -> Amounts:
        leaving, coming = rates(np.rint(shown[:, 1]), np.rint(shown[:, 3]), np.rint(shown[:, 4]))
        return 0.5 + aims - shown[:, 0] / docks + foresight * (leaving - coming) / docks

    marks = np.linspace(-0.3, 0.3, actions - 1) + 0.003
    if sometimes(generator, 0.4):
        usual = grading(lambda shown: lacks(shown, errs), marks, generator.uniform(0.015, 0.04), 0.02)
        change = moving(lambda shown: lacks(shown, errs), marks, generator.uniform(0.1, 0.3) * turn(generator))
    else:
        usual = grading(lambda shown: lacks(shown, errs), marks, generator.uniform(0.04, 0.12), 0.08)
        ordered = np.linspace(-1.0, 1.0, actions)
        change = tilting(usual, lambda shown: np.outer(bounded(3.0 * lacks(shown, 1.5), 1.5), ordered))
    world = logged(horizon, actions, initial, step, usual, sheet, float(generator.choice([1.0, 1.0, 0.98])))
    return asking(world, sheet, change, generator, 0.08, 0.5)


def aquifer_pumping(generator: np.random.Generator) -> World:
    """Forty to sixty weeks of pumping: the lower the water, the dearer and the saltier it is; rains have a season.

    Parts: water table, salt, moisture of the soil, price of the crop, and the season as a sine and a cosine.
    """
    actions, horizon = whole(generator, 2, 3), whole(generator, 40, 60)
    pumped = np.linspace(0.0, 1.0, actions)
    draws, refills, leaks = generator.uniform(0.1, 0.25), generator.uniform(0.05, 0.15), generator.uniform(0.02, 0.06)
    rains, spread = generator.uniform(0.3, 0.9), generator.uniform(0.1, 0.3)
    salty, flushes = generator.uniform(0.05, 0.2), generator.uniform(0.05, 0.15)
    dries, wets = generator.uniform(0.2, 0.4), generator.uniform(0.3, 0.6)
    lift, hurts, grows = generator.uniform(0.1, 0.4), generator.uniform(0.2, 0.6), generator.uniform(0.6, 1.4)
    week, clings = 2.0 * np.pi / whole(generator, 26, 52), generator.uniform(0.8, 0.95)
    heeds, bias = generator.uniform(0.2, 0.8, 3), generator.normal(0.0, 0.3)
    side, sown = turn(generator, 0.35), generator.uniform(0.0, 2.0 * np.pi)
    sheet = Sheet.drawn(generator, 6)

    def initial(count: int, noise: np.random.Generator) -> State:
        phase = sown + noise.uniform(-0.4, 0.4, count)
        numbers = noise.normal(size=(count, 2)) * 0.4 + [0.0, 0.5]
        moist, price = noise.uniform(0.2, 0.9, count), 0.3 * noise.normal(size=count)
        return np.column_stack([numbers, moist, price, np.sin(phase), np.cos(phase)])

    def step(states: State, taken: Picks, noise: np.random.Generator) -> Happening:
        table, salt, moist, price, sine, cosine = states.T
        count, amount = len(states), pumped[taken]
        rain = flips(expit(-0.5 + 1.2 * sine), noise) * noise.gamma(2.0, 0.5 * rains, count)
        crop = grows * np.exp(price) * (1.0 - np.exp(-3.0 * moist)) * (0.7 - 0.3 * sine) - hurts * np.maximum(salt, 0.0)
        rewards = crop - lift * amount * np.exp(-0.7 * table)
        moist = np.clip((1.0 - dries) * moist + wets * amount + 0.3 * rain - 0.05 * cosine, 0.0, 1.5)
        salt = bounded(salt + salty * amount * np.maximum(-table, 0.0) - flushes * salt * (0.5 + rain) + 0.02, 3.0)
        table = bounded(
            table * (1.0 - leaks) + refills * rain - draws * amount + 0.03 + 0.3 * spread * noise.normal(size=count),
            2.5,
        )
        price = clings * price + 0.1 * noise.normal(size=count)
        season = np.cos(week) * np.column_stack([sine, cosine]) + np.sin(week) * np.column_stack([cosine, -sine])
        return np.column_stack([table, salt, moist, price, season]), rewards, nowhere(states)

    def thirst(shown: Shown) -> Amounts:
        return heeds[0] * (1.4 - 2.0 * shown[:, 2]) + heeds[1] * shown[:, 0] - heeds[2] * shown[:, 4] + bias

    def wish(shown: Shown) -> Scores:
        return side * np.outer(np.tanh(1.5 * (0.5 - shown[:, 2])) + 0.5 * np.tanh(shown[:, 0]) + shown[:, 3], pumped)

    usual = habit(lambda shown: np.outer(bounded(1.5 * thirst(shown), 2.0), pumped), generator.uniform(0.1, 0.3))
    change = tilting(usual, wish, 2.0)
    if sometimes(generator, 0.3):
        change = handing(usual, lambda shown: np.eye(actions)[(wish(shown)[:, -1] > 0.0) * (actions - 1)])
    world = logged(horizon, actions, initial, step, usual, sheet, float(generator.choice([0.99, 0.98, 0.96])))
    return asking(world, sheet, change, generator, 0.06, 0.35)
