"""repbm: what would happen if we followed this policy instead, on average and for this individual?

Public names are loaded when they are first used, so that `repbm --help` stays quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from repbm._version import __version__

if TYPE_CHECKING:
    from repbm.core import InputError
    from repbm.data import Trajectories
    from repbm.evaluation import Evaluation, evaluate
    from repbm.logs import read_log

_ROOMS = {
    "Evaluation": "evaluation",
    "InputError": "core",
    "Trajectories": "data",
    "evaluate": "evaluation",
    "read_log": "logs",
}

__all__ = ["Evaluation", "InputError", "Trajectories", "__version__", "evaluate", "read_log"]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return getattr(importlib.import_module(f"repbm.{_ROOMS[name]}"), name)
    raise AttributeError(f"module 'repbm' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
