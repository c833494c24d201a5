"""Returns of single episodes under a policy, drawn in a fitted model: step by step, with nothing to compile."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from repbm.core import InputError, stream
from repbm.models._stepwise import chosen_actions, step_rows
from repbm.models.parts._reward_noise import Steps
from repbm.models.transitions._arrays import in_float64
from repbm.policies import ObservationPolicy

if TYPE_CHECKING:
    from repbm.models._continuous import ContinuousModel

_LARGEST_BATCH = 1 << 14


def drawn_returns(
    model: ContinuousModel,
    policy: ObservationPolicy,
    states: Float[np.ndarray, "states dimensions"],
    horizon: int,
    discount: float,
    rollouts: int,
    seed: int,
) -> Float[np.ndarray, "{rollouts} states"]:
    """What `rollouts` episodes from each state earn; in contrast to values, rewards and ends are drawn as well."""
    if model.reward_noise is None:
        raise InputError(
            "the model does not know what single rewards are",
            fix="fit it again; models as published tell means alone",
        )
    total = np.zeros(rollouts * len(states))
    with in_float64():
        for start in range(0, len(total), _LARGEST_BATCH):
            generator = stream(seed, "returns", start)
            rows = np.arange(start, min(start + _LARGEST_BATCH, len(total)))
            now = np.asarray(states[rows % len(states)], dtype=np.float64)
            for t in range(horizon):
                actions = chosen_actions(policy, now, model, None, [generator], np.zeros(len(rows), dtype=np.int64))
                following, expected, ending = step_rows(model, now, actions, generator)
                ended = generator.random(len(rows)) < ending
                # Past the longest that the log shows nothing is known of a last step.
                steps = Steps(now, following, actions, ended | (t + 1 == model.horizon))
                earned = model.reward_noise.draw(generator, expected, steps)
                total[rows] += discount**t * earned
                rows, now = rows[~ended], following[~ended]
                if not len(rows):
                    break
    return total.reshape(rollouts, len(states))
