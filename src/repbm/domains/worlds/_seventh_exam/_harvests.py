"""What is grown and stored: cheese that ripens, oysters by the season, and vines that remember how they were cut."""

from __future__ import annotations

import numpy as np

from repbm.domains.worlds._customs import leaning, soft, toward
from repbm.domains.worlds._drawing import asked, effective
from repbm.domains.worlds._rows import (
    Choice,
    Grid,
    Moved,
    Signs,
    Table,
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


@effective(250.0, 550.0)
def cheese_cellar(generator: np.random.Generator) -> World:
    """Wheels of cheese are turned, brined or brushed every week; all is linear, and the noise is loud.

    Columns: ripeness, moisture, acidity, the week, and 10 to 22 readings of other things, in a drawn order. Rewards:
    euros a wheel gained or lost in a week. Effective episodes of 1,000: 300 to 490.
    """
    actions, horizon, useless = whole(generator, 4, 6), whole(generator, 4, 8), whole(generator, 10, 22)
    order = generator.permutation(4 + useless)
    places = np.argsort(order)
    keeps = np.diag(generator.uniform(0.5, 0.9, 3)) + 0.1 * generator.normal(size=(3, 3))
    moves = spread_out(generator, 0.1, 0.5) * generator.normal(size=(actions, 3))
    pays, prices = generator.normal(0.0, 6.0, 3), generator.normal(0.0, 1.0, actions)
    loud, restless = spread_out(generator, 10.0, 40.0), generator.uniform(0.4, 1.0)
    scales = 10.0 ** generator.uniform(-2.0, 3.0, useless)
    lasting, common = generator.uniform(0.0, 0.95, useless), generator.normal(0.0, 0.6, useless)
    habits, least = generator.normal(0.0, 0.35, (4, actions)), generator.uniform(0.03, 0.06)
    gains = moves @ np.linalg.solve(np.eye(3) - 0.7 * keeps.T, pays) + prices
    turned, whims = sign(generator), generator.normal(0.0, 0.7, (4, actions))

    def readings(count: int, noise: np.random.Generator) -> Table:
        return scales * (np.outer(noise.normal(size=count), common) + noise.normal(size=(count, useless)))

    def initial(count: int, noise: np.random.Generator) -> Table:
        return table(noise.normal(size=(count, 3)), np.zeros(count), readings(count, noise))[:, order]

    def step(states: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        wheel, week, others = states[:, places[:3]], states[:, places[3]], states[:, places[4:]]
        count = len(states)
        rewards = weighed(wheel, pays) + prices[taken] + loud * noise.normal(size=count)
        wheel = weighed(wheel, keeps.T) + moves[taken] + restless * noise.normal(size=(count, 3))
        others = lasting * others + np.sqrt(1.0 - lasting**2) * readings(count, noise)
        return table(wheel, week + 1.0, others)[:, order], rewards, nobody(states)

    def known(seen: Table) -> Signs:
        return np.column_stack([np.ones(len(seen)), np.clip(seen[:, places[:3]], -2.5, 2.5)])

    def wish(seen: Table) -> Grid:
        return weighed(known(seen), whims) + turned * (gains - gains.mean()) / gains.std()

    usual = soft(lambda seen: weighed(known(seen), habits), least)
    world = World(horizon, actions, initial, step, behavior=usual, policy=usual)
    return asked(world, leaning(usual, wish, 2.0), generator, 290.0, 480.0)


@effective(50.0, 170.0)
def oyster_beds(generator: np.random.Generator) -> World:
    """Oysters lie for some months; they are left, sunk deeper, thinned, or (in some worlds) sold by the load.

    Where the water is warm and less salty than some bound together, poison blooms, and what is sold then is worth
    nothing and fined. They grow in summer, and sell best at the turn of the year. Columns: the month, warmth, salt,
    bloom, length (mm), how dense they lie, and a flag: lies deep. Rewards in thousands. Effective episodes of
    1,000: 50 to 150.
    """
    actions, horizon, first = whole(generator, 3, 4), whole(generator, 5, 9), whole(generator, 0, 11)
    mild, sweet = generator.uniform(15.0, 18.0), generator.uniform(27.0, 29.5)
    blooms, poisons = generator.uniform(0.8, 1.6), generator.uniform(0.8, 1.2)
    grows, crowds = generator.uniform(2.0, 5.0), generator.uniform(0.8, 1.5)
    price, feast = spread_out(generator, 2.0, 10.0), generator.uniform(0.2, 0.7)
    fine, hire = generator.uniform(0.1, 0.6) * price, generator.uniform(0.02, 0.1) * price
    market, shelter = generator.uniform(55.0, 70.0), generator.uniform(0.2, 0.7)
    tastes, least = generator.normal(0.0, 0.35, (3, actions)), generator.uniform(0.05, 0.08)
    reads, turned = generator.normal(0.0, 0.8, (4, actions)), sign(generator)
    loud = spread_out(generator, 0.3, 1.0) * price

    def sun(month: np.ndarray) -> np.ndarray:
        return np.cos(2.0 * np.pi * (month - 6.5) / 12.0)

    def initial(count: int, noise: np.random.Generator) -> Table:
        month = np.full(count, float(first))
        warm, salt = 14.0 + 6.0 * sun(month) + 2.0 * noise.normal(size=count), noise.normal(29.0, 2.0, count)
        length, dense = noise.normal(60.0, 9.0, count), noise.gamma(8.0, 0.15, count)
        return table(month, warm, salt, noise.exponential(0.3, count), length, dense, noise.random(count) < 0.3)

    def step(states: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        month, warm, salt, bloom, length, dense, deep = states.T
        count, sold = len(states), np.array([0.0, 0.0, 0.3, 0.7])[taken]
        fit, poisoned = np.clip((length - market + 15.0) / 15.0, 0.0, 1.5), bloom > poisons
        asking = price * (1.0 + feast * (np.abs((month % 12.0) - 6.0) > 4.0))
        rewards = np.where(poisoned, -fine * (sold > 0.0), asking * sold * fit * dense) - hire * (taken == 1)
        rewards = rewards + 0.3 * loud * noise.normal(size=count) * (1.0 + dense)
        deep = np.where(taken == 1, 1.0, np.where(taken == 2, 0.0, deep))
        dense = np.maximum(dense * (1.0 - sold), 0.02) * np.exp(0.08 * noise.normal(size=count))
        slowed = np.where(deep > 0.0, 0.5, 1.0) / (1.0 + (dense > crowds))
        length = length + grows * slowed * np.maximum(sun(month) + 0.4, 0.0) + 0.8 * noise.normal(size=count)
        fed = (warm > mild) & (salt < sweet)
        bloom = 0.6 * bloom + blooms * fed * np.where(deep > 0.0, shelter, 1.0) * noise.gamma(3.0, 0.3, count)
        month = month + 1.0
        warm = 14.0 + 6.0 * sun(month) + 0.5 * (warm - 14.0 - 6.0 * sun(month - 1.0)) + 1.7 * noise.normal(size=count)
        salt = np.clip(29.0 + 0.6 * (salt - 29.0) + 1.6 * noise.normal(size=count), 15.0, 36.0)
        return table(month, warm, salt, bloom, length, dense, deep), rewards, nobody(states)

    def likes(seen: Table) -> Grid:
        parts = [np.ones(len(seen)), np.tanh((seen[:, 4] - market) / 8.0), np.tanh(seen[:, 5] - 1.0)]
        return weighed(np.column_stack(parts), tastes)

    def wish(seen: Table) -> Grid:
        feared = (seen[:, 1] > mild - 1.0) & (seen[:, 2] < sweet + 0.5)
        parts = np.column_stack([feared, seen[:, 3] > 0.7 * poisons, seen[:, 5] > crowds, sun(seen[:, 0])])
        sells = np.array([0.0, 0.0, 1.0, 1.5])[:actions]
        return weighed(parts, reads) + 0.4 * turned * np.outer(np.where(parts[:, 1] > 0.0, -1.0, 0.6), sells)

    usual = soft(likes, least)
    world = World(horizon, actions, initial, step, behavior=usual, policy=usual)
    return asked(world, leaning(usual, wish, 2.5), generator, 65.0, 140.0)


@effective(40.0, 150.0)
def vineyard_canes(generator: np.random.Generator) -> World:
    """Vines are cut short, middling or long each winter. How they are cut fills or drains their roots, which nobody
    sees, and it is the roots that bear, years later. Growers cut by what they see alone.

    Seen: last crop (t), the length of the canes, rain, price, a flag: late frost, and the year. Not seen: what the
    roots hold, and the buds laid the year before. Rewards in thousands. Effective episodes of 1,000: 60 to 140.
    """
    actions, horizon = whole(generator, 3, 4), whole(generator, 5, 9)
    left = np.linspace(-1.0, 1.0, actions)
    drains, bears, holds = generator.uniform(0.15, 0.6), generator.uniform(0.6, 1.4), generator.uniform(0.7, 0.9)
    lays, work = generator.uniform(0.1, 0.5), spread_out(generator, 0.1, 0.8)
    shows, freezes = generator.uniform(0.3, 0.7), generator.uniform(0.15, 0.3)
    usual_price, loud = generator.uniform(1.0, 3.0), generator.uniform(0.8, 1.6)
    habits, least = generator.normal(0.0, 0.5, 4), generator.uniform(0.05, 0.09)
    turned, minds = sign(generator), generator.normal(0.0, 0.6, 3)

    def initial(count: int, noise: np.random.Generator) -> Table:
        roots, buds = noise.normal(size=count), noise.normal(0.0, 0.4, count)
        seen = [noise.gamma(12.0, 0.5, count), noise.normal(100.0, 15.0, count) + 12.0 * shows * roots]
        seen += [noise.gamma(6.0, 60.0, count), usual_price * np.exp(0.2 * noise.normal(size=count))]
        return table(*seen, occurs(np.full(count, freezes), noise), np.zeros(count), roots, buds)

    def step(states: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        _, canes, rain, price, frost, year, roots, buds = states.T
        count, long = len(states), left[taken]
        lies = 6.0 + bears * roots + buds + 0.01 * (rain - 360.0) * (rain < 360.0) + loud * noise.normal(size=count)
        crop = np.maximum(lies, 0.2) * np.where(frost > 0.0, 0.6, 1.0)
        rewards = price * crop - work * (1.0 - long)
        buds = lays * long + 0.2 * noise.normal(size=count)
        roots = holds * roots - drains * long + 0.5 * noise.normal(size=count)
        canes = 100.0 + 0.4 * (canes - 100.0) + 12.0 * shows * roots + 10.0 * noise.normal(size=count)
        price = usual_price * (price / usual_price) ** 0.7 * np.exp(0.15 * noise.normal(size=count))
        weather = [noise.gamma(6.0, 60.0, count), price, occurs(np.full(count, freezes), noise), year + 1.0]
        return table(crop, canes, *weather, roots, buds), rewards, nobody(states)

    def signs(seen: Table) -> Signs:
        scaled = [(seen[:, 0] - 6.0) / 2.0, (seen[:, 1] - 100.0) / 15.0, (seen[:, 3] / usual_price - 1.0) / 0.25]
        return np.clip(np.column_stack(scaled), -2.0, 2.0)

    def likes(seen: Table) -> Grid:
        return np.outer(habits[0] + weighed(signs(seen), habits[1:]), left)

    def other(seen: Table) -> Grid:
        lean = 1.6 * rise(weighed(signs(seen), minds)) - 0.8 + turned
        return np.outer(2.5 * lean, left)

    usual = soft(likes, least)
    world = World(horizon, actions, initial, step, behavior=usual, policy=usual, observe=lambda states: states[:, :6])
    return asked(world, toward(usual, soft(other, 0.0)), generator, 55.0, 120.0)
