"""Environments of Gymnasium as worlds: a policy is logged in them, episode by episode."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from repbm.core import InputError, SideBySide, draw, optional, reason, stream
from repbm.data import Categorical, Trajectories
from repbm.policies import CallablePolicy, ObservationPolicy, Softened

GYMNASIUM = "gym:"
"""What stands before the name of an environment."""
_SIDE_BY_SIDE = 64
_ENDLESS = 100_000
"""Steps after which an episode that nothing cuts off is taken to have no end."""


def collect_gymnasium(
    name: str,
    policy: ObservationPolicy | None,
    episodes: int,
    seed: int = 0,
    epsilon: float = 0.0,
    horizon: int | None = None,
) -> Trajectories:
    """Log episodes of the environment `name`, with discrete actions, under the policy mixed with uniform draws.

    Without a policy all actions are drawn uniformly. An episode ends when the environment terminates or truncates it,
    or is truncated after `horizon` steps. Each has a seed of its own, so that more of them change none.
    """
    if episodes < 1:
        raise InputError(f"{episodes} episodes", fix="log at least 1")
    gymnasium = optional("gymnasium", "gymnasium")
    with warnings.catch_warnings(action="ignore"):  # of newer versions, and of packages that environments need
        first = _made(gymnasium, name)
        actions = _actions(first.action_space)
        names = tuple(_names(first.observation_space, ""))
        acts = policy or CallablePolicy(lambda states: np.full((len(states), len(actions)), 1 / len(actions)))
        behavior = Softened(acts.bind(names), epsilon) if epsilon else acts.bind(names)
        logged: list[_Logged] = []
        worlds = [first, *(_made(gymnasium, name) for _ in range(min(episodes, _SIDE_BY_SIDE) - 1))]
        for begun in range(0, episodes, len(worlds)):
            some = [_Logged(seed, name, begun + k, world) for k, world in enumerate(worlds[: episodes - begun])]
            _run(some, behavior, actions, horizon)
            logged += some
        for world in worlds:
            world.close()
    lengths = [len(one.codes) for one in logged]
    return Trajectories(
        observations=np.asarray([row for one in logged for row in one.observations[:-1]]),
        actions=Categorical(np.asarray([code for one in logged for code in one.codes], dtype=np.int32), actions),
        rewards=np.asarray([reward for one in logged for reward in one.rewards]),
        offsets=np.concatenate([[0], np.cumsum(lengths)]),
        terminated=np.asarray([one.terminated for one in logged]),
        final_observations=np.asarray([one.observations[-1] for one in logged]),
        behavior=np.asarray([chance for one in logged for chance in one.chances]),
        observation_names=names,
    )


class _Logged:
    """One episode while it goes on."""

    def __init__(self, seed: int, name: str, number: int, world: Any) -> None:
        self.generator, self.world = stream(seed, "collect", name, number), world
        observed, _ = world.reset(seed=int(self.generator.integers(2**31)))
        self.observations = [self._flat(observed)]
        self.codes: list[int] = []
        self.rewards: list[float] = []
        self.chances: list[float] = []
        self.terminated = self.ended = False

    def step(self, code: int, label: int, chance: float) -> None:
        observed, reward, self.terminated, truncated, _ = self.world.step(label)
        self.observations.append(self._flat(observed))
        self.codes.append(code)
        self.rewards.append(float(reward))
        self.chances.append(chance)
        self.ended = bool(self.terminated or truncated)

    def _flat(self, observed: Any) -> np.ndarray:
        return np.asarray(list(_numbers(self.world.observation_space, observed)))


def _run(logged: list[_Logged], policy: ObservationPolicy, actions: tuple[int, ...], horizon: int | None) -> None:
    """Side by side: the policy is asked once a step for all."""
    for step in range(_ENDLESS if horizon is None else horizon):
        going = [one for one in logged if not one.ended]
        if not going:
            return
        chances = policy.probabilities(np.asarray([one.observations[-1] for one in going]), actions)
        drawn = draw(chances, SideBySide([one.generator for one in going], np.ones(len(going), dtype=np.int64)))
        for one, code, row in zip(going, drawn.tolist(), chances, strict=True):
            one.step(code, actions[code], float(row[code]))
        if horizon is None and step == _ENDLESS - 1 and not all(one.ended for one in going):
            raise InputError(f"an episode takes more than {_ENDLESS} steps", fix="cut episodes off with --horizon")


def _made(gymnasium: Any, name: str) -> Any:
    try:
        return gymnasium.make(name)
    except Exception as fault:  # packages that environments need fail in many ways
        raise InputError(
            f"Gymnasium makes no environment '{name}' ({reason(fault)})",
            fix="check its name, and whether its package is installed",
        ) from fault


def _actions(space: Any) -> tuple[int, ...]:
    if type(space).__name__ != "Discrete":
        raise InputError(f"its actions are of the kind {space}", fix="only discrete actions can be evaluated")
    return tuple(range(int(space.start), int(space.start + space.n)))


def _names(space: Any, name: str) -> Iterator[str]:
    """What the numbers of an observation are called: after its parts, and their places in it."""
    kind = type(space).__name__
    if kind in ("Dict", "Tuple"):
        for key, part in space.spaces.items() if kind == "Dict" else enumerate(space.spaces):
            yield from _names(part, f"{name}_{key}" if name else str(key))
    elif kind == "Discrete":
        yield name or "state"
    elif kind in ("Box", "MultiDiscrete", "MultiBinary"):
        size = int(np.prod(space.shape))
        yield from ([name] if size == 1 and name else [f"{name}_{k}" if name else str(k) for k in range(size)])
    else:
        raise InputError(f"its observations are of the kind {space}", fix="give an environment that observes numbers")


def _numbers(space: Any, observed: Any) -> Iterator[float]:
    kind = type(space).__name__
    if kind in ("Dict", "Tuple"):
        for key, part in space.spaces.items() if kind == "Dict" else enumerate(space.spaces):
            yield from _numbers(part, observed[key])
    else:
        yield from np.asarray(observed, dtype=np.float64).ravel().tolist()
