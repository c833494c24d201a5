"""Simulators with a known truth."""

from repbm.domains._benchmarks import benchmark_policy
from repbm.domains._cartpole import CartPole
from repbm.domains._mountaincar import MountainCar
from repbm.domains._simulator import Simulator, collect, truth
from repbm.domains._tabular import TabularWorld

__all__ = [
    "CartPole",
    "MountainCar",
    "Simulator",
    "TabularWorld",
    "benchmark_policy",
    "collect",
    "truth",
]
