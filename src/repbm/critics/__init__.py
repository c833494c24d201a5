"""What actions are worth, fitted to a log: `fit_critic`, for whoever asks."""

from repbm.critics._action_values import ActionValues
from repbm.critics._cross_fitted import CrossFittedCritic
from repbm.critics._drawn_returns import draw_returns
from repbm.critics._fit import CriticSpec, FittedCritic, choose_kind, fit_critic, fit_critics, fit_model_critics
from repbm.critics._fqe import FQENetwork, fit_fqe
from repbm.critics._kinds import (
    CRITICS,
    CriticKind,
    FittedQ,
    Marginal,
    ModelCriticKind,
    MoreRobust,
    Request,
    model_estimator,
)
from repbm.critics._marginal import CrossFittedValues
from repbm.critics._model_critic import ModelCritic
from repbm.critics._mrdr import fit_mrdr
from repbm.critics._refitted import refit_critic
from repbm.critics._value_critic import ActionValueCritic
from repbm.critics._whole_model import PolicyScale, WholeModel

__all__ = [
    "CRITICS",
    "ActionValueCritic",
    "ActionValues",
    "CriticKind",
    "CriticSpec",
    "CrossFittedCritic",
    "CrossFittedValues",
    "FQENetwork",
    "FittedCritic",
    "FittedQ",
    "Marginal",
    "ModelCritic",
    "ModelCriticKind",
    "MoreRobust",
    "PolicyScale",
    "Request",
    "WholeModel",
    "choose_kind",
    "draw_returns",
    "fit_critic",
    "fit_critics",
    "fit_fqe",
    "fit_model_critics",
    "fit_mrdr",
    "model_estimator",
    "refit_critic",
]
