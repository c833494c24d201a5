"""Policies: what is evaluated. Anything that gives actions or probabilities for a batch of observations."""

from repbm.policies._base import Choices, Decisions, ObservationPolicy, Policy
from repbm.policies._behavior import LearnedBehavior, Reliability, learn_behavior, reliability
from repbm.policies._callable import CallablePolicy
from repbm.policies._classifier import classifier_policy
from repbm.policies._columns import ActionColumn, LoggedProbabilityColumn, ProbabilityColumns
from repbm.policies._compiled import compiled, traceable
from repbm.policies._decision_table import DecisionTable
from repbm.policies._engine import Answer, EnginePolicy
from repbm.policies._imitation import Imitation, imitate
from repbm.policies._neighbors import NeighborPolicy
from repbm.policies._network import NetworkPolicy
from repbm.policies._onnx import onnx_policy
from repbm.policies._reinforcement import d3rlpy_policy, stable_baselines_policy
from repbm.policies._tabular import TabularPolicy
from repbm.policies._torch import torch_policy, torchscript_policy
from repbm.policies._wrappers import Greedy, Softened, epsilon_greedy

__all__ = [
    "ActionColumn",
    "Answer",
    "CallablePolicy",
    "Choices",
    "DecisionTable",
    "Decisions",
    "EnginePolicy",
    "Greedy",
    "Imitation",
    "LearnedBehavior",
    "LoggedProbabilityColumn",
    "NeighborPolicy",
    "NetworkPolicy",
    "ObservationPolicy",
    "Policy",
    "ProbabilityColumns",
    "Reliability",
    "Softened",
    "TabularPolicy",
    "classifier_policy",
    "compiled",
    "d3rlpy_policy",
    "epsilon_greedy",
    "imitate",
    "learn_behavior",
    "onnx_policy",
    "reliability",
    "stable_baselines_policy",
    "torch_policy",
    "torchscript_policy",
    "traceable",
]
