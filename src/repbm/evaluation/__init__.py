"""The one verb: evaluate policies on a log."""

from repbm.evaluation._evaluate import Evaluation, evaluate
from repbm.evaluation._names import ESTIMATORS, as_estimator
from repbm.evaluation._store import check_target, write
from repbm.evaluation._workshop import Paper, Precise, Preset, as_preset

__all__ = [
    "ESTIMATORS",
    "Evaluation",
    "Paper",
    "Precise",
    "Preset",
    "as_estimator",
    "as_preset",
    "check_target",
    "evaluate",
    "write",
]
