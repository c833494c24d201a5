"""The published preset: how long training and rollouts take, and what RepBM gains over AM where it should."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from bench._measure import verdict
from repbm.critics import ModelCritic
from repbm.domains import CartPole, Simulator, benchmark_policy, collect, truth
from repbm.estimators import Case
from repbm.models import (
    AM,
    AM_PI,
    BOTH_RISKS,
    Model,
    NetworkSettings,
    fit_closed_form,
    fit_network,
    fit_paper,
    roll_out,
)


def _seconds(action: Callable[[], object]) -> float:
    """The second of two runs: compiled."""
    action()
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def time_page() -> bool:
    """A log of 1024 CartPole episodes of about 190 steps."""
    policy = benchmark_policy("cartpole-long")
    data = collect(CartPole(), policy, 1024, np.random.default_rng(0), epsilon=0.2)
    case = Case.of(data, policy, horizon=200)
    print(f"Paper preset: {len(data.rewards):,} steps, after compilation")
    fit = _seconds(lambda: fit_paper(data, case.support, [BOTH_RISKS, AM, AM_PI], 200))
    model = fit_paper(data, case.support, [BOTH_RISKS], 200)[0]
    left = np.full(len(data), 200)
    individuals = _seconds(lambda: roll_out(model, policy, data.initial_observations, left))
    steps = _seconds(lambda: ModelCritic(model, "repbm", negligible=None)(case))
    kept = [
        verdict("RepBM, AM and AM(pi) trained together, over 3 s", fit / 3, 1),
        verdict("values of 1024 individuals, over 0.3 s", individuals / 0.3, 1),
        verdict("V and Q of all logged steps, over 15 s", steps / 15, 1),
    ]
    return all(kept)


def balance_page(runs: int = 20) -> bool:
    """Paired runs of RepBM and AM: the precise preset must not lose, a small network may gain."""
    print(f"Balance: {runs} paired runs, differences of squared individual errors (RepBM - AM), 95 % intervals")
    tiny = NetworkSettings(hidden=4, refit=False)
    settings: dict[str, tuple[Simulator, str, int, Callable[..., Model]]] = {
        "precise, noise 0.01, 50 episodes": (CartPole(noise=0.01), "cartpole-short", 50, fit_closed_form),
        "precise, no noise, 50 episodes": (CartPole(), "cartpole-short", 50, fit_closed_form),
        "4 units, no noise, 50 episodes": (
            CartPole(),
            "cartpole-short",
            50,
            lambda *given: fit_network(*given, settings=tiny),
        ),
        "4 units, no noise, 1024 episodes": (
            CartPole(),
            "cartpole-short",
            1024,
            lambda *given: fit_network(*given, settings=tiny),
        ),
        "4 units, long, 1024 episodes": (
            CartPole(),
            "cartpole-long",
            1024,
            lambda *given: fit_network(*given, settings=tiny),
        ),
    }
    kept = True
    for name, (simulator, policy_name, episodes, fit) in settings.items():
        policy = benchmark_policy(policy_name)
        squares = np.array([_squares(simulator, policy, episodes, fit, run) for run in range(runs)])
        difference = squares[:, 0] - squares[:, 1]
        error = difference.std(ddof=1) / np.sqrt(runs)
        rmse = np.sqrt(squares.mean(axis=0))
        print(
            f"  {name}: RepBM {rmse[0]:.4g}, AM {rmse[1]:.4g} (root mean squares), "
            f"difference {difference.mean():.4g} +- {1.96 * error:.2g}",
            flush=True,
        )
        if fit is fit_closed_form:
            kept &= bool(difference.mean() <= 1.96 * error + 1e-9)
    return kept


def _squares(simulator: Simulator, policy, episodes: int, fit: Callable[..., Model], run: int) -> tuple[float, float]:
    """Mean squared individual errors of RepBM and AM on one log."""
    generator = np.random.default_rng(run)
    data = collect(simulator, policy, episodes, generator, epsilon=0.2)
    noisy = getattr(simulator, "noise", 0.0) > 0
    expected = truth(simulator, policy, data.initial_observations, generator, rollouts=200 if noisy else 1)
    support = Case.of(data, policy).support
    found = []
    for objective in (BOTH_RISKS, AM):
        model = fit(data, support, objective, 200, run)
        rollouts = 64 if model.stochastic else 1
        values = model.values(policy, data.initial_observations, horizon=200, rollouts=rollouts, seed=run).values
        found.append(float(((values - expected) ** 2).mean()))
    return found[0], found[1]
