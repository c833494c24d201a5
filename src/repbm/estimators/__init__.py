"""Estimators: a log and a policy in, an estimate out. No training, no randomness inside."""

from repbm.estimators._case import Case
from repbm.estimators._critics import Critic, FunctionCritic, Initial, ZeroCritic, acting
from repbm.estimators._cross_fitted import CrossFittedCritic
from repbm.estimators._direct import DirectMethod
from repbm.estimators._doubly_robust import DoublyRobust
from repbm.estimators._estimate import Estimate, Estimator, Pooled
from repbm.estimators._importance import ImportanceSampling, PerDecisionImportanceSampling
from repbm.estimators._magic import Magic
from repbm.estimators._model_critic import ModelCritic
from repbm.estimators._tabular_critic import TabularCritic
from repbm.estimators._value_critic import ActionValueCritic
from repbm.estimators._weights import Weights

__all__ = [
    "ActionValueCritic",
    "Case",
    "Critic",
    "CrossFittedCritic",
    "DirectMethod",
    "DoublyRobust",
    "Estimate",
    "Estimator",
    "FunctionCritic",
    "ImportanceSampling",
    "Initial",
    "Magic",
    "ModelCritic",
    "PerDecisionImportanceSampling",
    "Pooled",
    "TabularCritic",
    "Weights",
    "ZeroCritic",
    "acting",
]
