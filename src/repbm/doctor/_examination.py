"""All checks of a log, one after the other, and what it supports."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from repbm.core import LogRules, SupportRules, Thresholds, one_thread
from repbm.data import Trajectories
from repbm.doctor._columns import constant_columns, equal_columns, leaking_columns, outliers, two_units
from repbm.doctor._counts import LogCounts
from repbm.doctor._decisions import actions, probabilities, rewards
from repbm.doctor._episodes import copies, ends, few_episodes
from repbm.doctor._finding import Finding, Severity
from repbm.doctor._judging import verdict_of
from repbm.doctor._verdict import Verdict
from repbm.estimators import Case
from repbm.policies import Policy

Check = Callable[[Trajectories, LogCounts, LogRules], Iterator[Finding]]

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

    def __repr__(self) -> str:
        return (
            f"Examination({self.episodes} episodes, {self.steps} steps, {len(self.findings)} findings, "
            f"{len(self.verdicts)} verdicts)"
        )

    @property
    def weighty(self) -> tuple[Finding, ...]:
        """Problems and warnings: what is to be looked at before an answer is believed."""
        return tuple(finding for finding in self.findings if finding.severity is not Severity.REMARK)

    @property
    def sound(self) -> bool:
        """Whether nothing is a problem, and every policy is supported."""
        fine = all(finding.severity is not Severity.PROBLEM for finding in self.findings)
        return fine and all(verdict.supported for verdict in self.verdicts.values())

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        verdicts = {name: verdict.to_dict() for name, verdict in self.verdicts.items()}
        return {**asdict(replace(self, verdicts={})), "verdicts": verdicts, "sound": self.sound}

    @classmethod
    def of(cls, stored: Mapping[str, Any], rules: SupportRules) -> Examination:
        """What `to_dict` wrote."""
        findings = tuple(Finding(**{**each, "severity": Severity(each["severity"])}) for each in stored["findings"])
        verdicts = {name: Verdict.of(each, rules) for name, each in stored["verdicts"].items()}
        counts = {name: stored[name] for name in ("episodes", "steps", "longest", "terminated")}
        actions, observations = tuple(stored["actions"]), tuple(stored["observations"])
        return cls(**counts, actions=actions, observations=observations, findings=findings, verdicts=verdicts)


@one_thread()
def examine(
    data: Trajectories,
    policies: Mapping[str, Policy] | None = None,
    seed: int = 0,
    thresholds: Thresholds = Thresholds(),  # noqa: B008 - frozen
    counts: LogCounts | None = None,
) -> Examination:
    """Look at the structure of a log, and at what it supports; what cannot be read is an error of `read_log` before.

    Of a long log, evenly spread episodes tell what it supports. Where `data` is a sample of a log that is larger than
    memory, `counts` are those of all its episodes.
    """
    rules, counts = thresholds.log, counts or LogCounts.of(data)
    # Numbers near the largest overflow in sums here and there: then nothing is found, and estimates say so themselves.
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        found = [finding for check in CHECKS for finding in check(data, counts, rules)]
    order = list(Severity)
    return Examination(
        episodes=counts.episodes,
        steps=counts.steps,
        longest=counts.longest,
        terminated=counts.terminated,
        actions=tuple(str(label) for label in counts.actions),
        observations=data.observation_names,
        findings=tuple(sorted(found, key=lambda finding: order.index(finding.severity))),
        verdicts={name: verdict_of(Case.of(data, each), seed, thresholds) for name, each in (policies or {}).items()},
    )
