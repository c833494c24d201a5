"""What was never logged in some places and weathers: large blasts near houses, and full speed in some seas."""

from __future__ import annotations

import numpy as np

from repbm.domains.worlds._customs import blend, firm, instead_there, leaning, never_there, soft
from repbm.domains.worlds._drawing import with_a_gap
from repbm.domains.worlds._rows import (
    Choice,
    Grid,
    Mask,
    Moved,
    Signs,
    Table,
    codes,
    nobody,
    sign,
    spread_out,
    table,
    weighed,
    whole,
)
from repbm.domains.worlds._world import World


@with_a_gap(0.12, low=45.0, high=500.0)
def quarry_blasts(generator: np.random.Generator) -> World:
    """A face of a quarry is blasted with a small, middling or large charge, or (in some worlds) left for a day. A large
    charge was never fired nearer to the houses than some distance, or (in other worlds) on rock that is harder than
    some bound; the policy minds neither.

    Columns: distance (m), hardness (MPa), cracks a meter, water in the holes (a flag), tons wanted, and the round.
    Rewards in thousands. Never logged: 13 to 30 percent of the policy's decisions, in 27 to 65 of its episodes.
    Effective episodes of 1,000, of the same policy where the log can follow: 75 to 410.
    """
    actions, horizon, by_hardness = whole(generator, 3, 4), whole(generator, 3, 7), generator.random() < 0.5
    large, charges = actions - 1, np.array([0.35, 0.65, 1.0]) * generator.uniform(0.9, 1.1)
    charges = charges if actions == 3 else np.append(0.0, charges)
    near, tough = generator.uniform(260.0, 330.0), generator.uniform(105.0, 125.0)
    price, splits = spread_out(generator, 4.0, 20.0), generator.uniform(0.003, 0.008)
    powder, wets = generator.uniform(0.4, 1.0), generator.uniform(0.5, 0.9)
    matters = price * spread_out(generator, 0.3, 1.0) * sign(generator)
    loud, nears = price * spread_out(generator, 0.25, 0.8), generator.uniform(0.0, 12.0)
    habits, least = generator.normal(0.0, 0.4, (4, actions)), generator.uniform(0.05, 0.08)
    whims, dares = generator.normal(0.0, 0.5, (4, actions)), generator.uniform(0.45, 0.95)
    plain, wanted = generator.random() < 0.4, generator.normal(0.0, 0.3)

    def there(seen: Table) -> Mask:
        return seen[:, 1] > tough if by_hardness else seen[:, 0] < near

    def initial(count: int, noise: np.random.Generator) -> Table:
        away, hard = noise.normal(330.0, 70.0, count), noise.normal(100.0, 20.0, count)
        parts = [np.maximum(away, 60.0), np.maximum(hard, 20.0), noise.gamma(4.0, 0.5, count)]
        return table(*parts, noise.random(count) < 0.3, noise.normal(size=count), np.zeros(count))

    def step(states: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        away, hard, cracks, wet, asked_for, nth = states.T
        count, charge = len(states), charges[taken]
        broken = charge**0.8 * (1.2 - splits * (hard - 100.0) + 0.05 * (cracks - 2.0)) * np.where(wet > 0.0, wets, 1.0)
        sold = price * np.minimum(broken, 0.8 + 0.3 * np.maximum(asked_for, -1.0))
        odd = (taken == large) & there(states)
        rewards = sold - powder * price * charge + matters * odd + loud * noise.normal(size=count)
        away = np.maximum(away - nears * charge + 25.0 * noise.normal(size=count), 60.0)
        hard = np.maximum(100.0 + 0.7 * (hard - 100.0) + 14.0 * noise.normal(size=count), 20.0)
        cracks = np.maximum(0.6 * cracks + 0.5 * charge + noise.gamma(2.0, 0.3, count), 0.1)
        asked_for = 0.6 * asked_for - 0.3 * (charge - 0.6) + 0.7 * noise.normal(size=count)
        return table(away, hard, cracks, noise.random(count) < 0.3, asked_for, nth + 1.0), rewards, nobody(states)

    def signs(seen: Table) -> Signs:
        parts = [(seen[:, 0] - 330.0) / 70.0, (seen[:, 1] - 100.0) / 20.0, seen[:, 4]]
        return np.column_stack([np.ones(len(seen)), np.clip(np.column_stack(parts), -2.0, 2.0)])

    def rule(seen: Table) -> Choice:
        return np.where(seen[:, 4] > wanted - 0.4, large, large - 1)

    loose = soft(lambda seen: weighed(signs(seen), habits), 1.4 * least)
    if plain:
        usual = never_there(blend(loose, firm(rule, actions), 0.5), large, there)
        policy = firm(rule, actions)
    else:
        usual = never_there(loose, large, there)
        policy = instead_there(leaning(usual, lambda seen: weighed(signs(seen), whims), 0.7)(1.0), large, there, dares)
    return World(horizon, actions, initial, step, behavior=usual, policy=policy, answerable=False)


@with_a_gap(0.12, low=45.0, high=500.0)
def ferry_crossings(generator: np.random.Generator) -> World:
    """A ferry stays in port, goes slowly, or at full speed. In high waves and bad sight together (or, in some worlds,
    beyond a line through both) it never went at full speed, though in each alone it did. Two or three captains each
    have a rule, and stray from it. The policy goes by the timetable.

    Columns: waves (m), sight (km), passengers, minutes behind, tide (a code). Rewards: hundreds a crossing. Never
    logged: 13 to 27 percent of the policy's decisions, in 40 to 75 of its episodes. Effective episodes of 1,000, of the
    same policy where the log can follow: 85 to 480.
    """
    actions, horizon, tides, captains = 3, whole(generator, 2, 8), whole(generator, 3, 5), whole(generator, 2, 3)
    sloping, discount = generator.random() < 0.5, float(generator.choice([1.0, 0.95]))
    high, dim = generator.uniform(1.1, 1.5), generator.uniform(5.5, 8.0)
    fare, late = spread_out(generator, 0.01, 0.04), generator.uniform(0.02, 0.06)
    fuel, rolls = np.array([0.0, 0.6, 1.5]) * generator.uniform(0.5, 1.5), generator.uniform(0.1, 0.5)
    matters = spread_out(generator, 0.8, 3.0) * sign(generator)
    loud, currents = spread_out(generator, 0.8, 2.0), generator.normal(0.0, 0.3, tides)
    shares, sure = generator.dirichlet(np.full(captains, 5.0)), generator.uniform(0.3, 0.6)
    bounds = generator.uniform([0.9, 0.5, 0.0], [1.8, 4.0, 12.0], (captains, 3))
    haste, dares = generator.normal(0.0, 5.0), generator.uniform(0.55, 1.0)
    whims, lasting = generator.normal(0.0, 0.5, (4, actions)), generator.uniform(0.4, 0.8)

    def there(seen: Table) -> Mask:
        rough, thick = (seen[:, 0] - high) / 0.5, (dim - seen[:, 1]) / 4.0
        return rough + thick > 0.3 if sloping else (rough > -0.6) & (thick > -0.3)

    def initial(count: int, noise: np.random.Generator) -> Table:
        waves, sight = noise.gamma(4.0, 0.3, count), np.minimum(noise.gamma(3.0, 2.8, count), 25.0)
        aboard = noise.poisson(120.0, count)
        return table(waves, sight, aboard, noise.exponential(8.0, count), noise.integers(tides, size=count))

    def step(states: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        waves, sight, aboard, behind, tide = states.T
        count, sailed = len(states), taken > 0
        odd = (taken == 2) & there(states)
        rough = rolls * np.maximum(waves - 1.0, 0.0) * np.array([0.0, 0.5, 1.0])[taken]
        rewards = fare * aboard * sailed - fuel[taken] - late * np.maximum(behind, 0.0) - rough * aboard / 120.0
        rewards = rewards + currents[codes(tide)] * sailed + matters * odd + loud * noise.normal(size=count)
        left = np.where(sailed, 0.0, 0.6 * aboard)
        behind = np.clip(0.5 * behind + np.array([18.0, 6.0, -5.0])[taken] + 6.0 * noise.normal(size=count), 0.0, 90.0)
        waves = np.maximum(1.2 + lasting * (waves - 1.2) + 0.4 * noise.normal(size=count), 0.05)
        sight = np.clip(8.4 + lasting * (sight - 8.4) + 3.2 * noise.normal(size=count), 0.05, 25.0)
        aboard = noise.poisson(100.0, count) + np.round(left)
        return table(waves, sight, aboard, behind, (tide + 1.0) % tides), rewards, nobody(states)

    def captain(bound: np.ndarray, seen: Table) -> Choice:
        stays = (seen[:, 0] > bound[0] + 0.8) | (seen[:, 1] < bound[1] - 0.4)
        return np.where(stays, 0, np.where((seen[:, 0] > bound[0]) & (seen[:, 3] < bound[2]), 1, 2))

    def mixed(seen: Table) -> Grid:
        odds = np.full((len(seen), actions), (1.0 - sure) / actions)
        for share, bound in zip(shares, bounds, strict=True):
            odds += sure * share * np.eye(actions)[captain(bound, seen)]
        return odds

    def wish(seen: Table) -> Grid:
        parts = [np.tanh(seen[:, 0] - 1.2), np.tanh((seen[:, 3] - 8.0) / 8.0), np.tanh((seen[:, 2] - 110.0) / 25.0)]
        return weighed(np.column_stack([np.ones(len(seen)), *parts]), whims)

    def hurrying(seen: Table) -> Mask:
        return there(seen) & (seen[:, 3] > 4.0 + haste)

    usual = never_there(mixed, 2, there)
    policy = instead_there(leaning(usual, wish, 1.1)(1.0), 2, hurrying, dares)
    return World(horizon, actions, initial, step, behavior=usual, policy=policy, discount=discount, answerable=False)
