"""How sure: intervals and diagnostics from estimates and logs."""

from repbm.inference._diagnostics import diagnostics
from repbm.inference._intervals import Interval, Resampling, interval

__all__ = ["Interval", "Resampling", "diagnostics", "interval"]
