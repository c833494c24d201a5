"""All checks of a log, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from repbm.data import Trajectories
from repbm.doctor._columns import constant_columns, equal_columns, leaking_columns, outliers, two_units
from repbm.doctor._decisions import actions, probabilities, rewards
from repbm.doctor._episodes import copies, ends, few_episodes
from repbm.doctor._finding import Finding, Weight

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

    @property
    def sound(self) -> bool:
        """Whether nothing is a problem."""
        return all(finding.weight is not Weight.PROBLEM for finding in self.findings)

    def account(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {**asdict(self), "sound": self.sound}


def examine(data: Trajectories) -> Examination:
    """Look at the structure of a log; what cannot be read at all is an error of `read_log` before."""
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
    )
