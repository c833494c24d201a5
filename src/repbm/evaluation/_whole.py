"""What can be summed over all episodes of a log that is larger than memory, in one pass."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from repbm.data import Trajectories
from repbm.estimators import SOFTENING, Case, GroupSums
from repbm.evaluation._options import Question
from repbm.inference import groups_of
from repbm.logs import Drawn
from repbm.policies import Policy


def all_episodes(
    drawn: Drawn, policies: Mapping[str, Policy], question: Question, announce: Callable[[str], None]
) -> dict[str, GroupSums]:
    """Sums for importance sampling and diagnostics, by policy; none where all of the log was read.

    None either where the log does not say how probable its actions were (that is learned from the sample), or where
    observations that a policy looks at are coded by what the sample shows.
    """
    scan, sample = drawn.scan, drawn.data
    coded = sample.encoding is not None and not all(coding.plain for coding in sample.encoding.codings)
    looks = any(policy.needs_observations for policy in policies.values())
    if scan is None or sample.behavior is None or (coded and looks):
        return {}
    longest = scan.longest if question.horizon is None else min(scan.longest, question.horizon)
    count = min(drawn.episodes, groups_of(longest, question.thresholds.intervals))
    result: dict[str, GroupSums] = {}
    done = 0
    for part in drawn.parts():
        announce(f"weighing all episodes, {done} of {drawn.episodes}")
        data = replace(part, actions=part.actions.onto(sample.actions.labels))
        data = data if question.horizon is None else data.until(question.horizon)
        if looks and data.names != sample.names:
            return {}
        for name, sums in _sums(data, policies, done, count, question).items():
            result[name] = result[name] + sums if name in result else sums
        done += len(data)
    return result


def _sums(
    data: Trajectories, policies: Mapping[str, Policy], first: int, count: int, question: Question
) -> dict[str, GroupSums]:
    cases = {name: Case.of(data, policy, question.discount, question.horizon) for name, policy in policies.items()}
    softenings = (0.0, SOFTENING)
    return {name: GroupSums.of(case, first, count, question.seed, softenings) for name, case in cases.items()}
