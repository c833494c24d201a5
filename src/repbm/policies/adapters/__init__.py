"""Whatever users call a policy, made one: functions, files and objects of other frameworks, decision tables."""

from repbm.policies.adapters._as_policy import as_policy
from repbm.policies.adapters._classifier import classifier_policy
from repbm.policies.adapters._decision_table import DecisionTable
from repbm.policies.adapters._engine import Answer, EnginePolicy
from repbm.policies.adapters._onnx import onnx_policy
from repbm.policies.adapters._reinforcement import d3rlpy_policy, stable_baselines_policy
from repbm.policies.adapters._torch import torch_policy, torchscript_policy

__all__ = [
    "Answer",
    "DecisionTable",
    "EnginePolicy",
    "as_policy",
    "classifier_policy",
    "d3rlpy_policy",
    "onnx_policy",
    "stable_baselines_policy",
    "torch_policy",
    "torchscript_policy",
]
