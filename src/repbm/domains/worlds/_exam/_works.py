"""What is run by hand: the ice of a rink, a drum of coffee, and a saw whose blade nobody takes out to look at."""

from __future__ import annotations

import numpy as np

from repbm.domains.worlds._customs import blend, firm, leaning, soft
from repbm.domains.worlds._drawing import asked, effective
from repbm.domains.worlds._rows import (
    Choice,
    Grid,
    Moved,
    Signs,
    Table,
    codes,
    nobody,
    occurs,
    rise,
    sign,
    spread_out,
    table,
    weighed,
    whole,
)
from repbm.domains.worlds._world import World


@effective(80.0, 340.0, rollouts=4)
def ice_rink(generator: np.random.Generator) -> World:
    """The plant under a rink is set to one of three to five steps, hour by hour. What it reads moves linearly, in
    noise that its readings share; what is paid is linear in them as well, and in the step.

    Columns: four to seven readings in units of their own (ice, slab and air, brine, damp, people, sun). Rewards: euros
    an hour. Effective episodes of 1,000: 80 to 330.
    """
    readings, actions, horizon = whole(generator, 4, 7), whole(generator, 3, 5), whole(generator, 8, 18)
    discount = float(generator.choice([1.0, 0.99, 0.97]))
    levels = np.array([-5.0, -9.0, 8.0, -14.0, 55.0, 60.0, 300.0])[:readings]
    units = np.array([1.5, 1.2, 4.0, 2.0, 12.0, 40.0, 200.0])[:readings] * generator.uniform(0.7, 1.4, readings)
    keeps = np.diag(generator.uniform(0.3, 0.9, readings)) + generator.normal(0.0, 0.15, (readings, readings))
    keeps *= min(1.0, 0.92 / np.abs(np.linalg.eigvals(keeps)).max())
    shares = np.diag(generator.uniform(0.3, 0.7, readings)) + generator.normal(0.0, 0.15, (readings, readings))
    steps = np.linspace(-1.0, 1.0, actions)
    moves = np.outer(steps, spread_out(generator, 0.15, 0.5) * generator.normal(size=readings))
    pays, hire = generator.normal(0.0, 8.0, readings), spread_out(generator, 0.5, 6.0)
    loud = spread_out(generator, 8.0, 30.0)
    habits, least = generator.normal(0.0, 0.35, (readings + 1, actions)), generator.uniform(0.03, 0.07)
    whims, turned = generator.normal(0.0, 0.5, (readings + 1, actions)), sign(generator)

    def scaled(seen: Table) -> Table:
        return (seen - levels) / units

    def initial(count: int, noise: np.random.Generator) -> Table:
        return levels + units * weighed(noise.normal(size=(count, readings)), 1.5 * shares)

    def step(states: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        now, count = scaled(states), len(states)
        rewards = weighed(now, pays) - hire * steps[taken] + loud * noise.normal(size=count)
        now = weighed(now, keeps) + moves[taken] + weighed(noise.normal(size=(count, readings)), shares)
        return levels + units * now, rewards, nobody(states)

    def signs(seen: Table) -> Signs:
        return np.column_stack([np.ones(len(seen)), np.clip(scaled(seen), -2.0, 2.0)])

    usual = soft(lambda seen: weighed(signs(seen), habits), least)
    world = World(horizon, actions, initial, step, behavior=usual, policy=usual, discount=discount)
    return asked(
        world,
        leaning(usual, lambda seen: weighed(signs(seen), whims) + 0.6 * turned * steps, 2.0),
        generator,
        95.0,
        290.0,
    )


@effective(38.0, 150.0, rollouts=4)
def coffee_roaster(generator: np.random.Generator) -> World:
    """Beans are roasted for some minutes, with little, middling or much gas, or (in some worlds) with the drum aired.

    Above some heat they crack; where they warm fast then, a batch either develops well or is scorched, which is worth
    two values far apart, and how hot it gets scatters the more the less lies in the drum. Columns: heat (C), its rise
    a minute, charge (kg), moisture (percent), variety (a code), and the minute. Rewards: points in the cup. Effective
    episodes of 1,000: 45 to 150.
    """
    actions, horizon, varieties = whole(generator, 3, 4), whole(generator, 5, 9), whole(generator, 3, 6)
    gas = np.array([-2.0, 0.0, 2.0, -3.5])[:actions] * generator.uniform(0.7, 1.2)
    crack, bound = generator.uniform(180.0, 190.0, varieties), generator.uniform(8.0, 10.5)
    scorches, falls, gains = generator.uniform(0.5, 0.85), spread_out(generator, 4.0, 9.0), generator.uniform(2.0, 4.0)
    wild, strict = generator.uniform(0.8, 2.0), generator.uniform(0.4, 1.2)
    pace, burns = generator.uniform(7.0, 10.0), spread_out(generator, 0.05, 0.5)
    tastes, least = generator.normal(0.0, 0.4, (3, actions)), generator.uniform(0.05, 0.09)
    whims, turned = generator.normal(0.0, 0.5, (3, actions)), sign(generator)

    def initial(count: int, noise: np.random.Generator) -> Table:
        parts = [noise.normal(155.0, 7.0, count), noise.normal(9.0, 2.0, count), noise.uniform(6.0, 15.0, count)]
        return table(*parts, noise.normal(11.0, 0.8, count), noise.integers(varieties, size=count), np.zeros(count))

    def step(states: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        heat, climbs, charge, moist, kind, minute = states.T
        count = len(states)
        cracking = rise((heat - crack[codes(kind)]) / 3.0)
        scorched = occurs(scorches * cracking * rise((climbs - bound) / 0.8), noise)
        behind = (heat - 155.0 - pace * minute) / 15.0
        points = gains * cracking * (climbs > 2.0) - strict * np.minimum(behind**2, 4.0)
        loud = 0.4 + 1.2 * cracking * np.maximum(climbs / 8.0, 0.2)
        rewards = points - falls * scorched + loud * noise.normal(size=count) - burns * np.maximum(gas[taken], 0.0)
        drawn = 0.25 * (9.5 - 0.12 * (heat - 160.0) - 0.6 * (moist - 11.0))
        scatter = wild * np.sqrt(8.0 / charge)
        following = np.clip(0.7 * climbs + drawn + gas[taken] + scatter * noise.normal(size=count), -6.0, 22.0)
        heat = np.clip(heat + 0.5 * (climbs + following), 120.0, 250.0)
        moist = np.maximum(moist - 0.02 * np.maximum(heat - 140.0, 0.0) * noise.gamma(4.0, 0.25, count), 1.0)
        return table(heat, following, charge, moist, kind, minute + 1.0), rewards, nobody(states)

    def signs(seen: Table) -> Signs:
        behind = (seen[:, 0] - 155.0 - pace * seen[:, 5]) / 12.0
        return np.column_stack([np.ones(len(seen)), np.tanh(behind), np.tanh((seen[:, 1] - 8.0) / 3.0)])

    def wish(seen: Table) -> Grid:
        near = (seen[:, 0] > crack[codes(seen[:, 4])] - 6.0) & (seen[:, 1] > bound - 2.0)
        return weighed(signs(seen), whims) - turned * np.outer(np.where(near, 1.2, -0.3), gas / 2.0)

    usual = soft(lambda seen: weighed(signs(seen), tastes), least)
    world = World(horizon, actions, initial, step, behavior=usual, policy=usual)
    return asked(world, leaning(usual, wish, 2.5), generator, 45.0, 120.0)


@effective(50.0, 200.0, rollouts=4, off=(1.0, 4.0))
def saw_blades(generator: np.random.Generator) -> World:
    """Logs are sawn slowly, at a middling pace or fast, or (in some worlds) the blade is sharpened first. Pace and hard
    wood wear the blade, which adds up until it is sharpened, and costs boards. Nobody sees how worn it is: sawyers go
    by the log, by how it shakes, and by how long ago it was sharpened, and so does the policy.

    Seen: diameter (cm), species (a code), shaking (mm/s), and logs since it was sharpened. Not seen: wear. Rewards:
    boards, in euros. Who takes what is seen for all there is, is wrong by 1 to 5 standard errors of the mean of 1,000
    episodes. Effective episodes of 1,000: 35 to 220.
    """
    sharpens, horizon, species = generator.random() < 0.6, whole(generator, 8, 16), whole(generator, 3, 6)
    actions = 4 if sharpens else 3
    feeds = np.append(np.array([0.7, 1.0, 1.35]), 0.7) * generator.uniform(0.9, 1.1, 4)
    feeds = feeds[:actions]
    hard = generator.uniform(0.5, 1.6, species)
    wears, costs = generator.uniform(0.08, 0.16), generator.uniform(0.15, 0.4)
    steep, shows = generator.uniform(1.0, 1.8), generator.uniform(0.3, 0.8)
    price, whets = spread_out(generator, 8.0, 30.0), generator.uniform(0.1, 0.5)
    loud, due = spread_out(generator, 0.4, 0.9), generator.uniform(5.0, 9.0)
    habits, least = generator.normal(0.0, 0.4, (4, actions)), generator.uniform(0.05, 0.08)
    whims, turned = generator.normal(0.0, 0.5, (4, actions)), sign(generator)
    hurries = np.array([-1.0, 0.0, 1.0, -0.5])[:actions]

    def initial(count: int, noise: np.random.Generator) -> Table:
        since = noise.integers(0, 8, count)
        wear = np.minimum(wears * since * noise.gamma(4.0, 0.25, count), 3.0)
        shaking = 4.0 + 3.0 * shows * wear + noise.normal(size=count)
        return table(noise.gamma(16.0, 2.0, count), noise.integers(species, size=count), shaking, since, wear)

    def step(states: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        wide, kind, _, since, wear = states.T
        count, whetted = len(states), taken == 3
        wear, since = np.where(whetted, 0.1 * wear, wear), np.where(whetted, 0.0, since)
        boards = feeds[taken] * np.sqrt(wide / 32.0) * np.maximum(1.0 - costs * wear**steep, -0.5)
        rewards = price * (boards - whets * whetted + loud * noise.normal(size=count))
        added = wears * feeds[taken] ** 2 * hard[codes(kind)] * (wide / 32.0)
        wear = np.minimum(wear + added * noise.gamma(3.0, 1.0 / 3.0, count), 3.0)
        shaking = 4.0 + 3.0 * shows * wear + noise.normal(size=count)
        following = [noise.gamma(16.0, 2.0, count), noise.integers(species, size=count), shaking, since + 1.0, wear]
        return table(*following), rewards, nobody(states)

    def signs(seen: Table) -> Signs:
        scaled = [(seen[:, 0] - 32.0) / 8.0, (seen[:, 2] - 5.0) / 1.5, (seen[:, 3] - 5.0) / 4.0]
        return np.column_stack([np.ones(len(seen)), np.clip(np.column_stack(scaled), -2.0, 2.0)])

    def rule(seen: Table) -> Choice:
        late = (seen[:, 3] > due) | (seen[:, 2] > 7.0)
        return np.where(late, actions - 1 if sharpens else 0, np.where(hard[codes(seen[:, 1])] > 1.0, 1, 2))

    def wish(seen: Table) -> Grid:
        return weighed(signs(seen), whims) + 0.4 * turned * hurries

    usual = blend(soft(lambda seen: weighed(signs(seen), habits), 1.4 * least), firm(rule, actions), 0.3)
    world = World(horizon, actions, initial, step, behavior=usual, policy=usual, observe=lambda states: states[:, :4])
    return asked(world, leaning(usual, wish, 2.0), generator, 60.0, 160.0)
