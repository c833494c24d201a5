"""What must hold before an answer is believed."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from jaxtyping import Float

from repbm.core import PositivityRules, SupportRules, nearest, say
from repbm.data import few_states, totals
from repbm.doctor._amounts import rarest_amount
from repbm.doctor._hidden_causes import hidden_cause
from repbm.doctor._positivity import uncovered_regions
from repbm.estimators import Case, Estimate, MarginalCritic, RewardRange, product_gap, return_deviation
from repbm.inference import standard_error

_SHOWN = 2
_THIRDS = 3
_IN_THIRDS = 5
_FEWEST_IN_THIRDS = 30
"""With fewer individuals a mean is not normal enough to tell what is beyond chance."""
_EXACT = 1e-12
"""An answer with a smaller standard error, as a share of the largest possible return, is exact."""
_ROUNDING = 1e-6
"""What regressions are off by where nothing is left to chance, as a share of the largest possible return."""


@dataclass(frozen=True)
class Check:
    """One thing that must hold; the sentence says what was found."""

    name: str
    holds: bool
    sentence: str


def checks_of(
    case: Case,
    critic: MarginalCritic | None,
    estimate: Estimate | None,
    rules: SupportRules,
    positivity: PositivityRules,
) -> tuple[tuple[Check, ...], float | None]:
    """All checks of a policy on a log, and the precision of the answer: its standard error over that of the log."""
    if critic is None or estimate is None:
        return (_unseen(case),), None
    ratios = critic.ratios(case)
    checks = (
        _unseen(case),
        _regions(case, ratios, positivity),
        _weights(case, ratios, rules),
        _range(case, estimate),
        _backtest(case, critic, rules),
        _followed(case, critic, rules),
        _amounts(case, ratios, rules),
        _hidden(case, critic, rules),
    )
    return checks, _precision(case, critic, estimate, rules)


def _unseen(case: Case) -> Check:
    if not case.unseen:
        return Check("actions", True, say("doctor", "check_actions"))
    shown, logged = ", ".join(map(str, case.unseen[:3])), [str(label) for label in case.data.actions.labels]
    # A number that is near another is no slip of the pen.
    guesses = (nearest(label, logged) for label in case.unseen if isinstance(label, str))
    meant = next((guess for guess in guesses if guess is not None), None)
    words = say("doctor", "check_actions_no", actions=shown)
    if meant is not None:
        words = say("doctor", "check_actions_meant", meant=meant, no=words)
    return Check("actions", False, words)


def _regions(case: Case, ratios: Float[np.ndarray, " steps"], rules: PositivityRules) -> Check:
    found = uncovered_regions(case, ratios, rules, few_states(case.data))
    if not found:
        return Check("regions", True, say("doctor", "check_regions"))
    words = "; ".join(region.sentence for region in found[:_SHOWN])
    if len(found) > _SHOWN:
        words = f"{words} {say('doctor', 'check_regions_more', more=len(found) - _SHOWN)}"
    share = sum(region.share for region in found)
    return Check("regions", False, say("doctor", "check_regions_no", share=share, regions=words))


def _weights(case: Case, ratios: Float[np.ndarray, " steps"], rules: SupportRules) -> Check:
    """Whether pi / mu averages 1 where the policy leads, as it does if the log could show whatever the policy does."""
    data = case.data
    assert data.behavior is not None
    ratio = case.decisions.logged(slice(None)) / data.behavior
    gap = totals(lambda at: ratios[at] * (ratio[at] - 1), data.offsets)
    share = float(gap.mean() / max(ratios.sum() / len(data), np.finfo(float).tiny))
    error = float(gap.std(ddof=1) / np.sqrt(len(gap))) if len(gap) > 1 else np.inf
    beyond = abs(float(gap.mean())) > rules.beyond_chance * error
    holds = not (beyond and abs(share) > rules.largest_weight_gap)
    key = "check_weights" if holds else "check_weights_above" if share > 0 else "check_weights_no"
    return Check("weights", holds, say("doctor", key, mean=1 + share))


def _range(case: Case, estimate: Estimate) -> Check:
    low, high = possible_returns(case)
    if estimate.value is None:
        return Check("range", False, say("doctor", "check_range_undefined"))
    error = max(standard_error(estimate), _rounding(case))
    holds = low - error <= estimate.value <= high + error
    key = "check_range" if holds else "check_range_no"
    shown = _written(case, value=estimate.value, low=low, high=high)
    return Check("range", holds, say("doctor", key, **shown))


def _backtest(case: Case, critic: MarginalCritic, rules: SupportRules) -> Check:
    """Whether what is fitted tells the log's own returns: on average, and in each third of the individuals."""
    predicted, observed = critic.logged(case), critic.earned(case)
    thirds = np.array_split(np.argsort(predicted, kind="stable"), _THIRDS)
    groups = {"all": np.arange(len(observed)), "lowest": thirds[0], "highest": thirds[-1], "middle": thirds[1]}
    spread = float(observed.std())
    for name, own in groups.items():
        if len(own) < (2 if name == "all" else _FEWEST_IN_THIRDS):
            continue
        gap = observed[own] - predicted[own]
        error = float(gap.std(ddof=1) / np.sqrt(len(own)))
        allowed = rules.largest_backtest_gap * spread * (1 if name == "all" else _IN_THIRDS)
        if abs(gap.mean()) > max(rules.beyond_chance * error, allowed, _rounding(case)):
            means = _written(case, predicted=predicted[own].mean(), observed=observed[own].mean())
            group = say("doctor", f"group_{name}")
            return Check("back-test", False, say("doctor", "check_backtest_no", group=group, **means))
    means = _written(case, predicted=predicted.mean(), observed=observed.mean())
    return Check("back-test", True, say("doctor", "check_backtest", **means))


def _followed(case: Case, critic: MarginalCritic, rules: SupportRules) -> Check:
    """Whether episodes that follow the policy from the start say what the answer says, which looks at states alone."""
    if case.data.longest < 2:
        return Check("followed", True, say("doctor", "check_followed_one"))
    few = case.weights.effective_episodes.min(initial=np.inf) < rules.fewest_from_start
    # Where states are known not to tell all, that is in the answer.
    if few or not critic.states_tell_all:
        return Check("followed", True, say("doctor", "check_followed_unknown"))
    gap = product_gap(case, critic)
    size, error = float(gap.mean()), float(gap.std(ddof=1) / np.sqrt(len(gap)))
    allowed = rules.largest_product_gap * float(case.returns.std())
    holds = abs(size) <= max(rules.beyond_chance * error, allowed, _rounding(case))
    if holds:
        return Check("followed", True, say("doctor", "check_followed"))
    return Check("followed", False, say("doctor", "check_followed_no", **_written(case, gap=abs(size))))


def _amounts(case: Case, ratios: Float[np.ndarray, " steps"], rules: SupportRules) -> Check:
    """What the answer rests on where hardly anybody had as much of an action as the policy gives."""
    found = rarest_amount(case, ratios, rules)
    if found is None:
        return Check("amounts", True, say("doctor", "check_amounts"))
    key = "check_amounts_more" if found.more else "check_amounts_less"
    return Check("amounts", True, say("doctor", key, **asdict(found)))


def _hidden(case: Case, critic: MarginalCritic, rules: SupportRules) -> Check:
    """Whether decisions go with what was unexpected before them, or with what was decided."""
    found = hidden_cause(case, critic)
    if found is None:
        return Check("hidden causes", True, say("doctor", "check_hidden_unknown"))
    chance = rules.beyond_chance_hidden_state if critic.states_lack_something else rules.beyond_chance_hidden
    beyond = abs(found.standard_errors) > chance
    if beyond and abs(found.correlation) > rules.largest_hidden_correlation:
        key = "check_hidden_more" if found.correlation > 0 else "check_hidden_less"
        return Check("hidden causes", False, say("doctor", key, action=found.action))
    lasts = found.lasting > rules.largest_hidden_correlation and found.lasting_errors > rules.beyond_chance_lasting
    if lasts and found.outcome_errors > rules.beyond_chance_outcomes:
        return Check("hidden causes", False, say("doctor", "check_hidden_lasting"))
    return Check("hidden causes", True, say("doctor", "check_hidden"))


def possible_returns(case: Case) -> tuple[float, float]:
    """The lowest and the highest return that rewards like the logged ones allow."""
    return RewardRange.of(case).returns(case.discount, case.most_steps)


def _rounding(case: Case) -> float:
    return _ROUNDING * max(map(abs, possible_returns(case)))


def zero_or_one(case: Case) -> bool:
    """Whether every logged episode earned 0 or 1, and both occur: a mean is then a share of episodes."""
    return np.array_equal(np.unique(case.returns), [0.0, 1.0])


def _written(case: Case, **values: float) -> dict[str, str]:
    """Means of returns as people read them: shares of episodes as percentages."""
    share = zero_or_one(case)
    return {name: f"{100 * value:.1f}%" if share else f"{value:.4g}" for name, value in values.items()}


def _precision(case: Case, critic: MarginalCritic, estimate: Estimate, rules: SupportRules) -> float | None:
    """The standard error of the answer over the one that as many episodes under the policy itself would leave."""
    # Past some step hardly any logged episode has weight: nothing says how far off what was fitted is.
    if estimate.value is not None and estimate.effective_episodes < rules.fewest_behind_answer:
        return float("inf")
    own, error = return_deviation(case, critic) / np.sqrt(len(case.data)), standard_error(estimate)
    # An answer without any error, as where nothing is left to chance: both are rounding.
    exact = error <= _EXACT * max(map(abs, possible_returns(case)))
    return None if estimate.value is None or exact or not own > 0 else float(error / own)
