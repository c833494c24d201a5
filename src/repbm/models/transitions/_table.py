"""What models are fitted to: logged transitions with the weights of an objective."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from repbm.core import InputError
from repbm.data import Support, Trajectories

_HORIZON_END_SHARE = 0.05


@dataclass(frozen=True, eq=False)
class TransitionTable:
    """All logged transitions (s, a, r, s'), flat.

    `followed` says where s' was logged. `ended` is 1 where the world ended the episode with this step and 0 where it
    went on; a step after which the log stopped is censored, which `judged` says by False. `marginal` is how much a step
    counts in the risk under the policy (see `Support.policy_weights`).
    """

    states: Float[np.ndarray, "steps dimensions"]
    actions: Int[np.ndarray, " steps"]
    rewards: Float[np.ndarray, " steps"]
    next_states: Float[np.ndarray, "steps dimensions"]
    followed: Bool[np.ndarray, " steps"]
    ended: Bool[np.ndarray, " steps"]
    judged: Bool[np.ndarray, " steps"]
    steps: Int[np.ndarray, " steps"]
    episodes: Int[np.ndarray, " steps"]
    marginal: Float[np.ndarray, " steps"]
    factual: Float[np.ndarray, " steps"]
    counterfactual: Float[np.ndarray, " steps"]
    action_count: int

    @classmethod
    def of(
        cls,
        data: Trajectories,
        support: Support | None,
        trust: float = 0.0,
        horizon: int | None = None,
        horizon_end_share: float = _HORIZON_END_SHARE,
        weight_limit: float = np.inf,
    ) -> TransitionTable:
        """The transitions of a log; without a policy's support every marginal weight is 0.

        With m_t the effective number of episodes that still follow the policy, the marginal weights of step t are
        multiplied by m_t / (m_t + trust): where a few episodes stand for all, their noise must not be learned as truth.
        None is more than `weight_limit` times the root of the number of episodes: else single steps would outweigh
        more of the others the longer the log is. With a `horizon`, ends that it explains are none (`ended_by_limit`).
        """
        count = len(data.rewards)
        states = np.ascontiguousarray(data.observations, dtype=np.float64)
        if states.shape[1] == 0:
            raise InputError("a model needs observations", fix="name the observation columns with --column obs=...")
        following = np.ascontiguousarray(data.next_observations(), dtype=np.float64)
        last = np.zeros(count, dtype=bool)
        last[data.lasts] = True
        ended = np.zeros(count, dtype=bool)
        ended[data.lasts] = data.terminated
        if horizon is not None:
            ended[data.lasts] &= ~ended_by_limit(data, horizon, horizon_end_share)
        nothing = np.zeros(count)
        return cls(
            states=states,
            actions=data.actions.codes.astype(np.int32),
            rewards=data.rewards,
            next_states=following,
            followed=np.asarray(np.isfinite(following).all(axis=1)),
            ended=ended,
            judged=~last | ended,
            steps=data.steps,
            episodes=np.repeat(np.arange(len(data)), data.lengths),
            marginal=nothing if support is None else _trusted(support, trust, weight_limit),
            factual=nothing if support is None else support.factual,
            counterfactual=nothing if support is None else support.counterfactual,
            action_count=len(data.actions.labels),
        )

    def __len__(self) -> int:
        return len(self.rewards)

    def take(self, rows: Int[np.ndarray, " some"]) -> TransitionTable:
        """Some of the rows, in their order; episodes are counted anew."""
        arrays = {each.name: getattr(self, each.name)[rows] for each in fields(self) if each.name != "action_count"}
        arrays["episodes"] = np.unique(arrays["episodes"], return_inverse=True)[1].reshape(-1)
        return replace(self, **arrays)


def ended_by_limit(
    data: Trajectories, horizon: int, share: float = _HORIZON_END_SHARE
) -> Bool[np.ndarray, " episodes"]:
    """Episodes that are said to have ended by themselves, but at the horizon, as all do that come so far.

    Then time has ended them, which no state tells: learned as ends they would come too early for those who follow the
    policy. Where some that come so far go on, or hardly any come, flags are taken as they are.
    """
    far = data.lengths == horizon
    timed = far.sum() >= max(2, share * len(data)) and bool(data.terminated[far].all())
    return far & timed


def _trusted(support: Support, trust: float, limit: float) -> Float[np.ndarray, " steps"]:
    weights, effective = support.policy_weights
    share = np.divide(effective, effective + trust, out=np.zeros_like(effective), where=effective > 0)
    return np.minimum(weights * share[support.data.steps], limit * np.sqrt(len(support.data)))
