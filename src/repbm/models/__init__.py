"""What is fitted: models of the world, and the values that follow from them."""

from repbm.models._action_values import ActionValues
from repbm.models._fqe import fit_fqe
from repbm.models._fqe_network import FQENetwork
from repbm.models._model import Model
from repbm.models._mrdr import fit_mrdr
from repbm.models._objective import AM, AM_PI, BALANCED, Objective
from repbm.models._precise import fit_precise
from repbm.models._rollout import Rolled, roll_out
from repbm.models._store import load_model, save_model
from repbm.models._tabular import TabularModel, few_states, fit_tabular

__all__ = [
    "AM",
    "AM_PI",
    "BALANCED",
    "ActionValues",
    "FQENetwork",
    "Model",
    "Objective",
    "Rolled",
    "TabularModel",
    "few_states",
    "fit_fqe",
    "fit_mrdr",
    "fit_precise",
    "fit_tabular",
    "load_model",
    "roll_out",
    "save_model",
]
