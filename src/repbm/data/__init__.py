"""Trajectories: the one dataset type, and what is computed from it alone."""

from repbm.data._coded import Coded
from repbm.data._segments import cumulative, cumulative_log, gather, indices, totals
from repbm.data._support import Support, support
from repbm.data._trajectories import Trajectories

__all__ = ["Coded", "Support", "Trajectories", "cumulative", "cumulative_log", "gather", "indices", "support", "totals"]
