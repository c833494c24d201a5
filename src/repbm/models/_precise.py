"""The precise fit: closed form in float64, model classes chosen on held-out episodes."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float

from repbm.core import InputError, stream
from repbm.data import Support, Trajectories
from repbm.models._model import Model, Noise, PolynomialDynamics, PolynomialReward
from repbm.models._objective import Objective
from repbm.models._polynomial import Polynomial, fit_polynomial
from repbm.models._sample import Sample
from repbm.models._saturation import find_saturation
from repbm.models._scaling import Range
from repbm.models._termination import ends_are_shown, fit_termination

TRUST = 30.0
"""So many effective episodes must follow the policy for the re-weighted risk of a step to count by half."""
_OUTLIER = 20.0
_MOST_TRIMMED = 0.02
_NOISY = 0.05
_RESIDUALS = 2048


def fit_precise(
    data: Trajectories, support: Support | None, objective: Objective, horizon: int, seed: int = 0
) -> Model:
    """A model of the log, good at the objective for the policy with this support."""
    sample = Sample.of(data, support if objective.target else None, TRUST)
    weights = objective.weights(sample)
    if not (weights > 0).any():
        raise InputError(
            f"{objective.name} is not defined: no episode follows the policy even at its first step",
            fix="use repbm or am, which also learn from the other episodes",
        )
    held_out = _held_out(data, sample, seed)
    box = Range.of(sample)
    saturation, decided = find_saturation(sample)
    on_arrival = ends_are_shown(sample)
    change, noise = _dynamics(sample, weights, held_out, decided, box, seed)
    return Model(
        dynamics=PolynomialDynamics(box.center, box.reach, change),
        saturation=saturation,
        reward=_reward(sample, weights, held_out, box),
        termination=fit_termination(sample, box, on_arrival),
        noise=noise,
        low=box.center - box.reach,
        high=box.center + box.reach,
        labels=data.actions.labels,
        observation_names=data.observation_names,
        ends_on_arrival=on_arrival,
        horizon=horizon,
    )


def _held_out(data: Trajectories, sample: Sample, seed: int, share: float = 0.1) -> Bool[np.ndarray, " steps"]:
    """A random tenth of the episodes, at least one; of a single episode, a tenth of its steps."""
    generator = stream(seed, "held-out")
    if len(data) == 1:
        return generator.random(len(sample)) < share
    chosen = np.zeros(len(data), dtype=bool)
    chosen[generator.permutation(len(data))[: max(1, round(share * len(data)))]] = True
    return chosen[sample.episodes]


def _dynamics(
    sample: Sample,
    weights: Float[np.ndarray, " steps"],
    held_out: Bool[np.ndarray, " steps"],
    decided: Bool[np.ndarray, "steps dimensions"],
    box: Range,
    seed: int,
) -> tuple[Polynomial, Noise | None]:
    rows = sample.followed
    if not (rows & (weights > 0)).any():
        # No step tells what follows it (all episodes end at once): nothing is ever asked of the dynamics.
        size = sample.states.shape[1]
        return Polynomial(np.zeros((sample.action_count, 1, size)), size, 0), None
    positions, actions = box.place(sample.states[rows]), sample.actions[rows]
    targets = (sample.next_states[rows] - sample.states[rows]) / box.reach
    smooth = ~decided[rows].any(axis=1)
    each = np.where(smooth, weights[rows], 0.0)
    held = held_out[rows]
    change, _ = fit_polynomial(positions, actions, targets, each, held, sample.action_count)
    misses = np.abs(targets - change.of_actions(positions, actions))
    kept = each > 0
    outlying = kept & (misses > _OUTLIER * np.median(misses[kept], axis=0) + 1e-12).any(axis=1)
    if outlying.any() and outlying.sum() < _MOST_TRIMMED * kept.sum():
        # Rare jumps that no smooth model can follow: they must not bend it elsewhere.
        each = np.where(outlying, 0.0, each)
        change, _ = fit_polynomial(positions, actions, targets, each, held, sample.action_count)
    return change, _noise(positions, actions, targets, held & smooth, change, box, seed)


def _noise(
    positions: np.ndarray,
    actions: np.ndarray,
    targets: np.ndarray,
    held: np.ndarray,
    change: Polynomial,
    box: Range,
    seed: int,
) -> Noise | None:
    """Held-out residuals to draw from, where they are more than a small share of the change itself."""
    if not held.any():
        return None
    residuals = targets[held] - change.of_actions(positions[held], actions[held])
    spread = targets[held].std(axis=0)
    share = np.divide(residuals.std(axis=0), spread, out=np.zeros_like(spread), where=spread > 0)
    if share.max(initial=0.0) < _NOISY:
        return None
    generator = stream(seed, "noise")
    pools = []
    for action in range(len(change.coefficients)):
        own = residuals[actions[held] == action]
        pool = own if len(own) >= 10 else residuals
        pools.append((pool - pool.mean(axis=0))[generator.integers(0, len(pool), _RESIDUALS)] * box.reach)
    return Noise(np.stack(pools))


def _reward(
    sample: Sample, weights: Float[np.ndarray, " steps"], held_out: Bool[np.ndarray, " steps"], box: Range
) -> PolynomialReward:
    """A polynomial of the state before or of the one after, whichever predicts held-out rewards better."""
    rows = sample.followed if sample.followed.any() else np.ones(len(sample), dtype=bool)
    scale = max(float(np.abs(sample.rewards).max()), np.finfo(float).tiny)
    rivals = []
    for after in (False, True) if sample.followed.any() else (False,):
        positions = box.place(sample.next_states[rows] if after else sample.states[rows])
        polynomial, error = fit_polynomial(
            positions,
            sample.actions[rows],
            sample.rewards[rows, None] / scale,
            weights[rows],
            held_out[rows],
            sample.action_count,
            limit=6,
        )
        rivals.append((float(np.nan_to_num(error[0], nan=np.inf)), after, polynomial))
    _, after, polynomial = min(rivals, key=lambda rival: (rival[0] > 1.0001 * min(r[0] for r in rivals), rival[1]))
    scaled = Polynomial(polynomial.coefficients * scale, polynomial.dimensions, polynomial.degree)
    return PolynomialReward(box.center, box.reach, scaled, after)
