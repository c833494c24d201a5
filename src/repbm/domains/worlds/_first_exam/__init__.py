"""Families that were an exam once, written apart from the estimates; of development since their figures were read."""

from __future__ import annotations

from repbm.domains.worlds._first_exam._ends import discharge
from repbm.domains.worlds._first_exam._noise import heavy_tails, many_columns, uneven
from repbm.domains.worlds._first_exam._short import one_step, rare
from repbm.domains.worlds._first_exam._systems import linear, nonlinear
from repbm.domains.worlds._first_exam._table import table
from repbm.domains.worlds._first_exam._time import delayed, long
from repbm.domains.worlds._first_exam._unseen import hidden_cause, no_overlap, no_propensities, partly_seen
from repbm.domains.worlds._world import Families

FIRST_EXAM: Families = {
    "linear": linear,
    "nonlinear": nonlinear,
    "discharge": discharge,
    "one-step": one_step,
    "table": table,
    "uneven": uneven,
    "many-columns": many_columns,
    "rare": rare,
    "no-propensities": no_propensities,
    "long": long,
    "heavy-tails": heavy_tails,
    "delayed": delayed,
    "no-overlap": no_overlap,
    "hidden-cause": hidden_cause,
    "partly-seen": partly_seen,
}

__all__ = ["FIRST_EXAM"]
