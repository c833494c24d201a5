"""Trajectories: the one dataset type, and what is computed from it alone."""

from repbm.data._categorical import Categorical
from repbm.data._encoding import Coding, Encoding, Kind
from repbm.data._folds import content_folds
from repbm.data._history import History
from repbm.data._informative import Informative
from repbm.data._returns import annuity, return_bounds
from repbm.data._sample import spread_episodes
from repbm.data._segments import (
    Block,
    StepValues,
    added,
    cumulative_products,
    each_once,
    indices,
    log_products,
    over_blocks,
    totals,
)
from repbm.data._states import few_states, found_states, numbered_states
from repbm.data._support import ImportanceWeights, Support, followed, support
from repbm.data._trajectories import LARGEST_NUMBER, LARGEST_OBSERVATION, Trajectories

__all__ = [
    "LARGEST_NUMBER",
    "LARGEST_OBSERVATION",
    "Block",
    "Categorical",
    "Coding",
    "Encoding",
    "History",
    "ImportanceWeights",
    "Informative",
    "Kind",
    "StepValues",
    "Support",
    "Trajectories",
    "added",
    "annuity",
    "content_folds",
    "cumulative_products",
    "each_once",
    "few_states",
    "followed",
    "found_states",
    "indices",
    "log_products",
    "numbered_states",
    "over_blocks",
    "return_bounds",
    "spread_episodes",
    "support",
    "totals",
]
