"""What was never logged: wide gates at some levels, rich milk in some days, jumps after gallops, and two sprays on
some fields."""

from __future__ import annotations

import numpy as np

from repbm.domains.worlds._customs import blend, firm, instead_there, leaning, never_there, soft
from repbm.domains.worlds._drawing import with_a_gap
from repbm.domains.worlds._rows import (
    Choice,
    Mask,
    Moved,
    Signs,
    Table,
    codes,
    everybody,
    nobody,
    sign,
    spread_out,
    table,
    weighed,
    whole,
)
from repbm.domains.worlds._world import World


@with_a_gap(0.17, 0.35)
def reservoir_gates(generator: np.random.Generator) -> World:
    """The gates of a reservoir are shut, opened a little, half, or (in some worlds) wide. The widest opening was never
    logged while the level lay in some range (below, above or between bounds); the policy does not mind the level.

    Columns: level (m), inflow (m3/s), rain forecast (mm), demand (MW), and the month. Rewards in thousands. Never
    logged: 9 to 50 percent of the policy's decisions, in 40 to 90 of its episodes. Effective episodes of 1,000, of the
    same policy where the log can follow: 190 to 660.
    """
    actions, horizon, where = whole(generator, 3, 4), whole(generator, 4, 8), whole(generator, 0, 2)
    last, opened = actions - 1, np.linspace(0.0, 1.0, actions)
    first, swing = whole(generator, 0, 11), generator.uniform(0.2, 0.5)
    price, floods = spread_out(generator, 5.0, 40.0), generator.uniform(0.5, 2.0)
    lets, gains = generator.uniform(2.0, 4.0), generator.uniform(0.02, 0.035)
    low, high = generator.uniform(47.5, 49.5), generator.uniform(51.0, 53.0)
    matters = price * spread_out(generator, 0.3, 1.2) * sign(generator)
    habits, least = generator.normal(0.0, 0.35, (3, actions)), generator.uniform(0.04, 0.08)
    whims, dares, plain = (
        generator.normal(0.0, 0.5, (3, actions)),
        generator.uniform(0.4, 0.9),
        generator.random() < 0.4,
    )
    loud, needs = spread_out(generator, 0.3, 1.0) * price, generator.normal(0.0, 0.3)

    def there(seen: Table) -> Mask:
        level = seen[:, 0]
        return (level < low + 1.0, level > high - 1.0, (level > low + 0.5) & (level < high - 0.5))[where]

    def initial(count: int, noise: np.random.Generator) -> Table:
        parts = [noise.normal(50.0, 2.5, count), noise.gamma(9.0, 10.0, count), noise.exponential(12.0, count)]
        return table(*parts, noise.normal(60.0, 12.0, count), np.full(count, float(first)))

    def step(states: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        level, inflow, rain, demand, month = states.T
        count, flow = len(states), opened[taken]
        odd = (taken == last) & there(states)
        sold = price * flow * np.tanh(level / 50.0) * np.minimum(demand / 60.0, 1.2)
        rewards = sold - floods * price * (level > 55.0) + matters * odd + loud * noise.normal(size=count)
        level = np.clip(level - lets * flow + gains * inflow + 0.5 * noise.normal(size=count), 35.0, 60.0)
        level = level + 0.1 * (50.0 - level)
        month = month + 1.0
        wet = 90.0 * (1.0 + swing * np.cos(2.0 * np.pi * (month - 3.0) / 12.0)) + 0.5 * (rain - 12.0)
        inflow = np.maximum(wet + 0.4 * (inflow - 90.0) + 22.0 * noise.normal(size=count), 1.0)
        demand = np.maximum(60.0 + 0.5 * (demand - 60.0) + 10.0 * noise.normal(size=count), 5.0)
        return table(level, inflow, noise.exponential(12.0, count), demand, month), rewards, nobody(states)

    def signs(seen: Table) -> Signs:
        scaled = [(seen[:, 1] - 90.0) / 30.0, (seen[:, 3] - 60.0) / 12.0]
        return np.column_stack([np.ones(len(seen)), np.clip(np.column_stack(scaled), -2.0, 2.0)])

    def wants(seen: Table) -> Choice:
        return np.where(signs(seen)[:, 2] > needs, last, np.where(signs(seen)[:, 1] > 0.0, 1, 0))

    loose = soft(lambda seen: weighed(signs(seen), habits), least)
    if plain:
        loose, dares = blend(loose, firm(wants, actions), 0.7), 0.0
    usual = never_there(loose, last, there)
    policy = instead_there(leaning(usual, lambda seen: weighed(signs(seen), whims), 0.6)(1.0), last, there, dares)
    policy = firm(wants, actions) if plain else policy
    return World(horizon, actions, initial, step, behavior=usual, policy=policy, answerable=False)


@with_a_gap(0.17, 0.35)
def preterm_feeding(generator: np.random.Generator) -> World:
    """Infants born early are fed plain milk, rich milk, or rest, day by day. Rich milk was never given on some days in
    a row, in the midst of the stay or at its end; the policy gives it then as on all days.

    Columns: weight (g), milk left in the stomach (ml), alarms (a count), a flag: breast milk, and the day. Rewards:
    grams gained, less what alarms are held to cost. Never logged: 14 to 23 percent of the policy's decisions, in 80 to
    97 of its episodes. Effective episodes of 1,000, of the same policy where the log can follow: 60 to 520.
    """
    horizon, actions = whole(generator, 6, 12), 3
    length = max(2, round(generator.uniform(0.25, 0.45) * horizon))
    begins = whole(generator, 2, horizon - length)
    grows = np.array([14.0, 19.0, 5.0]) * generator.uniform(0.8, 1.2, 3)
    matters = spread_out(generator, 5.0, 14.0) * sign(generator)
    upsets, rings = generator.uniform(0.3, 1.0), generator.uniform(0.5, 2.0)
    loud, bound = spread_out(generator, 8.0, 16.0), generator.uniform(2.5, 4.5)
    habits, least = generator.normal(0.0, 0.4, (3, actions)), generator.uniform(0.06, 0.1)
    dares, whims = generator.uniform(0.5, 0.95), generator.normal(0.0, 0.5, (3, actions))

    def there(seen: Table) -> Mask:
        return (seen[:, 4] >= begins) & (seen[:, 4] < begins + length)

    def initial(count: int, noise: np.random.Generator) -> Table:
        weight, left = noise.normal(1300.0, 180.0, count), noise.gamma(3.0, 0.8, count)
        return table(weight, left, noise.poisson(1.5, count), noise.random(count) < 0.6, np.zeros(count))

    def step(states: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        weight, left, alarms, breast, day = states.T
        count, rich = len(states), taken == 1
        odd = rich & there(states)
        heavy = np.where(left > bound, 0.4, 1.0) * np.where(breast > 0.0, 1.05, 1.0)
        gained = grows[taken] * heavy * weight / 1300.0 + matters * odd + loud * noise.normal(size=count)
        rewards = gained - rings * alarms
        left = np.maximum(0.5 * left + upsets * rich - 0.5 * (taken == 2) + noise.gamma(2.0, 0.6, count), 0.0)
        alarms = noise.poisson(np.clip(0.8 + 0.3 * left - 0.2 * np.sign(matters) * odd, 0.05, 8.0))
        return table(weight + gained, left, alarms, breast, day + 1.0), rewards, nobody(states)

    def signs(seen: Table) -> Signs:
        return np.column_stack([np.ones(len(seen)), np.tanh(seen[:, 1] - 2.4), np.tanh((seen[:, 0] - 1350.0) / 200.0)])

    usual = never_there(soft(lambda seen: weighed(signs(seen), habits), least), 1, there)
    policy = instead_there(leaning(usual, lambda seen: weighed(signs(seen), whims), 0.9)(1.0), 1, there, dares)
    return World(horizon, actions, initial, step, behavior=usual, policy=policy, answerable=False)


@with_a_gap(0.17, 0.35)
def jump_training(generator: np.random.Generator) -> World:
    """A horse rests, trots, gallops or jumps, day by day. It never jumped the day after a gallop, or (in some worlds)
    after two hard days in a row, or once it had jumped two or three times; the policy goes by how fit it is.

    Columns: fitness, soreness, what it did the day before (a code), hard days in a row, jumps so far, and the day.
    Never logged: 13 to 24 percent of the policy's decisions, in 60 to 80 of its episodes. Effective episodes of 1,000,
    of the same policy where the log can follow: 60 to 650.
    """
    horizon, actions, kind = whole(generator, 6, 10), 4, whole(generator, 0, 2)
    often = whole(generator, 2, 3)
    builds = np.array([-0.1, 0.05, 0.25, 0.2]) * generator.uniform(0.7, 1.3, 4)
    hurts = np.array([-0.6, -0.1, 0.35, 0.45]) * generator.uniform(0.7, 1.3, 4)
    shows, strict = spread_out(generator, 2.0, 6.0), generator.uniform(0.5, 1.5)
    matters = spread_out(generator, 3.0, 12.0) * sign(generator)
    loud, bound = spread_out(generator, 3.0, 8.0), generator.uniform(0.8, 1.6)
    habits, least = generator.normal(0.0, 0.3, (3, actions)), generator.uniform(0.06, 0.1)
    whims, bold = generator.normal(0.0, 0.5, (3, actions)), generator.normal(0.0, 0.4)
    dares, usually = generator.uniform(0.4, 0.85), np.array([0.0, 0.0, 0.6, 0.5])

    def there(seen: Table) -> Mask:
        return (codes(seen[:, 2]) == 2, seen[:, 3] >= 2.0, seen[:, 4] >= often)[kind]

    def initial(count: int, noise: np.random.Generator) -> Table:
        fit, sore = noise.normal(size=count), np.maximum(noise.normal(0.5, 0.5, count), 0.0)
        return table(fit, sore, noise.integers(0, 2, count), np.zeros((count, 3)))

    def step(states: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        fit, sore, _, hard, jumps, day = states.T
        count, jumped = len(states), taken == 3
        odd = jumped & there(states)
        rewards = shows * (fit - strict * np.maximum(sore - bound, 0.0)) * np.array([0.0, 0.2, 0.6, 1.0])[taken]
        rewards = rewards + matters * odd + loud * noise.normal(size=count)
        fit = np.clip(0.9 * fit + builds[taken] + 0.2 * noise.normal(size=count), -4.0, 4.0)
        sore = np.maximum(
            0.8 * sore + hurts[taken] - 0.15 * np.sign(matters) * odd + 0.2 * noise.normal(size=count), 0.0
        )
        hard = np.where(taken >= 2, hard + 1.0, 0.0)
        return table(fit, sore, taken, hard, jumps + jumped, day + 1.0), rewards, nobody(states)

    def signs(seen: Table) -> Signs:
        return np.column_stack([np.ones(len(seen)), np.tanh(seen[:, 0]), np.tanh(seen[:, 1] - bound)])

    def daring(seen: Table) -> Mask:
        return there(seen) & (seen[:, 0] > bold - 0.8)

    usual = never_there(soft(lambda seen: weighed(signs(seen), habits) + usually, least), 3, there)
    policy = instead_there(leaning(usual, lambda seen: weighed(signs(seen), whims), 0.9)(1.0), 3, daring, dares)
    return World(horizon, actions, initial, step, behavior=usual, policy=policy, answerable=False)


@with_a_gap(0.17, 0.35)
def herbicide_mixes(generator: np.random.Generator) -> World:
    """A field is left, sprayed with one of two herbicides, or with both. Both at once was never done where soil,
    moisture and crop are of some kinds together; each alone was, and both elsewhere. The policy mixes them there.

    Columns: clay (percent), moisture (percent), crop (a code), weeds (a count), a flag: slope, and (where there are
    several) the spraying. Rewards: thousands a field. Never logged: 20 to 43 percent of the policy's decisions.
    Effective episodes of 1,000, of the same policy where the log can follow: 310 to 830.
    """
    horizon, actions, crops = whole(generator, 1, 3), 4, whole(generator, 3, 6)
    sandy, moist = generator.uniform(20.0, 30.0), generator.uniform(45.0, 60.0)
    tender = generator.choice(crops, whole(generator, (crops + 1) // 2, crops - 1), replace=False)
    drier, heavier = generator.random() < 0.5, generator.random() < 0.5
    clears, cost = np.array([0.0, 0.4, 0.45, 0.75]), spread_out(generator, 0.03, 0.12)
    worth, loss = generator.uniform(0.8, 2.5, crops), generator.uniform(0.01, 0.03)
    matters = spread_out(generator, 0.3, 1.2) * sign(generator)
    loud, drowned = spread_out(generator, 0.3, 1.0), generator.uniform(0.6, 0.9)
    habits, least = generator.normal(0.0, 0.4, (3, actions)), generator.uniform(0.05, 0.08)
    whims, dares = generator.normal(0.0, 0.5, (3, actions)), generator.uniform(0.55, 1.0)

    def there(seen: Table) -> Mask:
        light = (seen[:, 0] > sandy - 5.0) if heavier else (seen[:, 0] < sandy + 5.0)
        wet = (seen[:, 1] < moist + 8.0) if drier else (seen[:, 1] > moist - 8.0)
        return light & wet & np.isin(codes(seen[:, 2]), tender)

    def initial(count: int, noise: np.random.Generator) -> Table:
        clay, moisture = noise.uniform(5.0, 45.0, count), noise.normal(52.0, 14.0, count)
        parts = [clay, np.clip(moisture, 5.0, 100.0), noise.integers(crops, size=count), noise.poisson(30.0, count)]
        return table(*parts, noise.random(count) < 0.3, *([np.zeros(count)] if horizon > 1 else []))

    def step(states: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        _, moisture, crop, weeds, slope = states.T[:5]
        count, odd = len(states), (taken == 3) & there(states)
        washed = np.where((moisture > 65.0) & (slope > 0.0), drowned, 1.0)
        left = weeds * (1.0 - clears[taken] * washed)
        sprays = np.array([0.0, 1.0, 1.0, 1.9])[taken]
        rewards = worth[codes(crop)] - loss * left - cost * sprays + matters * odd + loud * noise.normal(size=count)
        following = states.copy()
        following[:, 1] = np.clip(52.0 + 0.6 * (moisture - 52.0) + 11.0 * noise.normal(size=count), 5.0, 100.0)
        following[:, 3] = noise.poisson(np.clip(0.7 * left + 12.0, 0.1, 200.0))
        following[:, 5:] += 1.0
        return following, rewards, everybody(states) if horizon == 1 else nobody(states)

    def signs(seen: Table) -> Signs:
        return np.column_stack(
            [np.ones(len(seen)), np.tanh((seen[:, 3] - 28.0) / 8.0), np.tanh((seen[:, 1] - 52.0) / 14.0)]
        )

    usual = never_there(soft(lambda seen: weighed(signs(seen), habits), least), 3, there)
    policy = instead_there(leaning(usual, lambda seen: weighed(signs(seen), whims), 1.3)(1.0), 3, there, dares)
    return World(horizon, actions, initial, step, behavior=usual, policy=policy, answerable=False)
