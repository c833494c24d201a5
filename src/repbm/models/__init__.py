"""What is fitted: models of the world, and the values that follow from them."""

from repbm.models._model import Model
from repbm.models._objective import AM, AM_PI, BALANCED, Objective
from repbm.models._precise import fit_precise
from repbm.models._rollout import Rolled, roll_out
from repbm.models._store import load_model, save_model

__all__ = [
    "AM",
    "AM_PI",
    "BALANCED",
    "Model",
    "Objective",
    "Rolled",
    "fit_precise",
    "load_model",
    "roll_out",
    "save_model",
]
