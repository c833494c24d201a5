"""One run: a fresh log, the truth, and every row's error; a function of spec and seed."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Float

from repbm.core import InputError, stream
from repbm.domains import collect, truth
from repbm.estimators import Case, Estimate
from repbm.experiments._critics import Critics
from repbm.experiments._experiment import Announce
from repbm.experiments._fidelity import Fidelity
from repbm.experiments._rows import SCHEMA
from repbm.experiments._spec import Spec
from repbm.experiments.as_published import AsPublished
from repbm.policies import ObservationPolicy, epsilon_greedy

_ROLLOUTS = 100
"""Rollouts from each initial state behind the truth of a policy that draws its actions."""


def seed_of(seed: int, number: int) -> int:
    """The seed of a run of an experiment with this seed."""
    return int(stream(seed, "run", number).integers(1 << 31))


def run(
    spec: Spec,
    seed: int,
    number: int = 0,
    policy: ObservationPolicy | None = None,
    announce: Announce = lambda row: None,
) -> pl.DataFrame:
    """The rows of one run; the same spec and seed give the same rows, except for `seconds`.

    `policy` is that of the spec, already loaded: code that was compiled for it then serves all runs. `announce` is
    called with the name of every row before it is computed.
    """
    world, policy = spec.world(), policy or spec.evaluated()
    behavior = epsilon_greedy(policy, spec.epsilon)
    announce("the log")
    data = collect(world, behavior, spec.episodes, stream(seed, "log"))
    known = behavior.probabilities(data.observations, data.actions.labels)
    case = Case.of(data, policy, spec.discount, spec.horizon, known)
    rollouts = 1 if case.deterministic else _ROLLOUTS
    true = truth(world, policy, data.initial_observations, stream(seed, "truth"), rollouts, spec.discount)
    critics = Critics(spec, case, seed)
    made = AsPublished(critics) if spec.fidelity is Fidelity.AS_PUBLISHED else critics
    rows = []
    for name in spec.rows:
        announce(name)
        began = time.perf_counter()
        row = _errors(_estimate(made, case, name), true)
        rows.append({"run": number, "seed": seed, "estimator": name, "seconds": time.perf_counter() - began, **row})
    return pl.DataFrame(rows, schema=SCHEMA)


def _estimate(made: Critics | AsPublished, case: Case, name: str) -> Estimate:
    """The estimate, or none with the reason why."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            return made.estimator(name)(case)
    except InputError as fault:
        return Estimate(None, None, 0.0, str(fault))


def _errors(estimate: Estimate, true: Float[np.ndarray, " episodes"]) -> dict[str, Any]:
    mean = float(true.mean())
    row: dict[str, Any] = {"value": None, "truth": mean, "error_mean": None, "mse_individual": None}
    if estimate.value is None or not np.isfinite(estimate.value):
        return row | {"note": estimate.note or "not defined: its sums exceed floating point"}
    row |= {"value": estimate.value, "error_mean": estimate.value - mean, "note": estimate.note}
    if estimate.individual is not None:
        row["mse_individual"] = float(((estimate.individual - true) ** 2).mean())
    return row
