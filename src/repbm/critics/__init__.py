"""What actions are worth, fitted."""

from repbm.critics._action_values import ActionValues
from repbm.critics._cross_fitted import CrossFittedCritic
from repbm.critics._fqe import fit_fqe
from repbm.critics._fqe_network import FQENetwork
from repbm.critics._model_critic import ModelCritic
from repbm.critics._mrdr import fit_mrdr
from repbm.critics._tabular_critic import TabularCritic
from repbm.critics._value_critic import ActionValueCritic

__all__ = [
    "ActionValueCritic",
    "ActionValues",
    "CrossFittedCritic",
    "FQENetwork",
    "ModelCritic",
    "TabularCritic",
    "fit_fqe",
    "fit_mrdr",
]
