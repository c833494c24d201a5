"""repbm: what would happen if we followed this policy instead, on average and for this individual?

`import repbm` is enough to use `repbm.evaluate` or `repbm.estimators.ImportanceSampling`: packages are loaded when they
are first used, so that `repbm --help` stays quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from repbm._version import __version__

if TYPE_CHECKING:
    from repbm import core as core
    from repbm import critics as critics
    from repbm import data as data
    from repbm import doctor as doctor
    from repbm import domains as domains
    from repbm import engines as engines
    from repbm import estimators as estimators
    from repbm import evaluation as evaluation
    from repbm import experiments as experiments
    from repbm import inference as inference
    from repbm import logs as logs
    from repbm import models as models
    from repbm import policies as policies
    from repbm import report as report
    from repbm import web as web
    from repbm.core import InputError
    from repbm.data import Trajectories
    from repbm.evaluation import Evaluation, PolicyEvaluator, evaluate
    from repbm.logs import read_log

_PACKAGES = (
    "core",
    "critics",
    "data",
    "doctor",
    "domains",
    "engines",
    "estimators",
    "evaluation",
    "experiments",
    "inference",
    "logs",
    "models",
    "policies",
    "report",
    "web",
)
_HOMES = {
    "Evaluation": "evaluation",
    "InputError": "core",
    "PolicyEvaluator": "evaluation",
    "Trajectories": "data",
    "evaluate": "evaluation",
    "read_log": "logs",
}

__all__ = ["Evaluation", "InputError", "PolicyEvaluator", "Trajectories", "__version__", "evaluate", "read_log"]


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return importlib.import_module(f"repbm.{name}")
    if name in _HOMES:
        return getattr(importlib.import_module(f"repbm.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'repbm' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted([*__all__, *_PACKAGES])
