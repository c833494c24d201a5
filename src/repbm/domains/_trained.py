"""Training the policies of the benchmarks to the published quality."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from repbm.core import InputError, stream
from repbm.domains._benchmarks import benchmark_world, known_name
from repbm.domains._dqn import Recipe, learn
from repbm.domains._hiv_policy import Recipe as PatientRecipe
from repbm.domains._hiv_policy import train_hiv_policy
from repbm.domains._simulator import Simulator, collect, truth
from repbm.policies import NetworkPolicy


@dataclass(frozen=True)
class Wanted:
    """The average value of a policy, and that of its behavior, each with a tolerance.

    At most a `share` of the initial states may have the value `extreme`: if all had, individual values were no task.
    Averages are those of `states` initial states, always the same ones; the behavior acts at random with
    probability `epsilon`.
    """

    value: float
    tolerance: float
    behavior: float
    behavior_tolerance: float
    extreme: float
    share: float
    epsilon: float = 0.2
    states: int = 2000


_LONG = Recipe(hidden=(24, 48), middles=(0.0, 0.0, 0.0, 0.0), scales=(1.0, 1.0, 0.1, 1.0))
# The same training, looked at more often: it passes the weak policies within its first minute.
_SHORT = replace(_LONG, rounds=1000, steps=1, updates=4)
_CAR = Recipe(hidden=(100,), middles=(-0.5, 0.0), scales=(0.5, 0.03), memory=100_000, exploring=400)

# Averages from the paper's appendix (MountainCar: "around 150" steps, the log's), tolerances half of what is promised.
TRAININGS: dict[str, tuple[Wanted, Recipe]] = {
    "cartpole-long": (Wanted(195.0, 1.0, 190.0, 2.0, extreme=200.0, share=0.9), _LONG),
    "cartpole-short": (Wanted(23.8, 0.8, 24.0, 1.0, extreme=200.0, share=0.0), _SHORT),
    "mountaincar": (Wanted(-150.0, 3.0, -155.0, 10.0, extreme=-200.0, share=0.1), _CAR),
}

_FEW = 100

Progress = Callable[[str, int, int], None]


def train_benchmark_policy(name: str, seed: int = 0, progress: Progress = lambda *_: None) -> NetworkPolicy:
    """A policy like the benchmark's `name`; with the seed of old, that policy itself.

    CartPole and MountainCar: the first network of a deep Q learning that has the published average values. Nothing
    else is asked of it, least of all that it be easy to evaluate.
    """
    known_name(name, (*TRAININGS, "hiv"), "policy to train")
    if name == "hiv":
        recipe, told = PatientRecipe(), 0
        total = recipe.rounds + recipe.lessons

        def tell(what: str) -> None:
            nonlocal told
            told += 1
            progress(what, told, total)

        return train_hiv_policy(seed, recipe, tell)
    return first_wanted(benchmark_world(name), *TRAININGS[name], seed, progress)


def first_wanted(
    world: Simulator, wanted: Wanted, recipe: Recipe, seed: int, progress: Progress = lambda *_: None
) -> NetworkPolicy:
    """The first policy of a training that is as wanted, of those learned after the exploration."""
    starts = world.initial(wanted.states, stream(0, "wanted", "states"))
    for k, policy in enumerate(learn(world, recipe, seed)):
        if k < recipe.exploring:
            progress("exploring", k, recipe.rounds)
            continue
        few = truth(world, policy, starts[:_FEW])
        progress(f"value {few.mean():.4g}, wanted {wanted.value:g}", k, recipe.rounds)
        # Most are far off, and a few states tell: by more than four standard errors.
        if abs(few.mean() - wanted.value) > wanted.tolerance + 4 * few.std() / np.sqrt(len(few)):
            continue
        if _as_wanted(world, wanted, policy, starts):
            return policy
    raise InputError(
        f"of {recipe.rounds} networks learned from seed {seed} none has the value {wanted.value:g} within "
        f"{wanted.tolerance:g} and a behavior of {wanted.behavior:g} within {wanted.behavior_tolerance:g}",
        fix="try another seed",
    )


def _as_wanted(world: Simulator, wanted: Wanted, policy: NetworkPolicy, starts: np.ndarray) -> bool:
    values = truth(world, policy, starts)
    if abs(values.mean() - wanted.value) > wanted.tolerance or (values == wanted.extreme).mean() > wanted.share:
        return False
    log = collect(world, policy, wanted.states, stream(0, "wanted", "log"), wanted.epsilon)
    return bool(abs(log.returns().mean() - wanted.behavior) <= wanted.behavior_tolerance)
