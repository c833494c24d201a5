"""Models: accuracy on worlds with a known truth, and time and memory of fitting and rolling out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench._measure import measured
from bench._sheet import Sheet
from repbm.domains import CartPole, MountainCar, Simulator, benchmark_policy, collect, truth
from repbm.estimators import Case
from repbm.models import AM, BOTH_RISKS, fit_closed_form, roll_out


@dataclass(frozen=True)
class World:
    name: str
    simulator: Simulator
    mean: float
    individual: float
    """The largest root mean squared errors that the precise preset may have."""


WORLDS = (
    World("cartpole-long", CartPole(), 0.03, 0.3),
    World("cartpole-short", CartPole(), 0.005, 0.1),
    World("mountaincar", MountainCar(), 0.5, 2.0),
)


def accuracy_page(sheet: Sheet, folder: Path, runs: int = 20, episodes: int = 1024) -> None:
    """Root mean squared errors of the precise preset over runs, RepBM and AM on the same logs."""
    sheet.say(f"{runs} runs of {episodes} episodes, behavior epsilon 0.2, root mean squared errors")
    for world in WORLDS:
        policy = benchmark_policy(world.name)
        errors: dict[str, list[np.ndarray]] = {"repbm": [], "am": []}
        for run in range(runs):
            data = collect(world.simulator, policy, episodes, np.random.default_rng(run), epsilon=0.2)
            expected = truth(world.simulator, policy, data.initial_observations)
            support = Case.of(data, policy).support
            for objective in (BOTH_RISKS, AM):
                model = fit_closed_form(data, support, objective, world.simulator.horizon, run)
                left = np.full(len(data), world.simulator.horizon)
                errors[objective.name].append(
                    roll_out(model, policy, data.initial_observations, left).values - expected
                )
        for name, each in errors.items():
            means = np.array([error.mean() for error in each])
            squares = np.array([(error**2).mean() for error in each])
            found = np.sqrt((means**2).mean()), np.sqrt(squares.mean())
            sheet.say(f"{world.name} {name}: mean {found[0]:.5f}, individual {found[1]:.4f}")
            if name == "repbm":
                sheet.figure(f"{world.name} mean over its limit", found[0] / world.mean, 1)
                sheet.figure(f"{world.name} individual over its limit", found[1] / world.individual, 1)


def memory_page(sheet: Sheet, folder: Path, steps: int = 1_000_000) -> None:
    """One million steps of 8 dimensions, fitted and evaluated within 2 GiB."""
    setup = f"""
import numpy as np
from repbm import evaluate
from repbm.data import Categorical, Trajectories
from repbm.policies import NetworkPolicy
generator = np.random.default_rng(0)
n, length = {steps} // 100, 100
states = np.empty((n, length + 1, 8))
states[:, 0] = generator.normal(size=(n, 8))
actions = generator.integers(0, 2, (n, length))
mix = np.eye(8) * 0.9 + 0.02
for t in range(length):
    noise = generator.normal(scale=0.1, size=(n, 8))
    states[:, t + 1] = states[:, t] @ mix + 0.1 * (2 * actions[:, t, None] - 1) + noise
data = Trajectories(
    observations=states[:, :-1].reshape(-1, 8), actions=Categorical(actions.reshape(-1).astype(np.int32), (0, 1)),
    rewards=states[:, :-1, 0].reshape(-1).copy(), offsets=np.arange(n + 1) * length,
    terminated=np.zeros(n, dtype=bool), final_observations=states[:, -1].copy(),
)
del states
policy = NetworkPolicy([(generator.normal(size=(8, 2)), np.zeros(2))])
"""
    run = measured(setup, "result = evaluate(data, policy, estimators=['repbm', 'am'])", repeats=1)
    sheet.say(f"fit and evaluate in {run.seconds:.0f} s")
    sheet.figure("peak memory over 2 GiB", run.peak / 2**31, 1)
