"""The columns of the result tables, and what is in them."""

from __future__ import annotations

import polars as pl

from repbm.evaluation._similar import COMPARED

ESTIMATES = {
    "policy": pl.String,
    "estimator": pl.String,
    "role": pl.String,
    "family": pl.String,
    "softened": pl.Boolean,
    "headline": pl.Boolean,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "level": pl.Float64,
    "std_error": pl.Float64,
    "logged_mean": pl.Float64,
    "difference": pl.Float64,
    "difference_low": pl.Float64,
    "difference_high": pl.Float64,
    "episodes": pl.Int64,
    "effective_episodes": pl.Float64,
    "behavior": pl.String,
    "verdict": pl.String,
    "supported": pl.Boolean,
    "disagreeing": pl.String,
    "note": pl.String,
}
INDIVIDUALS = {
    "policy": pl.String,
    "estimator": pl.String,
    "episode": pl.String,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "outcome_low": pl.Float64,
    "outcome_high": pl.Float64,
    "logged_value": pl.Float64,
    "difference": pl.Float64,
    "difference_low": pl.Float64,
    "difference_high": pl.Float64,
    "source": pl.String,
    "support": pl.Float64,
    "refused": pl.String,
    **COMPARED,
}
RANKING = {
    "policy": pl.String,
    "estimator": pl.String,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "probability_best": pl.Float64,
    "to_best": pl.Float64,
    "to_best_low": pl.Float64,
    "to_best_high": pl.Float64,
}
BOUND_TERMS = ("risk_behavior", "risk_policy", "distance", "deviation")
DIAGNOSTICS = {
    "policy": pl.String,
    "step": pl.Int64,
    "alive": pl.Int64,
    **dict.fromkeys(("factual", "counterfactual", "u", "effective_episodes", *BOUND_TERMS), pl.Float64),
}
