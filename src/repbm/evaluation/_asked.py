"""A policy, asked what it does on a log."""

from __future__ import annotations

from dataclasses import replace

from repbm.core import InputError
from repbm.data import Informative, Trajectories
from repbm.estimators import Case
from repbm.evaluation._options import Question
from repbm.policies import ObservationPolicy, Policy, Widened


def asked_case(data: Trajectories, name: str, policy: Policy, question: Question, longest: int | None = None) -> Case:
    """The case of this policy; a fault says whose it is. `longest` is the longest episode of the log where these are
    not all."""
    try:
        return Case.of(data, policy, question.discount, question.horizon or longest)
    except InputError as fault:
        where = f"{name} ({fault.where})" if fault.where else name
        raise fault.at(where) from fault


def fitted_case(case: Case, columns: Informative | None, data: Trajectories) -> Case:
    """The same question about the columns that tell something, `data`; decisions are those in the log as it is."""
    if columns is None:
        return case
    policy = Widened(case.policy, columns) if isinstance(case.policy, ObservationPolicy) else case.policy
    return replace(case, data=data, policy=policy, _softened={})
