"""The worlds and policies of the benchmarks, by name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from importlib.resources import as_file, files

from repbm.core import InputError, nearest
from repbm.domains._cartpole import CartPole
from repbm.domains._hiv import HIV
from repbm.domains._map2d import Map2D, map_policy
from repbm.domains._mountaincar import MountainCar
from repbm.domains._simulator import Simulator
from repbm.domains._tree import BinaryTree, left_policy
from repbm.policies import NetworkPolicy

_WORLDS: dict[str, CartPole | MountainCar | HIV | Map2D | BinaryTree] = {
    "cartpole-long": CartPole(),
    "cartpole-short": CartPole(),
    "mountaincar": MountainCar(),
    "hiv": HIV(),
    "map2d": Map2D(),
    "tree": BinaryTree(),
}
_WRITTEN = {"map2d": map_policy, "tree": left_policy}


def benchmark_world(name: str, noise: float | None = None) -> Simulator:
    """The world of the benchmark `name`, with the noise given in place of its own."""
    world = _WORLDS[known_name(name, _WORLDS, "domain")]
    if noise is None:
        return world
    if isinstance(world, BinaryTree):
        raise InputError("the tree takes no noise", fix="leave the noise out")
    return replace(world, noise=noise)


def benchmark_policy(name: str) -> NetworkPolicy:
    """The evaluated policy of the benchmark `name`: cartpole-long, cartpole-short, mountaincar, hiv, map2d or tree.

    Greedy networks that `train_benchmark_policy` made with seed 0. Those of the map (which draws its actions) and of
    the tree are written down.
    """
    known_name(name, _WORLDS, "benchmark policy")
    if name in _WRITTEN:
        return _WRITTEN[name]()
    with as_file(files("repbm.domains") / "policies" / f"{name}.npz") as path:
        return NetworkPolicy.load(path)


def known_name(name: str, names: Iterable[str], what: str) -> str:
    if name in names:
        return name
    meant = nearest(name, names)
    fix = f"did you mean '{meant}'?" if meant else f"use one of {', '.join(names)}"
    raise InputError(f"no {what} '{name}'", fix=fix)
