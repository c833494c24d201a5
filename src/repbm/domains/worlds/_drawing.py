"""Drawing worlds until one is as far from its log as its family says, measured on logs of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps

import numpy as np

from repbm.data import Trajectories
from repbm.domains.worlds._customs import Custom, Path
from repbm.domains.worlds._rows import Grid, Table, Vector, chosen, spread_out
from repbm.domains.worlds._world import Family, World

Miss = Callable[[World, np.random.Generator], float]
"""How far a world is from what its family says: 0 if it is as said."""

_TRIES = 25
_LOG = 1000
"""Effective episodes and standard errors are told of logs of so many."""


def _again(miss: Miss) -> Callable[[Family], Family]:
    """Draws again until nothing is missed, or keeps what misses least."""

    def decorator(family: Family) -> Family:
        @wraps(family)
        def drawn(generator: np.random.Generator) -> World:
            best, least = None, np.inf
            for _ in range(_TRIES):
                world = family(generator)
                missed = miss(world, np.random.default_rng(int(generator.integers(1 << 31))))
                if best is None or missed < least:
                    best, least = world, missed
                if least == 0.0:
                    break
            assert best is not None
            return best

        return drawn

    return decorator


def _outside(value: float, low: float, high: float) -> float:
    found = max(value, 1e-9)
    return max(0.0, float(np.log(low / found)), float(np.log(found / high)))


def _episodes(world: World) -> int:
    return int(np.clip(24_000 // world.horizon // _LOG, 2, 4)) * _LOG


def _effective(weights: Vector) -> float:
    """Of 1,000 episodes, in the mean over some logs."""
    parts = weights.reshape(-1, _LOG)
    return float((parts.sum(axis=1) ** 2 / np.maximum((parts**2).sum(axis=1), 1e-12)).mean())


def asked(world: World, path: Path, generator: np.random.Generator, low: float, high: float) -> World:
    """Asks about the policy on a path that leaves a number of effective episodes, drawn by its logarithm."""
    target = spread_out(generator, low, high)
    noise = np.random.default_rng(int(generator.integers(1 << 31)))
    log, _ = replace(world, propensities=True).log(_episodes(world), noise)
    taken, usual = np.asarray(log.actions.codes), np.asarray(log.behavior)
    near, far = 0.0, 1.0
    for _ in range(7):
        size = 0.5 * (near + far)
        ratios = chosen(path(size)(log.observations), taken) / usual
        enough = _effective(np.multiply.reduceat(ratios, log.offsets[:-1])) >= target
        near, far = (size, far) if enough else (near, size)
    return replace(world, policy=path(near))


def _kept(world: World, log: Trajectories) -> float:
    """Effective episodes of 1,000 for the world's policy, of a log with propensities."""
    ratios = chosen(world.policy(log.observations), np.asarray(log.actions.codes)) / np.asarray(log.behavior)
    return _effective(np.multiply.reduceat(ratios, log.offsets[:-1]))


def effective(
    low: float, high: float, rollouts: int | None = None, off: tuple[float, float] | None = None
) -> Callable[[Family], Family]:
    """Effective episodes from low to high of 1,000, and a policy that is worth something else than the behavior: by a
    log of it, or by so many rollouts of both from every start. Where a state is not all seen, how far off the naive
    analyst may be (`misled`)."""

    def miss(world: World, noise: np.random.Generator) -> float:
        log, starts = replace(world, propensities=True).log(_episodes(world), noise)
        lengths = np.diff(log.offsets)
        steps = np.arange(len(log.rewards)) - np.repeat(log.offsets[:-1], lengths)
        logged = np.add.reduceat(log.rewards * world.discount**steps, log.offsets[:-1])
        own = world.returns(starts, noise, rollouts or 1)
        usual = logged if rollouts is None else world.returns(starts, noise, rollouts, behavior=True)
        differs = abs(own.mean() - usual.mean()) / usual.std() * np.sqrt(_LOG)
        missed = _outside(_kept(world, log), low, high) + _outside(float(differs), 1.4, 5.6)
        return missed if off is None else missed + _outside(misled(world, noise), *off)

    return _again(miss)


def careful(world: World) -> Custom:
    """The world's policy where the log can follow, and the behavior where it cannot."""

    def kept(seen: Table) -> Grid:
        usual = world.behavior(seen)
        odds = world.policy(seen) * (usual > 0.0)
        odds = np.where(odds.sum(axis=1, keepdims=True) > 1e-9, odds, usual)
        return odds / odds.sum(axis=1, keepdims=True)

    return kept


def unseen(world: World, starts: Table, noise: np.random.Generator) -> tuple[float, float]:
    """Shares of the policy's decisions, and of its episodes, that are what was never logged there."""
    now, decisions, spared = starts, [], np.ones(len(starts))
    for _ in range(world.horizon):
        odds = world.policy(now)
        never = (odds * (world.behavior(now) == 0.0)).sum(axis=1)
        decisions.append(never.mean())
        spared *= 1.0 - never
        taken = (noise.random((len(now), 1)) > odds.cumsum(axis=1)).sum(axis=1).clip(max=world.actions - 1)
        now, _, _ = world.step(now, taken, noise)
    return float(np.mean(decisions)), float(1.0 - spared.mean())


def gap(decisions: float, episodes: float, low: float, high: float) -> Miss:
    """A gap is so large a share of the policy's decisions, or of its episodes, and a good part of what it is worth.
    Where the log can follow, it does, with effective episodes from low to high of 1,000."""

    def miss(world: World, noise: np.random.Generator) -> float:
        starts = world.initial(_episodes(world), noise)
        of_decisions, of_episodes = unseen(world, starts, noise)
        own, spared = (one.returns(starts, noise)[:, 0] for one in (world, replace(world, policy=careful(world))))
        matters = abs(own.mean() - spared.mean()) / spared.std() * np.sqrt(_LOG)
        often = _outside(max(of_decisions / decisions, of_episodes / episodes), 1.0, 1e9)
        missed = often + _outside(float(matters), 6.0, 25.0) + _outside(of_episodes, 0.1, 0.97)
        if (low, high) == (0.0, np.inf):
            return missed
        log, _ = replace(world, propensities=True).log(_episodes(world), noise)
        return missed + _outside(_kept(replace(world, policy=careful(world)), log), low, high)

    return miss


def with_a_gap(
    decisions: float, episodes: float = np.inf, low: float = 0.0, high: float = np.inf
) -> Callable[[Family], Family]:
    return _again(gap(decisions, episodes, low, high))


def adjusted(world: World, episodes: int, noise: np.random.Generator) -> float:
    """What a naive analyst tells who goes back from the last step, with regressions on all that is seen."""
    log, _ = world.log(episodes, noise)
    steps, seen = world.horizon, log.observations
    terms = (seen - seen.mean(axis=0)) / (seen.std(axis=0) + 1e-9)
    terms = np.column_stack([np.ones(len(seen)), terms, terms**2]).reshape(episodes, steps, -1)
    taken, rewards = np.asarray(log.actions.codes).reshape(episodes, steps), log.rewards.reshape(episodes, steps)
    odds, values = world.policy(seen).reshape(episodes, steps, -1), np.zeros(episodes)
    for t in reversed(range(steps)):
        told = np.empty((episodes, world.actions))
        for action in range(world.actions):
            rows = taken[:, t] == action
            told[:, action] = terms[:, t] @ np.linalg.lstsq(terms[rows, t], (rewards[:, t] + values)[rows])[0]
        values = (told * odds[:, t]).sum(axis=1)
    return float(values.mean())


def misled(world: World, noise: np.random.Generator, episodes: int = 6000) -> float:
    """How far off the naive analyst is, in standard errors of the mean of 1,000 episodes."""
    told = world.returns(world.initial(2 * episodes, noise), noise)
    return abs(adjusted(world, episodes, noise) - float(told.mean())) / float(told.std()) * np.sqrt(_LOG)


with_a_hidden_cause = _again(lambda world, noise: _outside(misled(world, noise), 4.8, 7.2))
