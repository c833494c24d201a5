"""Clinics: patients who leave their ventilator, teeth from check to check, and fevers of unknown kind."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from repbm.domains.worlds._fifth_exam._choices import adopting, as_usual, asked, favoring, sparing, surer
from repbm.domains.worlds._fifth_exam._parts import (
    Codes,
    Column,
    Places,
    Result,
    Rows,
    answers,
    at_least,
    certain,
    chance,
    columns,
    happens,
    integer,
    leaves,
    likeness,
    sigmoid,
)
from repbm.domains.worlds._world import World


def ventilator_weaning(generator: np.random.Generator) -> World:
    """Each day the support by a ventilator is lowered, kept or raised, until the patient breathes alone or dies.

    Days without the ventilator count, once, at the end. Columns: oxygenation (P/F), breaths a minute, support (cmH2O),
    sedation, and the day. The log has no propensities.
    """
    horizon = integer(generator, 14, 26)
    mends, strains, hurts = generator.uniform(6.0, 16.0), generator.uniform(1.5, 3.0), generator.uniform(0.5, 2.0)
    leaves_by, dies_by = generator.uniform(-1.2, -0.3), generator.uniform(-4.6, -3.6)
    turns, wakes = generator.uniform(1.5, 3.0), generator.uniform(0.6, 0.85)
    fast, poor, much = generator.normal(32.0, 2.0), generator.normal(210.0, 20.0), generator.normal(12.0, 1.5)
    table = np.stack([generator.dirichlet(4.0 * np.array(lean)) for lean in _LEANS])
    least = generator.uniform(0.04, 0.07)
    brisk, bold = generator.uniform(-4.0, 4.0), chance(generator, 0.6)

    def initial(count: int, noise: np.random.Generator) -> Rows:
        oxygen, breaths = noise.normal(190.0, 40.0, count), noise.normal(30.0, 5.0, count)
        support, calm = noise.normal(14.0, 3.0, count), noise.uniform(0.5, 4.0, count)
        return columns(np.maximum(oxygen, 60.0), np.maximum(breaths, 10.0), np.clip(support, 5.0, 24.0), calm, calm * 0)

    def step(states: Rows, taken: Codes, noise: np.random.Generator) -> Result:
        oxygen, breaths, support, calm, day = states.T
        count = len(states)
        support = np.clip(support + turns * (taken - 1.0), 4.0, 24.0)
        lacks = np.maximum(24.0 - 0.05 * oxygen - support, 0.0)
        harmed = hurts * np.maximum(support - 13.0, 0.0) + 0.8 * lacks
        oxygen = np.clip(
            oxygen + mends * (1.0 - oxygen / 450.0) - harmed + 14.0 * noise.normal(size=count), 50.0, 480.0
        )
        goal = 20.0 + strains * lacks - 1.0 * calm
        breaths = np.clip(0.5 * breaths + 0.5 * goal + 2.5 * noise.normal(size=count), 6.0, 60.0)
        calm = np.maximum(wakes * calm + 0.4 * noise.exponential(1.0, count) + 0.3 * (taken == 2), 0.0)
        ready = leaves_by + 0.012 * (oxygen - 220.0) - 0.06 * (breaths - 24.0) - 0.3 * (support - 8.0) - 0.3 * calm
        free = happens(sigmoid(ready), noise)
        dead = ~free & happens(sigmoid(dies_by - 0.012 * (oxygen - 200.0) + 0.05 * (breaths - 30.0)), noise)
        rewards = np.where(free, np.maximum(28.0 - day, 0.0), 0.0)
        return columns(oxygen, breaths, support, calm, day + 1.0), rewards, free | dead

    def sort(seen: Rows) -> Codes:
        return answers(seen[:, 1] > fast, seen[:, 0] < poor, seen[:, 2] > much)

    def protocol(seen: Rows) -> Codes:
        keeps, tires = seen[:, 1] < 30.0 + brisk, (seen[:, 1] > 38.0 + brisk) | (seen[:, 0] < 130.0)
        return np.where(tires, 2, np.where(keeps, 0, 1))

    usual = at_least(leaves(sort, table), least)
    change = adopting(usual, certain(protocol, 3)) if bold else favoring(usual, certain(protocol, 3), 3.0)
    world = replace(as_usual(horizon, usual, initial, step), propensities=False)
    return asked(world, change, generator)


_LEANS = (
    (1.6, 1.2, 0.2),
    (1.8, 0.8, 0.2),
    (1.0, 1.4, 0.4),
    (1.2, 1.2, 0.4),
    (0.4, 1.4, 1.0),
    (0.8, 1.2, 0.8),
    (0.2, 1.0, 1.8),
    (0.4, 1.4, 1.2),
)
"""What is done for patients with fast breath or not, poor oxygenation or not, much support or not."""


def tooth_record(generator: np.random.Generator) -> World:
    """A tooth goes from sound to lost over half-yearly checks, faster with poor care: a finite table of 15 to 18.

    It is watched, varnished, filled or (in some) crowned. Columns: what it is, by the clinic's own code, and how it is
    cared for. Patients move away, the log loses sight of them. A lost tooth ends the record.
    """
    stages, cares, horizon = integer(generator, 5, 6), 3, integer(generator, 6, 14)
    actions = integer(generator, 3, 4)
    codes = generator.permutation(np.arange(10, 10 + stages)).astype(np.float64)
    worse = np.sort(generator.beta(2.0, 6.0, (stages, cares)), axis=1)[:, ::-1]
    heals = np.array([0.0, 0.25, 0.55, 0.75])[:actions] * generator.uniform(0.7, 1.2, actions)
    late = generator.uniform(0.5, 0.9) ** np.arange(stages)
    cost = np.array([0.0, 25.0, 110.0, 420.0])[:actions] * generator.uniform(0.8, 1.3, actions)
    pain = np.sort(generator.exponential(60.0, stages))
    gone, cares_by = generator.uniform(300.0, 900.0), generator.dirichlet([2.0, 4.0, 2.0], cares)
    table = generator.dirichlet([2.5, 2.0, 1.5, 0.6][:actions], (stages, cares))
    moves_away, least = generator.uniform(0.02, 0.07, cares), generator.uniform(0.035, 0.05)
    how = integer(generator, 0, 2)

    def which(seen: Rows) -> tuple[Codes, Codes]:
        return np.argsort(codes)[(seen[:, 0] - 10.0).astype(np.int64)], seen[:, 1].astype(np.int64)

    def initial(count: int, noise: np.random.Generator) -> Rows:
        stage = noise.choice(stages - 1, count, p=0.7 ** np.arange(stages - 1) / (0.7 ** np.arange(stages - 1)).sum())
        return columns(codes[stage], noise.choice(cares, count))

    def step(states: Rows, taken: Codes, noise: np.random.Generator) -> Result:
        stage, care = which(states)
        count = len(states)
        mended = happens(heals[taken] * late[stage], noise) & (stage > 0)
        decayed = happens(worse[stage, care] * np.where(taken == 1, 0.5, 1.0), noise) & ~mended
        rewards = -cost[taken] - pain[stage] * (1.0 + 0.3 * noise.exponential(1.0, count))
        stage = stage + decayed - mended
        lost = stage >= stages
        rewards = rewards - gone * lost
        draws = noise.random(count)[:, None] > np.cumsum(cares_by[care], axis=1)[:, :-1]
        care = np.where(noise.random(count) < 0.25, draws.sum(axis=1), care)
        return columns(codes[np.minimum(stage, stages - 1)], care), rewards, lost

    def wise(seen: Rows) -> Codes:
        stage, care = which(seen)
        return np.where(stage == 0, 0, np.where(stage < 2 + (care == 2), 1, 2))

    usual = at_least(lambda seen: table[which(seen)], least)
    changes = sparing(usual, 2, 1), favoring(usual, certain(wise, actions), 4.0), surer(usual, 2.0)
    world = asked(as_usual(horizon, usual, initial, step), changes[how], generator)
    return replace(world, lost=lambda states: moves_away[which(states)[1]])


def fever_clinic(generator: np.random.Generator) -> World:
    """A fever is viral, or of bacteria that one drug kills and the other does not; nobody knows, doctors included.

    Seen: temperature, CRP (mg/l), and the day; doctors go by these. Not seen: the kind, and how many germs there are.
    Visits end when the fever is over.
    """
    actions, horizon = integer(generator, 2, 3), integer(generator, 4, 9)
    kinds = generator.dirichlet([4.0, 3.0, 3.0])
    kill = np.array([[0.0, 0.0, 0.0], [0.0, 1.0, 0.25], [0.1, 0.5, 1.0]])[:actions] * generator.uniform(0.8, 1.8)
    grows, defends = generator.uniform(0.2, 0.4, 3), generator.uniform(0.02, 0.06)
    heats, inflames = generator.uniform(0.5, 0.9), np.array([0.5, 1.0, 1.0]) * generator.uniform(14.0, 30.0)
    harms = np.array([0.0, 0.5, 1.0])[:actions] * generator.uniform(0.2, 2.0)
    errors, least = generator.uniform(0.25, 0.5), generator.uniform(0.05, 0.09)
    homes = np.column_stack([generator.normal(0.0, 0.8, actions), np.linspace(-1.0, 1.0, actions)])
    reach, cut, how = generator.uniform(0.8, 1.6), generator.uniform(10.0, 60.0), chance(generator)

    def shown(germs: Column, kind: Column, day: Column, noise: np.random.Generator) -> Rows:
        warmth = 36.8 + heats * np.log1p(germs) + errors * noise.normal(size=len(germs))
        marker = inflames[kind.astype(np.int64)] * germs * np.exp(0.4 * noise.normal(size=len(germs)))
        return columns(warmth, marker + noise.gamma(2.0, 1.5, len(germs)), day, kind, germs)

    def initial(count: int, noise: np.random.Generator) -> Rows:
        kind = noise.choice(3, count, p=kinds).astype(np.float64)
        return shown(noise.gamma(4.0, 0.6, count), kind, np.zeros(count), noise)

    def step(states: Rows, taken: Codes, noise: np.random.Generator) -> Result:
        _, _, day, kind, germs = states.T
        count, code = len(states), kind.astype(np.int64)
        change = grows[code] - kill[taken, code] - defends * (day + 1.0) * (1.0 + (code == 0))
        germs = np.minimum(germs * np.exp(change + 0.2 * noise.normal(size=count)), 15.0)
        over = happens(np.exp(-1.8 * germs), noise)
        rewards = -np.log1p(germs) - harms[taken] + 0.2 * noise.normal(size=count)
        return shown(germs, kind, day + 1.0, noise), rewards, over

    def place(seen: Rows) -> Places:
        return np.column_stack([seen[:, 0] - 37.6, np.log(seen[:, 1] / 30.0)])

    def wise(seen: Rows) -> Codes:
        return np.where(seen[:, 1] > cut, np.where((seen[:, 2] > 2.0) & (seen[:, 0] > 37.8), actions - 1, 1), 0)

    usual = at_least(likeness(place, homes, reach), least)
    change = adopting(usual, certain(wise, actions)) if how else favoring(usual, certain(wise, actions), 4.0)
    return asked(as_usual(horizon, usual, initial, step, seen=3), change, generator)
