"""How sure: intervals and diagnostics from estimates and logs."""

from repbm.inference._bound import BoundTerms, Constants, bound_terms
from repbm.inference._diagnostics import diagnostics
from repbm.inference._difference import difference
from repbm.inference._intervals import Interval, Resampling, interval
from repbm.inference._refits import Refits
from repbm.inference._sensitivity import behavior_sensitivity
from repbm.inference._tails import pareto_k

__all__ = [
    "BoundTerms",
    "Constants",
    "Interval",
    "Refits",
    "Resampling",
    "behavior_sensitivity",
    "bound_terms",
    "diagnostics",
    "difference",
    "interval",
    "pareto_k",
]
