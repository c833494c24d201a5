"""Traffic: trams that run late one behind the other, and a motorway whose ramp is metered."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from repbm.domains.worlds._fifth_exam._choices import adopting, as_usual, asked, favoring, surer
from repbm.domains.worlds._fifth_exam._parts import (
    Codes,
    Measure,
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
    loyal,
    never,
    sigmoid,
    stairs,
)
from repbm.domains.worlds._world import World


def tram_headways(generator: np.random.Generator) -> World:
    """Trams that run late make those behind them late; the first is sped up, left, or held. Linear, with much noise.

    Columns: seconds that each tram is late, passengers in them, and the order given before.
    """
    trams, horizon = integer(generator, 2, 4), integer(generator, 8, 20)
    actions = int(generator.choice([3, 5]))
    orders = np.linspace(-1.0, 1.0, actions) * generator.uniform(30.0, 60.0)
    keeps, passes = generator.uniform(0.55, 0.85), generator.uniform(0.1, 0.3)
    moves = np.eye(trams) * keeps + np.eye(trams, k=-1) * passes
    reaches = generator.uniform(0.4, 0.9) ** np.arange(trams)
    loud, crowds = generator.uniform(15.0, 40.0), generator.uniform(0.03, 0.12)
    drift, effort = generator.normal(0.0, 8.0), generator.uniform(0.05, 0.3)
    heed = generator.dirichlet(np.ones(trams))
    sees = generator.dirichlet(np.full(trams, 3.0))
    sticks, least = generator.uniform(0.1, 0.35), generator.uniform(0.035, 0.06)
    marks = 40.0 * (np.arange(actions - 1) - 0.5 * (actions - 2)) * generator.uniform(0.8, 1.6)

    def initial(count: int, noise: np.random.Generator) -> Rows:
        late = noise.normal(0.0, 60.0, (count, trams))
        return columns(late, noise.normal(80.0, 12.0, count), np.full(count, actions // 2))

    def step(states: Rows, taken: Codes, noise: np.random.Generator) -> Result:
        late, load = states[:, :trams], states[:, trams]
        rewards = -load * np.abs(late).mean(axis=1) / 3600.0 - effort * (orders[taken] / 60.0) ** 2
        late = late @ moves.T + np.outer(orders[taken], reaches) + drift + loud * noise.normal(size=late.shape)
        load = 80.0 + 0.7 * (load - 80.0) + crowds * late[:, 0] + 6.0 * noise.normal(size=len(load))
        return columns(late, np.maximum(load, 5.0), taken), rewards, never(states)

    def behind(weights: np.ndarray, allowed: float) -> Measure:
        return lambda seen: allowed - seen[:, :trams] @ weights

    blurred = stairs(behind(heed, 0.0), marks, generator.uniform(8.0, 25.0))
    usual = at_least(loyal(blurred, lambda seen: seen[:, -1].astype(np.int64), sticks), least)
    better = stairs(behind(sees, -drift), 0.7 * marks, 4.0)
    change = adopting(usual, better) if chance(generator) else favoring(usual, better, 4.0)
    return asked(as_usual(horizon, usual, initial, step), change, generator)


def ramp_metering(generator: np.random.Generator) -> World:
    """A motorway takes in cars from its ramp, few, some or many; flow is the less sure the denser it gets, and breaks
    down beyond a capacity: noise that depends on the state. The state after the last minutes is not logged.

    Columns: density (cars a km), cars that wait on the ramp, demand (cars an hour), and the part of the rush gone by.
    """
    actions, horizon = integer(generator, 2, 4), integer(generator, 10, 25)
    let_in = np.linspace(4.0, 16.0, actions) * generator.uniform(0.8, 1.2)
    full, top = generator.uniform(32.0, 42.0), generator.uniform(1.6, 2.2)
    drop, loud = generator.uniform(0.1, 0.3), generator.uniform(0.4, 1.0)
    rush, waits = generator.uniform(700.0, 1000.0), generator.uniform(1.0, 4.0)
    marks = np.sort(full + generator.normal(-4.0, 6.0, 2))
    tables = generator.dirichlet(np.full(actions, 1.5), (2, 4))
    shares, least = generator.dirichlet([4.0, 4.0]), generator.uniform(0.04, 0.07)

    def initial(count: int, noise: np.random.Generator) -> Rows:
        parts = noise.normal(28.0, 5.0, count), noise.poisson(8.0, count), noise.normal(rush, 80.0, count)
        return columns(*parts, np.zeros(count))

    def step(states: Rows, taken: Codes, noise: np.random.Generator) -> Result:
        density, queue, demand, gone = states.T
        count = len(states)
        entered = np.minimum(let_in[taken], queue)
        broken = sigmoid((density - full) / 2.0)
        flow = top * density * np.exp(-0.5 * (density / full) ** 2) * (1.0 - drop * broken)
        unsure = loud * (0.5 + (density / full) ** 2 * 2.0)
        density = density + 0.5 * (entered + 0.032 * demand - flow) + unsure * noise.normal(size=count)
        density = np.clip(density, 4.0, 110.0)
        queue = np.minimum(queue - entered + noise.poisson(demand / 100.0), 90.0)
        swell = rush * (1.0 + 0.35 * np.sin(np.pi * gone))
        demand = np.maximum(0.8 * demand + 0.2 * swell + 40.0 * noise.normal(size=count), 100.0)
        rewards = 10.0 * flow * (1.0 + 0.05 * noise.normal(size=count)) - waits * queue
        rewards = rewards - 40.0 * happens(0.05 * broken, noise)
        return columns(density, queue, demand, gone + 1.0 / horizon), rewards, never(states)

    def tree(mark: float, table: np.ndarray) -> Rule:
        return leaves(lambda seen: 2 * (seen[:, 0] > mark) + (seen[:, 1] > 15.0), table)

    def calm(seen: Rows) -> Codes:
        room = np.clip((full + 4.0 - seen[:, 0]) / 10.0 + 0.01 * (seen[:, 1] - 10.0), 0.0, 0.999)
        return (actions * room).astype(np.int64)

    usual = at_least(crew([tree(mark, table) for mark, table in zip(marks, tables, strict=True)], shares), least)
    change = favoring(usual, certain(calm, actions), 3.0) if chance(generator, 0.7) else surer(usual, 1.5)
    return replace(asked(as_usual(horizon, usual, initial, step), change, generator), last_state=False)
