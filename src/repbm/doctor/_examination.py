"""All checks of a log, one after the other, and what it supports."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from repbm.data import Trajectories
from repbm.doctor._columns import constant_columns, equal_columns, leaking_columns, outliers, two_units
from repbm.doctor._decisions import actions, probabilities, rewards
from repbm.doctor._episodes import copies, ends, few_episodes
from repbm.doctor._finding import Finding, Weight
from repbm.doctor._sample import sampled_episodes
from repbm.doctor._verdict import Verdict, judge, model_of
from repbm.estimators import Case
from repbm.policies import ObservationPolicy, Policy, learn_behavior

Check = Callable[[Trajectories], Iterator[Finding]]

CHECKS: tuple[Check, ...] = (
    few_episodes,
    ends,
    copies,
    actions,
    probabilities,
    rewards,
    constant_columns,
    equal_columns,
    leaking_columns,
    outliers,
    two_units,
)


@dataclass(frozen=True)
class Examination:
    """What the log is, and the findings, the weightiest first."""

    episodes: int
    steps: int
    longest: int
    terminated: int
    actions: tuple[str, ...]
    observations: tuple[str, ...]
    findings: tuple[Finding, ...]
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    """What the log supports, policy by policy."""

    @property
    def sound(self) -> bool:
        """Whether nothing is a problem, and every policy is supported."""
        fine = all(finding.weight is not Weight.PROBLEM for finding in self.findings)
        return fine and all(verdict.supported for verdict in self.verdicts.values())

    def account(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        verdicts = {name: verdict.account() for name, verdict in self.verdicts.items()}
        return {**asdict(replace(self, verdicts={})), "verdicts": verdicts, "sound": self.sound}


def examine(data: Trajectories, policies: Mapping[str, Policy] | None = None, seed: int = 0) -> Examination:
    """Look at the structure of a log, and at what it supports; what cannot be read is an error of `read_log` before.

    Of a long log, evenly spread episodes tell what it supports.
    """
    # Numbers near the largest overflow in sums here and there: then nothing is found, and estimates say so themselves.
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        found = [finding for check in CHECKS for finding in check(data)]
    order = list(Weight)
    return Examination(
        episodes=len(data),
        steps=len(data.rewards),
        longest=data.longest,
        terminated=int(data.terminated.sum()),
        actions=tuple(str(label) for label in data.actions.labels),
        observations=data.observation_names,
        findings=tuple(sorted(found, key=lambda finding: order.index(finding.weight))),
        verdicts=_verdicts(data, policies, seed) if policies else {},
    )


def _verdicts(data: Trajectories, policies: Mapping[str, Policy], seed: int) -> dict[str, Verdict]:
    data = sampled_episodes(data)
    if data.behavior is None and len(data) > 1:
        data = replace(data, behavior=learn_behavior(data, seed).logged(data))
    acts = any(isinstance(policy, ObservationPolicy) for policy in policies.values())
    model = model_of(data, data.longest, seed) if acts else None
    return {name: judge(Case.of(data, policy), model, seed) for name, policy in policies.items()}
