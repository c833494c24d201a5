"""How sure: intervals and diagnostics from estimates and logs."""

from repbm.inference._bound import BoundTerms, Constants, bound_terms
from repbm.inference._diagnostics import diagnostics
from repbm.inference._intervals import Interval, Resampling, interval
from repbm.inference._refits import Refits

__all__ = ["BoundTerms", "Constants", "Interval", "Refits", "Resampling", "bound_terms", "diagnostics", "interval"]
