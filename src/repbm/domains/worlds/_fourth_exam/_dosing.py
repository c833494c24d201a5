"""Doses: of a drug that thins the blood, visit by visit, and of an anesthetic, once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from repbm.domains.worlds._fourth_exam._changes import (
    asking,
    best,
    grading,
    grouping,
    habit,
    handing,
    logged,
    moving,
    steering,
    tilting,
)
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


def anticoagulant(generator: np.random.Generator) -> World:
    """Each visit the dose of a blood thinner is lowered, kept or raised; it works late, and more under antibiotics.

    A visit counts if clotting is within its range; beyond others there are bleedings and strokes. Many drop out, the
    more the worse they are adjusted: the log loses sight of them. Parts: clotting (in tenths), dose, dose at work,
    diet, age, and two flags: a gene and antibiotics. The log has no propensities.
    """
    actions, horizon = 3, whole(generator, 6, 14)
    change_by, lag = generator.uniform(0.25, 0.5), generator.uniform(0.35, 0.7)
    gene_adds, drug_adds = generator.uniform(0.15, 0.4), generator.uniform(0.2, 0.5)
    eats, old, shakes = generator.uniform(0.1, 0.25), generator.uniform(0.0, 0.15), generator.uniform(0.08, 0.18)
    bleeds, clots = generator.uniform(-4.0, -2.8), generator.uniform(-4.2, -3.0)
    harm, low, high = generator.uniform(1.5, 4.0), 2.0, generator.choice([3.0, 3.5])
    aim, heed = generator.normal(0.0, 0.25), generator.uniform(0.8, 1.6)
    leaves, upset = generator.uniform(-4.8, -3.8), generator.uniform(0.3, 0.8)
    sheet = Sheet.drawn(generator, 7, plain=(5, 6))

    def clotting(work: Amounts, diet: Amounts, age: Amounts, gene: Amounts, drug: Amounts) -> Amounts:
        return np.exp(work * (0.9 + gene_adds * gene + drug_adds * drug) - eats * diet + old * age)

    def initial(count: int, noise: np.random.Generator) -> State:
        diet, age = noise.normal(size=count), noise.normal(size=count)
        gene, drug = (noise.random(count) < 0.3) * 1.0, (noise.random(count) < 0.15) * 1.0
        dose = np.maximum(0.9 + 0.35 * noise.normal(size=count), 0.1)
        inr = np.clip(clotting(dose, diet, age, gene, drug), 0.8, 9.0)
        return np.column_stack([inr.round(1), dose, dose, diet, age, gene, drug])

    def step(states: State, taken: Picks, noise: np.random.Generator) -> Happening:
        inr, dose, work, diet, age, gene, drug = states.T
        count = len(states)
        dose = np.clip(dose + change_by * (taken - 1.0) * (0.6 + 0.4 * dose), 0.05, 2.2)
        work = work + lag * (dose - work)
        diet = 0.7 * diet + 0.7 * noise.normal(size=count)
        drug = np.where(drug > 0.5, flips(np.full(count, 0.4), noise), flips(np.full(count, 0.1), noise)) * 1.0
        inr = clotting(work, diet, age, gene, drug) ** 0.7 * inr**0.3 * np.exp(shakes * noise.normal(size=count))
        inr = np.clip(inr, 0.8, 9.0).round(1)
        bled = flips(expit(bleeds + 0.7 * (inr - 3.0) + 0.3 * age * (inr > 4.0)), noise)
        stroke = flips(expit(clots + 1.5 * np.maximum(2.0 - inr, 0.0) + 0.3 * age), noise)
        good = (inr > low - 0.05) & (inr < high + 0.05)
        rewards = 1.0 * good - harm * (bled | stroke) - 0.5 * (inr > 5.0)
        return np.column_stack([inr, dose, work, diet, age, gene, drug]), rewards, nowhere(states)

    def need(shown: Shown, goal: float, careful: float) -> Amounts:
        inr, dose, work, drug = shown[:, 0], shown[:, 1], shown[:, 2], shown[:, 6]
        return heed * (np.log(2.5) + goal - np.log(inr)) - careful * (drug * 0.4 + (dose - work))

    def custom(shown: Shown) -> Scores:
        wanted = bounded(4.0 * need(shown, aim, 0.0), 3.0)
        return np.column_stack([-wanted, np.full(len(wanted), 0.8), wanted])

    def wish(shown: Shown) -> Scores:
        wanted = 2.0 * need(shown, other, 1.0)
        return np.column_stack([-wanted, np.full(len(wanted), 0.3), wanted])

    other = aim + generator.uniform(0.05, 0.3) * turn(generator)
    marks = np.array([-0.35, 0.35]) * generator.uniform(0.6, 1.2)
    if sometimes(generator, 0.4):
        usual = grading(lambda shown: need(shown, aim, 0.0), marks, generator.uniform(0.04, 0.1), 0.03)
        change = moving(lambda shown: need(shown, aim, 0.3), marks, 0.3 * turn(generator))
    else:
        usual = habit(custom, generator.uniform(0.06, 0.2))
        change = tilting(usual, wish) if sometimes(generator) else handing(usual, best(wish))
    world = logged(horizon, actions, initial, step, usual, sheet)
    world = replace(world, lost=lambda states: expit(leaves + upset * np.abs(states[:, 0] - 2.5)))
    return replace(asking(world, sheet, change, generator, 0.08, 0.5), propensities=False)


def anesthetic_dose(generator: np.random.Generator) -> World:
    """One decision: too small a dose hurts, too large a one sickens; which is best hangs on weight, age, a gene and
    on pairs of them. A few more columns say nothing, or say how the patient would fare with any dose.

    Parts: weight, age, liver, the others, and two flags, the gene first.
    """
    others, actions = whole(generator, 0, 4), whole(generator, 4, 6)
    columns = 3 + others + 2
    doses, gene, sex = np.linspace(-1.0, 1.0, actions), columns - 2, columns - 1
    slope, cross = generator.uniform(0.15, 0.45, 3) * generator.choice([-1.0, 1.0], 3), generator.normal(0.0, 0.35, 3)
    tight, height = generator.uniform(0.4, 0.9), generator.uniform(1.5, 4.0)
    sick, errors = generator.uniform(0.0, 1.0), generator.uniform(0.3, 1.2)
    anyway = generator.normal(0.0, 0.5, columns)
    crude, sharp = generator.uniform(0.0, 1.2), generator.uniform(0.8, 3.0)
    wrong, tend = generator.normal(0.0, 0.15, 3), generator.normal(0.0, 0.3)
    sheet = Sheet.drawn(generator, columns, plain=(gene, sex))

    def initial(count: int, noise: np.random.Generator) -> State:
        build = noise.normal(size=(count, 1))
        numbers = 0.4 * build + 0.9 * noise.normal(size=(count, 3 + others))
        numbers[:, 2] = np.exp(0.5 * numbers[:, 2]) - 1.0
        return np.column_stack([numbers, noise.random((count, 2)) < [0.3, 0.5]]).astype(np.float64)

    def ideal(shown: Shown, slopes: np.ndarray) -> Amounts:
        weight, age, liver, carries = shown[:, 0], shown[:, 1], shown[:, 2], shown[:, gene]
        pairs = cross[0] * weight * carries + cross[1] * np.sign(age) * (liver > 0.3) + cross[2] * carries
        return bounded(slopes[0] * weight + slopes[1] * age + slopes[2] * liver + pairs, 1.1)

    def suits(shown: Shown, slopes: np.ndarray) -> Scores:
        off = (doses - ideal(shown, slopes)[:, None]) / tight
        return height * np.exp(-0.5 * off**2) - sick * np.maximum(off - 1.0, 0.0) ** 1.5

    def step(states: State, taken: Picks, noise: np.random.Generator) -> Happening:
        felt = suits(states, slope)[np.arange(len(states)), taken]
        rest = states @ anyway + 0.5 * states[:, sex] * states[:, 1]
        return states, felt + rest + errors * noise.normal(size=len(states)), ~nowhere(states)

    def custom(shown: Shown) -> Scores:
        return -sharp * (doses - bounded(crude * slope[0] * shown[:, :1] + tend, 1.0)) ** 2

    def wish(shown: Shown) -> Scores:
        return suits(shown, slope + wrong)

    usual = habit(custom, generator.uniform(0.1, 0.4))
    world = logged(1, actions, initial, step, usual, sheet)
    changes = (
        steering(custom, wish),
        handing(usual, best(wish)),
        grouping(usual, best(wish), lambda shown: shown[:, 0] + shown[:, gene], -1.5, 1.5),
    )
    return asking(world, sheet, changes[whole(generator, 0, 2)], generator, 0.08, 0.6)
