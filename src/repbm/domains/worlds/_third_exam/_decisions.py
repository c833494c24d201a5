"""Who decides in the worlds of the third exam: habits that make logs, and policies at a distance from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from repbm.core import draw
from repbm.domains.worlds._third_exam._parts import (
    Chances,
    Dress,
    Index,
    Initial,
    Rule,
    Scoring,
    Sights,
    Step,
    logistic,
    soft,
)
from repbm.domains.worlds._world import Probabilities, World

STRENGTHS = np.geomspace(4.0, 0.1, 10)
"""How far a policy goes, from boldest to most timid."""

_PILOTS = 600


def slip_of(generator: np.random.Generator, horizon: int, low: float, high: float) -> float:
    """How often a habit slips in a step, so that between a share low and a share high of episodes has no slip."""
    return 1.0 - float(generator.uniform(low, high)) ** (1.0 / horizon)


def width_of(generator: np.random.Generator, horizon: int) -> float:
    """How widely cuts are missed: the less, the more often they are read in an episode."""
    return float(generator.uniform(0.4, 1.4)) / horizon


def _slipping(chances: Chances, slip: float) -> Chances:
    return (1.0 - slip) * chances + slip / chances.shape[1]


def weighing(scores: Scoring, slip: float) -> Rule:
    """Softmax of scores, but any action when it slips."""
    return lambda sights: _slipping(soft(scores(sights)), slip)


def greedy(scores: Scoring, slip: float = 0.0) -> Rule:
    """The action of the highest score, but any action when it slips."""

    def rule(sights: Sights) -> Chances:
        found = scores(sights)
        return _slipping(np.eye(found.shape[1])[found.argmax(axis=1)], slip)

    return rule


def ladder(index: Index, cuts: Float[np.ndarray, " steps"], width: float = 0.0, slip: float = 0.0) -> Rule:
    """One action higher for every cut that the index passes; cuts are read with logistic errors of some width."""

    def rule(sights: Sights) -> Chances:
        beyond = cuts - index(sights)[:, None]
        below = logistic(beyond / width) if width > 0.0 else (beyond > 0.0).astype(np.float64)
        whole = np.column_stack([np.zeros(len(below)), below, np.ones(len(below))])
        return _slipping(np.diff(whole, axis=1), slip)

    return rule


def leaning(usual: Rule, scores: Scoring, strength: float) -> Rule:
    """The usual chances, with odds that are moved by the scores; no odds move beyond some bound."""

    def rule(sights: Sights) -> Chances:
        chances, found = usual(sights), scores(sights)
        found = found - found.mean(axis=1, keepdims=True)
        return soft(np.log(chances) + strength * np.clip(found, -1.5, 1.5))

    return rule


def sharing(usual: Rule, other: Rule, share: float) -> Rule:
    """The other rule in a share of decisions, the usual one in the rest."""
    return lambda sights: (1.0 - share) * usual(sights) + share * other(sights)


def leanings(usual: Rule, scores: Scoring) -> list[Rule]:
    return [leaning(usual, scores, strength) for strength in STRENGTHS]


def sharings(usual: Rule, other: Rule) -> list[Rule]:
    return [sharing(usual, other, min(1.0, strength / 2.0)) for strength in STRENGTHS]


def firm(habit: Scoring, wish: Scoring) -> list[Rule]:
    """Policies without chance that take the best action by habit and wish together."""

    def one(strength: float) -> Rule:
        return greedy(lambda sights: habit(sights) + strength * wish(sights))

    return [one(strength) for strength in STRENGTHS]


def shifted(index: Index, cuts: Float[np.ndarray, " steps"], shift: float) -> list[Rule]:
    """Policies without chance, whose cuts are moved."""
    return [ladder(index, cuts + shift * strength) for strength in STRENGTHS]


def effective_shares(
    world: World, candidates: Sequence[Probabilities], generator: np.random.Generator, episodes: int = _PILOTS
) -> Float[np.ndarray, " candidates"]:
    """For every candidate, the effective size of plain weights of whole episodes, as a share of the episodes."""
    weights = np.ones((len(candidates), episodes))
    states, who = world.initial(episodes, generator), np.arange(episodes)
    for _ in range(world.horizon):
        chances = world.behavior(states)
        taken = draw(chances, generator)
        seen, at = world.observe(states), (np.arange(len(who)), taken)
        for weight, candidate in zip(weights, candidates, strict=True):
            weight[who] *= candidate(seen)[at] / chances[at]
        states, _, ended = world.step(states, taken, generator)
        states, who = states[~ended], who[~ended]
        if not len(who):
            break
    means = weights.mean(axis=1)
    return means**2 / np.maximum((weights**2).mean(axis=1), 1e-300) * np.minimum(means, 1.0)


def asked(
    world: World, dress: Dress, rules: Sequence[Rule], generator: np.random.Generator, low: float, high: float
) -> World:
    """The world with the boldest of the rules that leaves a share of effective episodes drawn from low to high.

    Where none leaves so much it is the one that leaves most.
    """
    candidates = [_seeing(rule, dress) for rule in rules]
    least = float(np.exp(generator.uniform(np.log(low), np.log(high))))
    shares = effective_shares(world, candidates, generator)
    enough = shares >= least
    return replace(world, policy=candidates[int(enough.argmax() if enough.any() else shares.argmax())])


def seen_whole(
    horizon: int, actions: int, initial: Initial, step: Step, usual: Rule, dress: Dress, discount: float = 1.0
) -> World:
    """A world whose log shows the whole state, and whose policy is still the habit itself."""
    return World(
        horizon=horizon,
        actions=actions,
        initial=initial,
        step=step,
        behavior=usual,
        policy=_seeing(usual, dress),
        observe=dress.on,
        discount=discount,
    )


def _seeing(rule: Rule, dress: Dress) -> Probabilities:
    return lambda seen: rule(dress.off(seen))
