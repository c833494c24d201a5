"""Policies that are asked about: changes of a habit, taken as far as a log of the habit can follow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from repbm.core import draw
from repbm.domains.worlds._fifth_exam._parts import Chances, Flags, Rows, Rule
from repbm.domains.worlds._world import World

Change = Callable[[float], Rule]
"""A rule for every size of the change, from near 0 to 1."""

Starts = Callable[[int, np.random.Generator], Rows]
Steps = Callable[[Rows, np.ndarray, np.random.Generator], tuple[Rows, np.ndarray, np.ndarray]]

_SIZES = (1.0, 0.82, 0.67, 0.55, 0.45, 0.37, 0.3, 0.24, 0.18, 0.13, 0.08, 0.04)
_PILOTS = 250


def adopting(usual: Rule, other: Rule) -> Change:
    """The other rule is kept to in a share of decisions."""
    return lambda size: lambda seen: (1.0 - size) * usual(seen) + size * other(seen)


def surer(usual: Rule, most: float = 3.0) -> Change:
    """The same habit with less (or, below 0, more) hesitation."""

    def change(size: float) -> Rule:
        def rule(seen: Rows) -> Chances:
            raised = usual(seen) ** (1.0 + most * size)
            return raised / raised.sum(axis=1, keepdims=True)

        return rule

    return change


def favoring(usual: Rule, wish: Rule, most: float) -> Change:
    """What is wished for is done up to (1 + most) times as often, at the expense of the rest."""

    def change(size: float) -> Rule:
        def rule(seen: Rows) -> Chances:
            raised = usual(seen) * (1.0 + most * size * wish(seen))
            return raised / raised.sum(axis=1, keepdims=True)

        return rule

    return change


def sparing(usual: Rule, action: int, instead: int) -> Change:
    """Up to all uses of one action are replaced by another."""

    def change(size: float) -> Rule:
        def rule(seen: Rows) -> Chances:
            chances = usual(seen).copy()
            chances[:, instead] += size * chances[:, action]
            chances[:, action] *= 1.0 - size
            return chances

        return rule

    return change


def there(usual: Rule, region: Callable[[Rows], Flags], inside: Change) -> Change:
    """Changed inside a region of states alone."""

    def change(size: float) -> Rule:
        rule = inside(size)
        return lambda seen: np.where(region(seen)[:, None], rule(seen), usual(seen))

    return change


def share_left(world: World, rule: Rule, seed: int) -> float:
    """The effective share of a log for a rule, 1 / E[weight], told from the rule's own episodes."""
    generator = np.random.default_rng(seed)
    who, now, weights = np.arange(_PILOTS), world.initial(_PILOTS, generator), np.ones(_PILOTS)
    for _ in range(world.horizon):
        own, usual = rule(world.observe(now)), world.behavior(now)
        taken = draw(own, generator)
        weights[who] *= own[np.arange(len(who)), taken] / usual[np.arange(len(who)), taken]
        now, _, ended = world.step(now, taken, generator)
        who, now = who[~ended], now[~ended]
        if not len(who):
            break
    return float(1.0 / weights.mean())


def asked(world: World, change: Change, generator: np.random.Generator, low: float = 0.1, high: float = 0.65) -> World:
    """The world with the largest change that leaves a share of its log, drawn between low and high.

    Where even the least change leaves less, that one is kept to in a share of decisions.
    """
    target = float(np.exp(generator.uniform(np.log(low), np.log(high))))
    seed = int(generator.integers(1 << 31))
    for size in _SIZES:
        if share_left(world, change(size), seed) >= target:
            return replace(world, policy=change(size))
    blended = adopting(world.policy, change(_SIZES[-1]))
    for size in _SIZES:
        if share_left(world, blended(size), seed) >= target:
            return replace(world, policy=blended(size))
    return replace(world, policy=blended(_SIZES[-1]))


def as_usual(horizon: int, usual: Rule, initial: Starts, step: Steps, seen: int | None = None) -> World:
    """A world in which all goes on as usual; its log shows the first columns of the state, or all."""
    actions = usual(initial(1, np.random.default_rng(0))[:, :seen]).shape[1]
    return World(
        horizon=horizon,
        actions=actions,
        initial=initial,
        step=step,
        behavior=lambda states: usual(states[:, :seen]),
        policy=usual,
        observe=lambda states: states[:, :seen],
    )
