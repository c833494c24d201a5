"""The one verb: evaluate policies on a log; the result as data, on disk and back."""

from repbm.evaluation._details import SHOWN_INDIVIDUALS, PolicyDetails, shown
from repbm.evaluation._evaluate import evaluate
from repbm.evaluation._evaluator import PolicyEvaluator
from repbm.evaluation._folder import check_target
from repbm.evaluation._options import Fitting, Question, Reading
from repbm.evaluation._repeat import repeat, value_individuals
from repbm.evaluation._result import Evaluation
from repbm.evaluation._study import STUDY, Outcome, Study

__all__ = [
    "SHOWN_INDIVIDUALS",
    "STUDY",
    "Evaluation",
    "Fitting",
    "Outcome",
    "PolicyDetails",
    "PolicyEvaluator",
    "Question",
    "Reading",
    "Study",
    "check_target",
    "evaluate",
    "repeat",
    "shown",
    "value_individuals",
]
