"""What was never logged: heavy lifts in gusts, injections soon after one, early bargains, and languages left out."""

from __future__ import annotations

import numpy as np

from repbm.domains.worlds._sixth_exam._parts import (
    Choice,
    Grid,
    Mask,
    Moved,
    Table,
    Vector,
    codes,
    flip,
    instead_there,
    leaning,
    never_there,
    no_end,
    rise,
    soft,
    table,
    whole,
)
from repbm.domains.worlds._world import World


def crane_lifts(generator: np.random.Generator) -> World:
    """A crane waits, lifts half its load, or all of it; all of it was never lifted for some kinds of wind and reach
    together, and the policy does it there.

    Which, differs: round about one point, beyond a slanted line, or along a slanted band. Columns: wind (m/s), reach
    (m), tons left to lift, age of the rope, and the hour. Rewards in hundreds.
    """
    horizon, shape = whole(generator, 2, 6), whole(generator, 0, 2)
    pays, wage = generator.uniform(3.0, 8.0), generator.uniform(0.5, 2.0)
    sways, frays = generator.uniform(0.1, 0.4), generator.uniform(0.1, 0.4)
    tilt, width = generator.uniform(0.7, 1.4), generator.uniform(0.45, 0.7)
    center, radius = generator.uniform(-0.2, 0.5, 2), generator.uniform(0.6, 0.85)
    beyond, turn = generator.uniform(0.4, 0.9), generator.choice([-1.0, 1.0])
    matters = generator.uniform(0.7, 1.3) * pays * generator.choice([-1.0, 1.0])
    likes_all, shuns = generator.normal(0.0, 0.4), generator.uniform(0.1, 0.5)
    least, dares = generator.uniform(0.06, 0.1), generator.uniform(0.75, 1.0)
    loud, lean = generator.uniform(1.5, 4.0), generator.uniform(0.3, 0.8) * generator.choice([-1.0, 1.0])

    def scaled(seen: Table) -> tuple[Vector, Vector]:
        return (seen[:, 0] - 7.0) / 2.5, (seen[:, 1] - 25.0) / 8.0

    def there(seen: Table) -> Mask:
        gusts, far = scaled(seen)
        if shape == 0:
            return (gusts - center[0]) ** 2 + (far - center[1]) ** 2 < radius**2
        slanted = gusts + turn * tilt * far
        return slanted > beyond if shape == 1 else np.abs(slanted - 0.3 * beyond) < width

    def initial(count: int, noise: np.random.Generator) -> Table:
        wind, reach = noise.normal(7.0, 2.5, count), noise.normal(25.0, 8.0, count)
        left = noise.gamma(8.0, 5.0, count)
        return table(np.maximum(wind, 0.0), np.maximum(reach, 5.0), left, noise.gamma(2.0, 1.0, count), np.zeros(count))

    def step(states: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        wind, reach, left, rope, hour = states.T
        count, lifted = len(states), np.array([0.0, 0.5, 1.0])[taken]
        strained = (taken == 2) & there(states)
        rewards = pays * lifted * np.minimum(left / 10.0, 1.0) - wage - sways * lifted * np.maximum(wind - 6.0, 0.0)
        rewards = rewards - 0.2 * lifted * rope + matters * strained + loud * noise.normal(size=count)
        left = np.maximum(left - 6.0 * lifted, 0.0) + noise.exponential(3.0, count)
        wind = np.maximum(7.0 + 0.6 * (wind - 7.0) + 2.0 * noise.normal(size=count), 0.0)
        reach = np.maximum(25.0 + 0.2 * (reach - 25.0) + 7.8 * noise.normal(size=count), 5.0)
        return table(wind, reach, left, rope + frays * lifted, hour + 1.0), rewards, no_end(states)

    def likes(seen: Table) -> Grid:
        gusts, far = scaled(seen)
        bold = likes_all - shuns * np.clip(gusts + 0.5 * far, -2.0, 2.0)
        return np.column_stack([np.zeros(len(seen)), 0.5 * bold + 0.5, bold])

    def wish(seen: Table) -> Grid:
        return np.outer(np.tanh((seen[:, 2] - 40.0) / 15.0), [0.0, 0.5, 1.0])

    usual = never_there(soft(likes, least), 2, there)
    policy = instead_there(leaning(usual, wish, lean)(1.0), 2, there, dares)
    return World(horizon, 3, initial, step, behavior=usual, policy=policy, answerable=False)


def joint_injection(generator: np.random.Generator) -> World:
    """A sore joint is rested, trained, or injected; never again within some visits after an injection, or (in some)
    never a second time. The policy goes by pain alone.

    Columns: pain (0 to 100), mobility, visits since the last injection (20: none so far), injections, and the visit.
    """
    horizon, actions = whole(generator, 6, 10), whole(generator, 2, 3)
    once, waits = flip(generator, 0.4), whole(generator, 2, 4)
    last = actions - 1
    eases, trains = generator.uniform(10.0, 18.0), generator.uniform(1.0, 4.0)
    returns_by, drifts = generator.uniform(0.25, 0.45), generator.normal(2.0, 1.0)
    matters = generator.uniform(1.2, 2.0) * eases * generator.choice([-1.0, 1.0])
    wears, fee = generator.uniform(0.0, 3.0), generator.uniform(1.0, 8.0)
    hurts, asks = generator.normal(50.0, 5.0), generator.normal(50.0, 3.0) - 6.0 * (matters < 0.0)
    keen, least = generator.uniform(0.4, 1.0), generator.uniform(0.06, 0.1)
    dares, loud = generator.uniform(0.3, 0.55), generator.uniform(6.0, 10.0)

    def initial(count: int, noise: np.random.Generator) -> Table:
        pain, moves = np.clip(noise.normal(55.0, 14.0, count), 0.0, 100.0), noise.normal(60.0, 12.0, count)
        return table(pain, moves, np.full(count, 20.0), np.zeros((count, 2)))

    def barred(seen: Table) -> Mask:
        return seen[:, 3] > 0.0 if once else seen[:, 2] <= waits

    def step(states: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        pain, moves, since, given, visit = states.T
        count, injected = len(states), taken == last
        again = injected & barred(states)
        trained = (taken == 1) & (actions == 3)
        eased = eases * injected - matters * again + trains * trained
        pain = (
            pain + drifts - eased + returns_by * (55.0 - pain) - 0.05 * (moves - 60.0) + loud * noise.normal(size=count)
        )
        pain = np.clip(pain, 0.0, 100.0)
        moves = np.clip(
            moves + 1.5 * trained - wears * again - 0.05 * (pain - 50.0) + 2.0 * noise.normal(size=count), 0.0, 100.0
        )
        rewards = -0.1 * pain + 0.05 * moves - 0.1 * fee * injected
        since = np.where(injected, 1.0, np.minimum(since + 1.0, 20.0))
        return table(pain, moves, since, given + injected, visit + 1.0), rewards, no_end(states)

    def likes(seen: Table) -> Grid:
        sore = keen * np.clip((seen[:, 0] - hurts) / 10.0, -2.0, 2.5)
        return np.column_stack([np.zeros((len(seen), last)) + 0.3, sore])

    def suffers(seen: Table) -> Mask:
        return seen[:, 0] > asks

    usual = never_there(soft(likes, least), last, barred)
    policy = instead_there(usual, last, suffers, dares)
    if matters < 0.0:
        policy = instead_there(policy, last, lambda seen: suffers(seen) & barred(seen), 0.5)
    return World(horizon, actions, initial, step, behavior=usual, policy=policy, answerable=False)


def season_markdown(generator: np.random.Generator) -> World:
    """Clothes are sold at full price, a little off, or half off; half off never in the first weeks of a season, or (in
    some) never in the last ones. The policy does so then as well.

    Columns: stock, sales of last week, warmth, price of last week, the week, and how well known a piece is. Rewards in
    thousands.
    """
    horizon, late = whole(generator, 6, 14), flip(generator)
    spread = generator.uniform(0.2, 0.35)
    closed = max(2, round(generator.uniform(0.25, 0.45) * horizon))
    shares = np.array([1.0, 0.8, 0.5])
    pulls = np.array([1.0, 1.25, 1.6]) * generator.uniform(0.9, 1.1, 3)
    matters, sets = generator.uniform(1.6, 2.2) ** generator.choice([-1.0, 1.0]), generator.uniform(0.0, 0.15)
    sells, price = generator.uniform(50.0, 90.0), generator.uniform(30.0, 90.0)
    remembers, stores = generator.uniform(0.2, 0.5), generator.uniform(0.2, 1.0)
    fades, cold = generator.uniform(0.0, 0.04), generator.uniform(-0.03, 0.03)
    least, presses = generator.uniform(0.06, 0.1), generator.uniform(0.2, 0.8)
    dares, half = generator.uniform(0.4, 0.9), generator.normal(-0.3, 0.3)
    lean = generator.uniform(0.4, 0.9) * generator.choice([-1.0, 1.0])
    stays = matters ** generator.uniform(0.1, 0.3)

    def closed_now(seen: Table) -> Mask:
        return seen[:, 4] >= horizon - closed if late else seen[:, 4] < closed

    def initial(count: int, noise: np.random.Generator) -> Table:
        fame = np.exp(spread * noise.normal(size=count))
        stock, sold = np.rint(sells * horizon * noise.uniform(1.2, 2.0, count)), noise.poisson(sells * fame)
        return table(stock, sold, noise.normal(15.0, 4.0, count), np.ones(count), np.zeros(count), fame)

    def step(states: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        stock, sold, warmth, before, week, fame = states.T
        count = len(states)
        untimely = (taken == 2) & closed_now(states)
        pulled = pulls[taken] * np.where(untimely, matters, 1.0)
        trend = (1.0 - remembers) * sells * fame + remembers * np.minimum(sold, 3.0 * sells)
        rate = trend * pulled * np.exp(cold * (warmth - 15.0) - fades * week - sets * (shares[taken] > before))
        sold = np.minimum(noise.negative_binomial(12, 12.0 / (12.0 + rate)), stock)
        rewards = (price * shares[taken] * sold - stores * stock) / 1000.0
        fame = np.clip(fame * np.where(untimely, stays, 1.0), 0.1, 5.0)
        warmth = 15.0 + 0.7 * (warmth - 15.0) + 3.0 * noise.normal(size=count)
        return table(stock - sold, sold, warmth, shares[taken], week + 1.0, fame), rewards, no_end(states)

    def likes(seen: Table) -> Grid:
        behind = presses * np.clip(seen[:, 0] / (sells * horizon) - 1.0 + seen[:, 4] / horizon, -1.0, 1.0)
        return np.column_stack([np.full(len(seen), 0.3) - behind, np.zeros(len(seen)), half + behind])

    usual = never_there(soft(likes, least), 2, closed_now)
    elsewhere = leaning(usual, lambda seen: np.outer(np.tanh(seen[:, 1] / sells - 1.0) + 0.5, [1.0, 0.0, -0.5]), lean)
    policy = instead_there(elsewhere(1.0), 2, closed_now, dares)
    return World(horizon, 3, initial, step, behavior=usual, policy=policy, answerable=False)


def interpreter_desk(generator: np.random.Generator) -> World:
    """Patients of 10 to 15 languages are helped by relatives, by telephone or (in some worlds) by video; for some
    languages the last was never to be had. The policy has it for all alike. How well it works there no row tells.

    Columns: language (a code), doubts of the nurse, minutes waited, age, and (where there are several) the talk. The
    log has no propensities. Rewards: how much was understood, of 100.
    """
    horizon, actions = whole(generator, 1, 3), whole(generator, 2, 3)
    tongues, last = whole(generator, 10, 15), actions - 1
    without = generator.choice(tongues, whole(generator, 3, 4), replace=False)
    crowd = 0.5 * generator.dirichlet(np.full(tongues, 3.0)) + 0.5 / tongues
    hard, helps = generator.normal(0.0, 8.0, tongues), generator.normal(8.0, 4.0, tongues)
    helps[without] += generator.uniform(20.0, 32.0) * generator.choice([-1.0, 1.0])
    phone, waits = generator.normal(4.0, 2.0), generator.uniform(0.05, 0.2)
    loud, clears = generator.uniform(8.0, 14.0), generator.uniform(0.2, 0.6)
    customs, least = generator.normal(0.0, 0.5, (tongues, actions)), generator.uniform(0.06, 0.1)
    dares, lean = generator.uniform(0.5, 0.9), generator.uniform(0.3, 1.0)

    def lacks(seen: Table) -> Mask:
        return np.isin(codes(seen[:, 0]), without)

    def initial(count: int, noise: np.random.Generator) -> Table:
        tongue, doubts = noise.choice(tongues, count, p=crowd), noise.normal(size=count)
        parts = [tongue, doubts, np.floor(noise.exponential(25.0, count)), np.floor(noise.uniform(18.0, 90.0, count))]
        return table(*parts, *([np.zeros(count)] if horizon > 1 else []))

    def step(states: Table, taken: Choice, noise: np.random.Generator) -> Moved:
        tongue, doubts, waited = codes(states[:, 0]), states[:, 1], states[:, 2]
        count = len(states)
        gained = helps[tongue] * (taken == last) + phone * ((taken == 1) & (actions == 3))
        rewards = 55.0 + hard[tongue] + gained - waits * waited - 5.0 * doubts + loud * noise.normal(size=count)
        following = states.copy()
        following[:, 1] = 0.5 * doubts - clears * 0.05 * gained + 0.8 * noise.normal(size=count)
        following[:, 2] = np.floor(noise.exponential(25.0, count))
        following[:, 4:] += 1.0
        return following, np.clip(rewards, 0.0, 100.0), no_end(states)

    def likes(seen: Table) -> Grid:
        return customs[codes(seen[:, 0])] + np.outer(0.4 * np.tanh(seen[:, 1]), np.arange(actions))

    def wish(seen: Table) -> Grid:
        return np.outer(rise(seen[:, 1]), np.arange(actions))

    usual = never_there(soft(likes, least), last, lacks)
    policy = instead_there(leaning(usual, wish, lean)(1.0), last, lacks, dares)
    return World(horizon, actions, initial, step, behavior=usual, policy=policy, propensities=False, answerable=False)
