"""What is fitted: models of the world, and the values that follow from them."""

from repbm.models._compiled_policy import compiled, traceable
from repbm.models._losses import step_losses
from repbm.models._model import Model
from repbm.models._novelty import novelty, support_probability
from repbm.models._paper import PaperSettings, fit_paper
from repbm.models._rollout import Rolled, roll_out
from repbm.models._store import load_model, save_model
from repbm.models._tabular import TabularModel, few_states, fit_tabular
from repbm.models._values import values_in
from repbm.models.dynamics._choice import CANDIDATES, Comparison, compare, path_error
from repbm.models.dynamics._closed_form import fit_closed_form
from repbm.models.dynamics._network_fit import NetworkSettings, fit_network
from repbm.models.objectives._distances import IPM, LinearMMD, RadialMMD
from repbm.models.objectives._objective import AM, AM_PI, AM_PI_IPM, BOTH_RISKS, Objective
from repbm.models.objectives._wasserstein import Wasserstein
from repbm.models.training._head_refit import refit_heads
from repbm.models.training._networks import PaperNetwork, ResidualNetwork

__all__ = [
    "AM",
    "AM_PI",
    "AM_PI_IPM",
    "BOTH_RISKS",
    "CANDIDATES",
    "IPM",
    "Comparison",
    "LinearMMD",
    "Model",
    "NetworkSettings",
    "Objective",
    "PaperNetwork",
    "PaperSettings",
    "RadialMMD",
    "ResidualNetwork",
    "Rolled",
    "TabularModel",
    "Wasserstein",
    "compare",
    "compiled",
    "few_states",
    "fit_closed_form",
    "fit_network",
    "fit_paper",
    "fit_tabular",
    "load_model",
    "novelty",
    "path_error",
    "refit_heads",
    "roll_out",
    "save_model",
    "step_losses",
    "support_probability",
    "traceable",
    "values_in",
]
