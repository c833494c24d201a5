"""What the world does, fitted to a log. One interface, `Model`, for tables and for continuous states."""

from repbm.models._choice import Comparison, Score, compare
from repbm.models._compiled_policy import Traceable, compiled, traceable
from repbm.models._continuous import ContinuousModel
from repbm.models._fits import KINDS, AutoFit, ModelFit, OneKindFit, PaperFit
from repbm.models._model import Model, ModelValues
from repbm.models._paper import PaperSettings, fit_paper
from repbm.models._question import ModelQuestion
from repbm.models._rollout import roll_out
from repbm.models._store import load_asked, load_model, save_model
from repbm.models._tabular import TabularModel, fit_tabular
from repbm.models._widened import WidenedModel
from repbm.models.dynamics._base import Dynamics
from repbm.models.dynamics._closed_form import CLOSED_FORM, KERNEL, POLYNOMIAL, fit_closed_form
from repbm.models.dynamics._context import FitContext
from repbm.models.dynamics._kind import DynamicsKind
from repbm.models.dynamics._network_fit import NETWORK, NetworkKind, NetworkSettings, fit_network
from repbm.models.objectives._distances import IPM, LinearMMD, RadialMMD
from repbm.models.objectives._objective import AM, AM_PI, AM_PI_IPM, BOTH_RISKS, Objective
from repbm.models.objectives._wasserstein import Wasserstein
from repbm.models.parts._part import Part
from repbm.models.parts._reward import Reward
from repbm.models.parts._termination import Termination
from repbm.models.training._head_refit import refit_heads
from repbm.models.training._networks import PaperNetwork, ResidualNetwork

__all__ = [
    "AM",
    "AM_PI",
    "AM_PI_IPM",
    "BOTH_RISKS",
    "CLOSED_FORM",
    "IPM",
    "KERNEL",
    "KINDS",
    "NETWORK",
    "POLYNOMIAL",
    "AutoFit",
    "Comparison",
    "ContinuousModel",
    "Dynamics",
    "DynamicsKind",
    "FitContext",
    "LinearMMD",
    "Model",
    "ModelFit",
    "ModelQuestion",
    "ModelValues",
    "NetworkKind",
    "NetworkSettings",
    "Objective",
    "OneKindFit",
    "PaperFit",
    "PaperNetwork",
    "PaperSettings",
    "Part",
    "RadialMMD",
    "ResidualNetwork",
    "Reward",
    "Score",
    "TabularModel",
    "Termination",
    "Traceable",
    "Wasserstein",
    "WidenedModel",
    "compare",
    "compiled",
    "fit_closed_form",
    "fit_network",
    "fit_paper",
    "fit_tabular",
    "load_asked",
    "load_model",
    "refit_heads",
    "roll_out",
    "save_model",
    "traceable",
]
