"""What is fitted: models of the world, and the values that follow from them."""

from repbm.models._action_values import ActionValues
from repbm.models._automatic import CANDIDATES, Comparison, compare, path_error
from repbm.models._fqe import fit_fqe
from repbm.models._fqe_network import FQENetwork
from repbm.models._ipm import IPM, LinearMMD, RadialMMD
from repbm.models._model import Model
from repbm.models._mrdr import fit_mrdr
from repbm.models._network import PaperNetwork, ResidualNetwork
from repbm.models._objective import AM, AM_PI, AM_PI_IPM, BALANCED, Objective
from repbm.models._paper import PaperPreset, fit_paper
from repbm.models._precise import fit_precise
from repbm.models._refit import refit_heads
from repbm.models._residual import NetworkPreset, fit_network
from repbm.models._risk import step_losses
from repbm.models._rollout import Rolled, roll_out
from repbm.models._sinkhorn import Wasserstein
from repbm.models._store import load_model, save_model
from repbm.models._strangeness import familiarity, strangeness
from repbm.models._tabular import TabularModel, few_states, fit_tabular
from repbm.models._values import values_in

__all__ = [
    "AM",
    "AM_PI",
    "AM_PI_IPM",
    "BALANCED",
    "CANDIDATES",
    "IPM",
    "ActionValues",
    "Comparison",
    "FQENetwork",
    "LinearMMD",
    "Model",
    "NetworkPreset",
    "Objective",
    "PaperNetwork",
    "PaperPreset",
    "RadialMMD",
    "ResidualNetwork",
    "Rolled",
    "TabularModel",
    "Wasserstein",
    "compare",
    "familiarity",
    "few_states",
    "fit_fqe",
    "fit_mrdr",
    "fit_network",
    "fit_paper",
    "fit_precise",
    "fit_tabular",
    "load_model",
    "path_error",
    "refit_heads",
    "roll_out",
    "save_model",
    "step_losses",
    "strangeness",
    "values_in",
]
