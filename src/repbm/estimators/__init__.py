"""Estimators: a log and a policy in, an estimate out. No training, no randomness inside."""

from repbm.estimators._case import Case
from repbm.estimators._corrected import (
    Corrected,
    MarginalCritic,
    marginal_weights,
    product_gap,
    return_deviation,
    surprises,
)
from repbm.estimators._corrected_sums import CorrectedSums, FoldCritic
from repbm.estimators._critic import Critic, FunctionCritic, StateValues, ZeroCritic, acting
from repbm.estimators._direct import DirectMethod
from repbm.estimators._doubly_robust import DoublyRobust
from repbm.estimators._estimate import Estimate, Estimator, Pooled
from repbm.estimators._group_sums import GroupSums, group_numbers
from repbm.estimators._importance import ImportanceSampling, PerDecisionImportanceSampling
from repbm.estimators._individuals import IndividualValues, OutcomeShape
from repbm.estimators._magic import Magic
from repbm.estimators._registry import ESTIMATORS, SOFTENING, EstimatorSpec, as_estimator, default_estimators
from repbm.estimators._reward_range import RewardRange
from repbm.estimators._role import Role
from repbm.estimators._weights import Weights

__all__ = [
    "ESTIMATORS",
    "SOFTENING",
    "Case",
    "Corrected",
    "CorrectedSums",
    "Critic",
    "DirectMethod",
    "DoublyRobust",
    "Estimate",
    "Estimator",
    "EstimatorSpec",
    "FoldCritic",
    "FunctionCritic",
    "GroupSums",
    "ImportanceSampling",
    "IndividualValues",
    "Magic",
    "MarginalCritic",
    "OutcomeShape",
    "PerDecisionImportanceSampling",
    "Pooled",
    "RewardRange",
    "Role",
    "StateValues",
    "Weights",
    "ZeroCritic",
    "acting",
    "as_estimator",
    "default_estimators",
    "group_numbers",
    "marginal_weights",
    "product_gap",
    "return_deviation",
    "surprises",
]
