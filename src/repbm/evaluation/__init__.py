"""The one verb: evaluate policies on a log; the result as data, on disk and back."""

from repbm.evaluation._cohort import Arm, Characteristic, Cohort
from repbm.evaluation._details import SHOWN_INDIVIDUALS, PolicyDetails, shown
from repbm.evaluation._evaluate import evaluate
from repbm.evaluation._evaluator import PolicyEvaluator
from repbm.evaluation._everyone import Everyone
from repbm.evaluation._folder import check_target
from repbm.evaluation._options import Fitting, Question, Reading
from repbm.evaluation._outcome import Effect, Outcome, Scale
from repbm.evaluation._practice import PracticeRegion
from repbm.evaluation._repeat import repeat, value_individuals
from repbm.evaluation._result import Evaluation
from repbm.evaluation._study import STUDY, Study

__all__ = [
    "SHOWN_INDIVIDUALS",
    "STUDY",
    "Arm",
    "Characteristic",
    "Cohort",
    "Effect",
    "Evaluation",
    "Everyone",
    "Fitting",
    "Outcome",
    "PolicyDetails",
    "PolicyEvaluator",
    "PracticeRegion",
    "Question",
    "Reading",
    "Scale",
    "Study",
    "check_target",
    "evaluate",
    "repeat",
    "shown",
    "value_individuals",
]
