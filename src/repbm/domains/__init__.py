"""Simulators with a known truth."""

from repbm.domains._benchmarks import benchmark_policy, benchmark_world
from repbm.domains._cartpole import CartPole
from repbm.domains._gymnasium import GYMNASIUM, collect_gymnasium
from repbm.domains._hiv import HIV
from repbm.domains._map2d import Map2D, map_behaviors
from repbm.domains._mountaincar import MountainCar
from repbm.domains._sepsis import NearestState, Sepsis
from repbm.domains._simulator import Simulator, collect, truth
from repbm.domains._tabular import TabularWorld
from repbm.domains._tree import BinaryTree, enumerated_tree_bias, estimated_tree_behavior, tree_bias

__all__ = [
    "GYMNASIUM",
    "HIV",
    "BinaryTree",
    "CartPole",
    "Map2D",
    "MountainCar",
    "NearestState",
    "Sepsis",
    "Simulator",
    "TabularWorld",
    "benchmark_policy",
    "benchmark_world",
    "collect",
    "collect_gymnasium",
    "enumerated_tree_bias",
    "estimated_tree_behavior",
    "map_behaviors",
    "tree_bias",
    "truth",
]
