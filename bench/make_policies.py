"""Make the benchmarks' policies: `python -m bench.make_policies` writes them into `repbm.domains`.

Random search: from a random tanh network of the paper's size, keep a random change of all weights whenever the
greedy policy and its epsilon-greedy behavior come nearer to the published average values. That of cartpole-long is a
linear one, see `steady_search`. Fixed seeds throughout.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

import repbm.domains
from repbm.core import stream
from repbm.domains import CartPole, MountainCar, Simulator, collect, truth
from repbm.policies import NetworkPolicy

FOLDER = Path(repbm.domains.__file__).parent / "policies"
EPSILON = 0.2


@dataclass(frozen=True)
class Wanted:
    """The average value of a policy and of its behavior.

    At most a `share` of the initial states may have the `extreme` value (all would be no test of individual values),
    and the standard deviation of individual values is at least `spread`. Networks start as if inputs had `scales`.
    """

    name: str
    simulator: Simulator
    hidden: tuple[int, ...]
    scales: tuple[float, ...]
    value: float
    behavior: float
    extreme: float
    share: float
    spread: float = 0.0


WANTED = (
    Wanted("cartpole-short", CartPole(), (24, 48), (1.0, 1.0, 0.1, 1.0), 23.8, 24.0, 200.0, 0.0),
    Wanted("mountaincar", MountainCar(), (100,), (0.5, 0.03), -150.0, -155.0, -200.0, 0.05, 15.0),
)


def shaped(wanted: Wanted, generator: np.random.Generator) -> list[np.ndarray]:
    """Random weights and biases, for inputs divided by `scales`; w0, b0, w1, b1, ..."""
    sizes = (len(wanted.scales), *wanted.hidden, len(wanted.simulator.actions))
    arrays = []
    for k in range(len(sizes) - 1):
        w = generator.normal(size=sizes[k : k + 2]) / np.sqrt(sizes[k])
        arrays += [w / np.asarray(wanted.scales)[:, None] if k == 0 else w, 0.1 * generator.normal(size=sizes[k + 1])]
    return arrays


def policy_of(arrays: list[np.ndarray]) -> NetworkPolicy:
    return NetworkPolicy(list(zip(arrays[::2], arrays[1::2], strict=True)))


def loss(wanted: Wanted, policy: NetworkPolicy, episodes: int, seed: int) -> tuple[float, str]:
    """How far the policy is from what is wanted, and the figures in words."""
    simulator = wanted.simulator
    values = truth(simulator, policy, simulator.initial(episodes, stream(seed, wanted.name, "initial")))
    log = collect(simulator, policy, episodes, stream(seed, wanted.name, "log"), EPSILON)
    value, spread, share = values.mean(), values.std(), (values == wanted.extreme).mean()
    behavior = log.returns().mean()
    far = abs(value - wanted.value) + 0.5 * abs(behavior - wanted.behavior)
    far += 50 * max(share - wanted.share, 0) + max(wanted.spread - spread, 0)
    words = f"value {value:.2f} (deviation {spread:.2f}), behavior {behavior:.2f}, {share:.1%} at {wanted.extreme:g}"
    return float(far), words


def climbed(
    wanted: Wanted, arrays: list[np.ndarray], rounds: int, episodes: int, width: float, generator: np.random.Generator
) -> tuple[list[np.ndarray], float]:
    """Keep random changes that help; their width grows after a success and shrinks after a failure."""
    far = loss(wanted, policy_of(arrays), episodes, 0)[0]
    for _ in range(rounds):
        changed = [a + width * a.std() * generator.normal(size=a.shape) for a in arrays]
        found = loss(wanted, policy_of(changed), episodes, 0)[0]
        width = width * 1.3 if found < far else max(width * 0.95, 0.01)
        if found < far:
            arrays, far = changed, found
    return arrays, far


def search(wanted: Wanted, restarts: int = 8, enough: float = 0.7) -> NetworkPolicy:
    """The best of several searches, each from the best of 30 random networks: first rough, then fine."""
    best: list[np.ndarray] = []
    least = np.inf
    for restart in range(restarts):
        generator = stream(0, "make_policies", wanted.name, restart)
        starts = [shaped(wanted, generator) for _ in range(30)]
        start = min(starts, key=lambda arrays: loss(wanted, policy_of(arrays), 300, 0)[0])
        arrays, _ = climbed(wanted, start, 80, 300, 0.3, generator)
        arrays, far = climbed(wanted, arrays, 15, 2000, 0.02, generator)
        print(f"{wanted.name}, search {restart}: {loss(wanted, policy_of(arrays), 2000, 0)[1]}", flush=True)
        if far < least:
            best, least = arrays, far
        if least < enough:
            break
    return policy_of(best)


class Shaken(CartPole):
    """CartPole with a tiny error in every step, as a good model has."""

    def step(
        self, states: np.ndarray, actions: np.ndarray, generator: np.random.Generator | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        following, rewards, terminated = super().step(states, actions, generator)
        return following + 1e-5 * np.sin(1e3 * following[:, [1, 2, 3, 0]]), rewards, terminated


def linear(gains: np.ndarray, bias: float) -> NetworkPolicy:
    """Push right where gains times state plus bias is positive."""
    return NetworkPolicy([(np.column_stack([np.zeros(4), gains]), np.array([0.0, bias]))])


def steady_search(rounds: int = 1500) -> NetworkPolicy:
    """The policy of cartpole-long: a linear one of value about 195 whose episodes do not hang on the last digit.

    Most policies of that value balance on a knife's edge: an error of 1e-9 a step changes when a person falls by many
    steps, and no log could tell.
    """
    generator = np.random.default_rng(1)
    starts = CartPole().initial(400, np.random.default_rng(99))
    found: list[tuple[float, np.ndarray, float]] = []
    for _ in range(rounds):
        if found and generator.random() < 0.7:
            _, gains, bias = found[generator.integers(min(len(found), 5))]
            gains, bias = gains * np.exp(generator.normal(size=4) * 0.2), bias + generator.normal() * 0.05
        else:
            gains = np.array([0.0, -0.5, 1.0, 1.0]) + np.array([-1.5, 1.5, 11.0, 3.0]) * generator.random(4)
            bias = generator.normal() * 0.2
        policy = linear(gains, bias)
        if not 188 < truth(CartPole(), policy, starts[:60]).mean() < 199:
            continue
        values = truth(CartPole(), policy, starts)
        if 193.9 < values.mean() < 196.1 and values.std() >= 4:
            shaken = float(np.sqrt(((truth(Shaken(), policy, starts) - values) ** 2).mean()))
            found = sorted([*found, (shaken, gains, bias)], key=lambda item: item[0])
    return linear(*found[0][1:])


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    steady_search().save(FOLDER / "cartpole-long.npz")
    for wanted in WANTED:
        policy = search(wanted)
        policy.save(FOLDER / f"{wanted.name}.npz")
        print(f"{wanted.name}: {loss(wanted, policy, 2000, 2)[1]}")


if __name__ == "__main__":
    main()
