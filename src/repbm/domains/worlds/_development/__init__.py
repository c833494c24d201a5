"""The families that were looked at while repbm was made: what they show is what it was made to do well on."""

from repbm.domains.worlds._development._hidden import confounded, no_positivity, partial
from repbm.domains.worlds._development._linear import no_propensities, noisy_linear
from repbm.domains.worlds._development._noisy import bimodal, noise_by_state, table
from repbm.domains.worlds._development._nonlinear import one_step, pendulum, saturating
from repbm.domains.worlds._development._patients import clinic, delayed, rare_action
from repbm.domains.worlds._development._variants import heavy_tails, irrelevant_columns, long
from repbm.domains.worlds._world import Families

DEVELOPMENT: Families = {
    "noisy-linear": noisy_linear,
    "pendulum": pendulum,
    "saturating": saturating,
    "clinic": clinic,
    "one-step": one_step,
    "table": table,
    "noise-by-state": noise_by_state,
    "bimodal": bimodal,
    "irrelevant-columns": irrelevant_columns,
    "rare-action": rare_action,
    "no-propensities": no_propensities,
    "confounded": confounded,
    "long": long,
    "heavy-tails": heavy_tails,
    "delayed": delayed,
    "no-positivity": no_positivity,
    "partial": partial,
}
