"""How the HIV policy of the benchmarks is made: fitted Q iteration with trees, distilled into a small network."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from repbm.core import Label, Progress, silent, stream
from repbm.data import Trajectories
from repbm.domains._hiv import HIV
from repbm.domains._simulator import collect, truth
from repbm.domains.training._hiv_forest import ForestValues, grown, swept
from repbm.policies import Choices, NetworkPolicy, ObservationPolicy


@dataclass(frozen=True)
class FittedQOptions:
    """The settings of the training: Ernst et al. (2006), with the trees grown anew only `regrown` times per round.

    Between growths the trees keep their splits and only the values of their leaves are iterated (`sweeps` times),
    as Ernst et al. (2005) propose: it converges, and is far cheaper. `train_hiv_policy(0)` made the policy that comes
    with the package.
    """

    horizon: int = 200
    patients: int = 30
    rounds: int = 10
    trees: int = 50
    regrown: int = 3
    sweeps: int = 30
    explored: float = 0.15
    discount: float = 0.98
    softened: float = 0.05
    hidden: tuple[int, ...] = (32, 32)
    lessons: int = 6
    epochs: int = 40


def train_hiv_policy(
    seed: int, options: FittedQOptions | None = None, progress: Progress | None = None
) -> NetworkPolicy:
    """A greedy network that imitates the best policy of fitted Q iteration over a growing log of patients.

    Round 1 logs random treatment, every later one the greedy policy softened by `explored`.
    """
    options, progress = options or FittedQOptions(), progress or silent
    world, generator = HIV(horizon=options.horizon), stream(seed, "hiv-policy")
    logs: list[Trajectories] = []
    values: ForestValues | None = None
    best, most = None, -np.inf
    for k in range(options.rounds):
        epsilon = 1.0 if values is None else options.explored
        acting = _Greedy(values)
        logs.append(collect(world, acting, options.patients, generator, epsilon))
        values = _iterated(logs, values, options, int(generator.integers(2**31)))
        worth = float(truth(world, _Greedy(values), world.initial(20, generator), discount=options.discount).mean())
        progress(f"round {k + 1}: {worth:.4g}", k + 1, options.rounds + options.lessons)
        if worth > most:
            best, most = values, worth
    return _distilled(_Greedy(best), world, options, generator, progress)


@dataclass(frozen=True, eq=False)
class _Greedy(ObservationPolicy):
    """The action of the highest value; no drug where nothing is known yet."""

    values: ForestValues | None

    def choices(self, observations: Float[np.ndarray, "batch dimensions"], labels: tuple[Label, ...]) -> Choices:
        if self.values is None:
            return Choices(HIV.actions, np.zeros(len(observations), dtype=int))
        return Choices(HIV.actions, self.values.every(observations).argmax(axis=1))


def _iterated(
    logs: list[Trajectories], values: ForestValues | None, options: FittedQOptions, seed: int
) -> ForestValues:
    """Q <- r + discount max_a Q(s', a) over the whole log, from the values of the round before."""
    states = np.concatenate([log.observations for log in logs])
    following = np.concatenate([log.next_observations() for log in logs])
    actions = np.concatenate([log.actions.codes for log in logs])
    rewards = np.concatenate([log.rewards for log in logs])
    for k in range(options.regrown):
        ahead = 0.0 if values is None else values.every(following).max(axis=1)
        values = grown(states, actions, rewards + options.discount * ahead, options.trees, seed + k)
        values = swept(values, states, actions, rewards, following, options.sweeps, options.discount)
    assert values is not None
    return values


def _distilled(
    teacher: _Greedy, world: HIV, options: FittedQOptions, generator: np.random.Generator, progress: Progress
) -> NetworkPolicy:
    """The best of several networks, each trained on what the trees do in all states that earlier networks visited.

    Ross et al. (2011), DAgger. The first states are the teacher's own.
    """
    starts = world.initial(50, generator)
    seen: list[np.ndarray] = []
    acting: ObservationPolicy = teacher
    best, most = None, -np.inf
    for k in range(options.lessons):
        seen.append(collect(world, acting, options.patients, generator, options.softened).observations)
        states = np.concatenate(seen)
        acting = _imitating(
            states, teacher.choices(states, world.actions).what, options, int(generator.integers(2**31))
        )
        worth = float(truth(world, acting, starts, discount=options.discount).mean())
        progress(f"lesson {k + 1}: {worth:.4g}", options.rounds + k + 1, options.rounds + options.lessons)
        if best is None or worth > most:
            best, most = acting, worth
    assert best is not None
    return best


def _imitating(
    states: Float[np.ndarray, "steps 6"], actions: Int[np.ndarray, " steps"], options: FittedQOptions, seed: int
) -> NetworkPolicy:
    """A classifier of the actions as a network on plain states: the standardization is folded into w0 and b0."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier

    middle, scale = states.mean(axis=0), states.std(axis=0)
    learner = MLPClassifier(options.hidden, activation="tanh", max_iter=options.epochs, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        learner.fit((states - middle) / scale, actions)
    layers = list(zip(learner.coefs_, learner.intercepts_, strict=True))
    w, b = layers[0]
    layers[0] = (w / scale[:, None], b - (middle / scale) @ w)
    if len(learner.classes_) == 2:  # scikit-learn keeps one score for two classes
        w, b = layers[-1]
        layers[-1] = (np.hstack([-w, w]), np.concatenate([-b, b]))
    return _with_every_action(layers, learner.classes_)


def _with_every_action(layers: list[tuple[np.ndarray, np.ndarray]], taken: np.ndarray) -> NetworkPolicy:
    """Outputs for all four actions; those never taken score below the others."""
    w, b = layers[-1]
    full_w, full_b = np.zeros((len(w), len(HIV.actions))), np.full(len(HIV.actions), -1e6)
    full_w[:, taken], full_b[taken] = w, b
    return NetworkPolicy([*layers[:-1], (full_w, full_b)], activation="tanh", actions=HIV.actions)
