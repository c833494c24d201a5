"""How sure: intervals and diagnostics from estimates and logs."""

from repbm.inference._bound import BoundTerms, Constants, bound_terms
from repbm.inference._confounding import Confounding, WeightedSurprises, confounding
from repbm.inference._diagnostics import diagnostics, group_diagnostics
from repbm.inference._difference import difference
from repbm.inference._distribution import ReturnDistribution, ReturnFigure, return_distribution
from repbm.inference._guaranteed import guaranteed_bounds
from repbm.inference._intervals import Interval, Resampling, groups_of, interval, standard_error
from repbm.inference._model_distribution import ModelDistribution, largest_gap, model_figures
from repbm.inference._ranking import Contender, contender, paired_difference, probabilities_best
from repbm.inference._refits import Refits
from repbm.inference._selection import Selection, selection
from repbm.inference._sensitivity import behavior_sensitivity
from repbm.inference._subgroups import Group, leaf_conditions, subgroups, tree_states
from repbm.inference._tails import pareto_k

__all__ = [
    "BoundTerms",
    "Confounding",
    "Constants",
    "Contender",
    "Group",
    "Interval",
    "ModelDistribution",
    "Refits",
    "Resampling",
    "ReturnDistribution",
    "ReturnFigure",
    "Selection",
    "WeightedSurprises",
    "behavior_sensitivity",
    "bound_terms",
    "confounding",
    "contender",
    "diagnostics",
    "difference",
    "group_diagnostics",
    "groups_of",
    "guaranteed_bounds",
    "interval",
    "largest_gap",
    "leaf_conditions",
    "model_figures",
    "paired_difference",
    "pareto_k",
    "probabilities_best",
    "return_distribution",
    "selection",
    "standard_error",
    "subgroups",
    "tree_states",
]
