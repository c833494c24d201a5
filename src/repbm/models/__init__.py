"""What the world does, fitted to a log. One interface, `Model`, for tables and for continuous states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from repbm.core import needs_networks
from repbm.models._candidates import Candidates, Followed
from repbm.models._choice import Comparison, Score, compare
from repbm.models._continuous import ContinuousModel
from repbm.models._fits import KINDS, AutoFit, ModelFit, OneKindFit, PaperFit
from repbm.models._model import Model, ModelValues
from repbm.models._paper import PaperSettings
from repbm.models._question import ModelQuestion
from repbm.models._rollout import roll_out
from repbm.models._store import load_asked, load_model, save_model
from repbm.models._tabular import TabularModel, fit_tabular
from repbm.models._traceable import Traceable, traceable
from repbm.models._whole_fit import FitSums, WholeFit
from repbm.models._whole_fits import whole_fit
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
from repbm.models.parts._termination_network import TerminationNetwork
from repbm.models.training._networks import PaperNetwork, ResidualNetwork

if TYPE_CHECKING:
    from repbm.models._compiled_policy import compiled
    from repbm.models._paper_fit import fit_paper
    from repbm.models.training._head_refit import refit_heads

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
    "Candidates",
    "Comparison",
    "ContinuousModel",
    "Dynamics",
    "DynamicsKind",
    "FitContext",
    "FitSums",
    "Followed",
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
    "TerminationNetwork",
    "Traceable",
    "Wasserstein",
    "WholeFit",
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
    "whole_fit",
]


def __getattr__(name: str) -> Any:
    """What trains or compiles networks is loaded when it is first asked for: few evaluations need it."""
    if name not in ("compiled", "fit_paper", "refit_heads"):
        raise AttributeError(f"module 'repbm.models' has no attribute '{name}'")
    needs_networks()
    from repbm.models._compiled_policy import compiled
    from repbm.models._paper_fit import fit_paper
    from repbm.models.training._head_refit import refit_heads

    return {"compiled": compiled, "fit_paper": fit_paper, "refit_heads": refit_heads}[name]


def __dir__() -> list[str]:
    return __all__
