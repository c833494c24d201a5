"""The published baselines with their mistakes, for `repbm reproduce --fidelity as-published` and nothing else.

| mistake | where |
|---|---|
| IS and WIS, soft or not, return the length of an episode times its weight | `LengthSampling` |
| finished episodes get lost in the per-step normalizer of WPDIS, WDR and WMRDR | `forgetful_sums` |
| soft DR has soft weights, but V and Q of the policy itself | `hard_values` |
| V of a softened policy adds up two actions, however many there are (MRDR) | `TimedValues.two_actions` |
| MRDR's objective for deterministic policies is fed soft weights; time is one linear term | `fit_mrdr_as_published` |
| HIV: nothing is discounted, the first ratio is left out | `StepSampling`, `later_ratios` |
| HIV: rewards are standardized with those of the evaluated policy itself | `Standardized` |

No mistake, but part of the published figures: epsilon 0.02 in soft estimators, and individual errors of estimators that
have no individual values, with the contribution of the one logged episode in their place. AM(pi) without a distance
between representations is what `AM_PI` is everywhere.

Not here: in CartPole with short episodes the published soft WDR and soft WMRDR (errors of 20 to 23) are nearly those of
soft WPDIS (24), as if V and Q were 0 past the last step at which anybody follows the policy. That would spoil the soft
rows of the long episodes, which are as they should be: a rule for both is not known.
"""

from repbm.experiments.as_published._estimators import (
    LengthSampling,
    StepSampling,
    hard_model_values,
    hard_values,
    no_values,
)
from repbm.experiments.as_published._hiv import Standardized, later_ratios
from repbm.experiments.as_published._mrdr import TimedValues, fit_mrdr_as_published, soft_returns
from repbm.experiments.as_published._rows import SOFTENING, AsPublished
from repbm.experiments.as_published._weights import forgetful_sums

__all__ = [
    "SOFTENING",
    "AsPublished",
    "LengthSampling",
    "Standardized",
    "StepSampling",
    "TimedValues",
    "fit_mrdr_as_published",
    "forgetful_sums",
    "hard_model_values",
    "hard_values",
    "later_ratios",
    "no_values",
    "soft_returns",
]
