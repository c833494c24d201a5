"""The published preset: how long training and rollouts take, and what RepBM gains over AM where it should."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from bench._bare import rolled_bare, trained_bare
from bench._measure import repeated
from bench._sheet import Sheet
from repbm.critics import ModelCritic
from repbm.data import Trajectories
from repbm.domains import CartPole, Simulator, benchmark_policy, collect, truth
from repbm.estimators import Case
from repbm.models import (
    AM,
    AM_PI,
    BOTH_RISKS,
    Model,
    NetworkSettings,
    PaperSettings,
    fit_closed_form,
    fit_network,
    fit_paper,
    roll_out,
)
from repbm.policies import NetworkPolicy, ObservationPolicy

_OBJECTIVES = [BOTH_RISKS, AM, AM_PI]


def _log(episodes: int) -> tuple[Trajectories, ObservationPolicy, Case]:
    """CartPole episodes of about 190 steps."""
    policy = benchmark_policy("cartpole-long")
    data = collect(CartPole(), policy, episodes, np.random.default_rng(0), epsilon=0.2)
    return data, policy, Case.of(data, policy, horizon=200)


def time_page(sheet: Sheet, folder: Path, episodes: int = 1024) -> None:
    """After compilation."""
    data, policy, case = _log(episodes)
    fit = repeated(lambda: fit_paper(data, case.support, _OBJECTIVES, 200))
    model = fit_paper(data, case.support, [BOTH_RISKS], 200)[0]
    left = np.full(len(data), 200)
    individuals = repeated(lambda: roll_out(model, policy, data.initial_observations, left))
    steps = repeated(lambda: ModelCritic(model, "repbm", negligible=None)(case))
    sheet.figure("RepBM, AM and AM(pi) trained together, over 3 s", fit / 3, 1)
    sheet.figure(f"values of {episodes} individuals, over 0.3 s", individuals / 0.3, 1)
    sheet.figure("V and Q of all logged steps, over 15 s", steps / 15, 1)


def training_page(sheet: Sheet, folder: Path, episodes: int = 1024, settings: PaperSettings = PaperSettings()) -> None:  # noqa: B008 - frozen
    """RepBM, AM and AM(pi) with their termination, against products of the same sizes, as often."""
    data, _, case = _log(episodes)
    fit = repeated(lambda: fit_paper(data, case.support, _OBJECTIVES, 200, settings=settings), 3)
    bare = repeated(lambda: trained_bare(data.observations, len(_OBJECTIVES), len(data.actions.labels), settings), 3)
    sheet.say(f"training takes {fit:.2f} s, its products {bare:.2f} s")
    sheet.figure("training over its bare matrix products", fit / bare, 3)


def rollouts_page(sheet: Sheet, folder: Path, episodes: int = 1024, settings: PaperSettings = PaperSettings()) -> None:  # noqa: B008 - frozen
    """Values of all individuals, 200 steps each, against products of the same sizes, as often."""
    data, policy, case = _log(episodes)
    assert isinstance(policy, NetworkPolicy)
    model = fit_paper(data, case.support, [BOTH_RISKS], 200, settings=settings)[0]
    left, states = np.full(len(data), 200), data.initial_observations
    ours = repeated(lambda: roll_out(model, policy, states, left), 5)
    layers = [weights.shape for weights, _ in policy.layers]
    bare = repeated(lambda: rolled_bare(states, layers, len(data.actions.labels), settings.representation, 200), 5)
    sheet.say(f"rollouts take {ours:.3f} s, their products {bare:.3f} s")
    sheet.figure("rollouts over their bare matrix products", ours / bare, 3)


def balance_page(sheet: Sheet, folder: Path, runs: int = 20) -> None:
    """Paired runs of RepBM and AM: the precise preset must not lose, a small network may gain."""
    sheet.say(f"{runs} paired runs, differences of squared individual errors (RepBM - AM), 95 % intervals")
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
    for name, (simulator, policy_name, episodes, fit) in settings.items():
        policy = benchmark_policy(policy_name)
        squares = np.array([_squares(simulator, policy, episodes, fit, run) for run in range(runs)])
        difference = squares[:, 0] - squares[:, 1]
        error = difference.std(ddof=1) / np.sqrt(runs)
        rmse = np.sqrt(squares.mean(axis=0))
        sheet.say(
            f"{name}: RepBM {rmse[0]:.4g}, AM {rmse[1]:.4g} (root mean squares), "
            f"difference {difference.mean():.4g} +- {1.96 * error:.2g}"
        )
        if fit is fit_closed_form:
            sheet.figure(f"{name}: difference over its margin", difference.mean() / (1.96 * error + 1e-9), 1)


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
