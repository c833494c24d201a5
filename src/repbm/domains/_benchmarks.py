"""The policies of the benchmarks, stored with the package."""

from __future__ import annotations

from importlib.resources import as_file, files

from repbm.core import InputError, nearest
from repbm.policies import NetworkPolicy

_NAMES = ("cartpole-long", "cartpole-short", "mountaincar")


def benchmark_policy(name: str) -> NetworkPolicy:
    """The evaluated policy of the benchmark `name`: cartpole-long, cartpole-short or mountaincar.

    Greedy tanh networks of the paper's sizes, made by `bench/make_policies.py`.
    """
    if name not in _NAMES:
        meant = nearest(name, _NAMES)
        fix = f"did you mean '{meant}'?" if meant else f"use one of {', '.join(_NAMES)}"
        raise InputError(f"no benchmark policy '{name}'", fix=fix)
    with as_file(files("repbm.domains") / "policies" / f"{name}.npz") as path:
        return NetworkPolicy.load(path)
