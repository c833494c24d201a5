"""The one verb: evaluate policies on a log."""

from repbm.evaluation._evaluate import Evaluation, evaluate
from repbm.evaluation._names import ESTIMATORS, as_estimator, as_policy
from repbm.evaluation._store import check_target, write

__all__ = ["ESTIMATORS", "Evaluation", "as_estimator", "as_policy", "check_target", "evaluate", "write"]
