"""How returns are spread in a fitted model: figures, their intervals, the back-test before them, from log to page."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import ks_2samp

from repbm import Evaluation, evaluate
from repbm.cli._console import show_thresholds
from repbm.core import DistributionRules
from repbm.estimators import Case
from repbm.evaluation import Fitting
from repbm.evaluation._model_returns import spread_in_model
from repbm.evaluation._options import Question
from repbm.inference import ModelDistribution, ReturnFigure, largest_gap, model_figures
from repbm.logs import read_log
from repbm.policies import CallablePolicy
from repbm.report import report

RULES = DistributionRules()


def figure(found: tuple[ReturnFigure, ...], kind: str, at: float) -> ReturnFigure:
    return next(one for one in found if one.kind == kind and one.at == at)


def test_figures_are_those_of_the_drawn_returns() -> None:
    drawn = np.random.default_rng(0).normal(size=8000)
    found = model_figures(drawn, np.arange(50.0), 0.9, [0.0], RULES)
    for level in RULES.quantiles:
        one = figure(found, "quantile", level)
        assert one.value == np.quantile(drawn, level, method="inverted_cdf")
        assert one.logged == np.quantile(np.arange(50.0), level, method="inverted_cdf")
        assert one.low is not None
        assert one.high is not None
        assert one.low < one.value < one.high
    assert figure(found, "worst", 0.1).value == pytest.approx(np.sort(drawn)[:800].mean())
    assert figure(found, "below", 0.0).value == (drawn < 0).mean()


def test_the_worst_are_the_highest_where_less_is_better() -> None:
    drawn = np.random.default_rng(0).exponential(size=8000)
    costs = figure(model_figures(drawn, np.arange(50.0), 0.9, [], RULES, None, -1), "worst", 0.1)
    turned = figure(model_figures(-drawn, -np.arange(50.0), 0.9, [], RULES), "worst", 0.1)
    assert costs.value == pytest.approx(np.sort(drawn)[-800:].mean())
    assert costs.logged == pytest.approx(47.0)
    assert turned.low is not None
    assert turned.high is not None
    assert [costs.low, costs.high] == pytest.approx([-turned.high, -turned.low])


def test_intervals_are_those_of_as_many_episodes() -> None:
    """Beside the figures of 1,000 samples of 60 returns from the same pool: their ends to a quarter of the width."""
    generator = np.random.default_rng(1)
    drawn = generator.exponential(size=8000)
    found = model_figures(drawn, np.zeros(60), 0.9, [0.5], RULES)
    samples = np.sort(generator.choice(drawn, (1000, 60)), axis=1)
    figures = [*np.quantile(samples, RULES.quantiles, axis=1, method="inverted_cdf"), samples[:, :6].mean(axis=1)]
    low, high = np.quantile(np.array([*figures, (samples < 0.5).mean(axis=1)]), [0.05, 0.95], axis=1)
    ends = np.array([[one.low, one.high] for one in found], dtype=np.float64)
    assert (np.abs(ends - np.column_stack([low, high])) < 0.25 * (high - low)[:, None]).all()


def test_refits_widen_intervals_by_how_models_vary() -> None:
    generator = np.random.default_rng(2)
    drawn, logged = generator.normal(size=4000), generator.normal(size=400)
    refitted = generator.normal(size=(20, 4000)) + np.linspace(-1, 1, 20)[:, None]
    plain, wider = (model_figures(drawn, logged, 0.9, [0.0, 40.0], RULES, each) for each in (None, refitted))
    for one, other in zip(plain[:6], wider[:6], strict=True):
        assert one.value == other.value
        assert other.high - other.low > 3 * (one.high - one.low)  # type: ignore[operator]
    assert [(one.low, one.high) for one in wider[7:]] == [(one.low, one.high) for one in plain[7:]]
    assert all(0 <= one.low <= one.high <= 1 for one in wider[6:])  # type: ignore[operator]
    narrow = model_figures(drawn, logged, 0.9, [0.0], RULES, np.tile(drawn, (5, 1)))
    assert narrow == model_figures(drawn, logged, 0.9, [0.0], RULES)


def test_sums_of_rounded_rewards_are_not_below_their_own_value() -> None:
    drawn = np.full(100, 0.1 + 0.2 - 1e-15 + 0.7)
    assert figure(model_figures(drawn, drawn, 0.9, [1.0], RULES), "below", 1.0).value == 0.0


def test_the_distance_is_that_of_kolmogorov_and_smirnov() -> None:
    generator = np.random.default_rng(3)
    one, other = generator.normal(size=70), np.round(generator.normal(0.5, 2, size=200), 1)
    assert largest_gap(one, other) == pytest.approx(ks_2samp(one, other)[0])
    same = np.array([1.0, 2.0, 2.0, 3.0])
    assert largest_gap(same, same + 1e-6) == pytest.approx(0.5)
    assert largest_gap(same, same + 1e-6, 1e-5) == 0
    assert largest_gap(np.zeros(3), np.ones(4), 0.5) == 1


def walk(episodes: int, hidden: float, seed: int = 0) -> pl.DataFrame:
    """Four steps of a walk that pays what it is, with noise; `hidden` is what else an individual is paid each step."""
    generator = np.random.default_rng(seed)
    rows = []
    for episode in range(episodes):
        state, own = generator.normal(), hidden * generator.choice([-1.0, 1.0])
        for step in range(4):
            action = int(generator.random() < 0.5)
            paid = state * (1 + action) + own + 0.5 * generator.normal()
            rows.append((episode, step, state, action, paid, 0.5, False))
            state = 0.6 * state + 0.4 * action + 0.3 * generator.normal()
    names = ["episode", "step", "obs_x", "action", "reward", "behavior_prob", "terminated"]
    return pl.DataFrame(rows, schema=names, orient="row")


@pytest.fixture(scope="module")
def told() -> Evaluation:
    return evaluate(
        walk(150, 0.0), lambda x: np.ones(len(x), dtype=int), estimators=["am", "wis"], threshold=[0.0], level=0.9
    )


def test_where_too_few_follow_the_policy_the_model_tells_and_says_how_good_it_is(told: Evaluation, tmp_path) -> None:
    details = told.policies[next(iter(told.policies))]
    assert details.returns is not None
    assert details.returns.figures == ()
    found = details.model_returns
    assert found is not None
    assert found.model == "am"
    assert found.returns == 54 * 150
    assert found.refits == 0
    assert found.distance is not None
    assert found.largest_distance is not None
    assert found.distance <= found.largest_distance
    assert [one.kind for one in found.figures] == ["quantile"] * 5 + ["worst", "below"]
    assert told.backtest is not None
    assert told.backtest.distance == found.distance
    page = report(told).html()
    assert "The log does not tell: only" in page
    assert "It is only as good as the model." in page
    assert "had they followed the policy in the model" in page
    told.save(tmp_path / "stored")
    again = Evaluation.load(tmp_path / "stored")
    assert again.policies == told.policies
    assert again.backtest is not None
    assert again.backtest.distance == told.backtest.distance


@pytest.mark.slow
def test_a_model_that_spreads_returns_otherwise_than_the_log_is_refused() -> None:
    """What an individual is paid each step and no state tells: returns spread twice as far as steps alone would."""
    found = evaluate(walk(300, 3.0), lambda x: np.ones(len(x), dtype=int), estimators=["am"])
    modeled = next(iter(found.policies.values())).model_returns
    assert modeled is not None
    assert modeled.figures == ()
    assert "it spreads returns otherwise than the log does" in modeled.reason
    assert "The model <code>am</code> does not tell" in report(found).html()


def test_without_a_back_test_nothing_is_told(told: Evaluation) -> None:
    data = read_log(walk(20, 0.0))
    case = Case.of(data, CallablePolicy(lambda x: np.ones(len(x), dtype=int), actions=(0, 1)), 1.0)
    (model,) = told.models.values()
    found = spread_in_model(case, "am", model, None, None, Question())
    assert found == ModelDistribution("am", reason="nothing shows that it tells what single episodes earn")


@pytest.mark.slow
def test_refits_are_in_the_intervals(told: Evaluation) -> None:
    found = evaluate(
        walk(150, 0.0),
        lambda x: np.ones(len(x), dtype=int),
        estimators=["am"],
        threshold=[0.0],
        level=0.9,
        fitting=Fitting(refits=5),
    )
    one, other = (next(iter(each.policies.values())).model_returns for each in (told, found))
    assert one is not None
    assert other is not None
    assert other.refits == 5
    for plain, refitted in zip(one.figures, other.figures, strict=True):
        assert plain.value == refitted.value
        assert refitted.low <= plain.low <= plain.high <= refitted.high  # type: ignore[operator]


def test_the_command_prints_it(told: Evaluation, capsys) -> None:
    show_thresholds(told)
    lines = capsys.readouterr().out.splitlines()
    assert "the log does not tell how returns are spread: only" in lines[0]
    found = next(iter(told.policies.values())).model_returns
    assert found is not None
    one = found.figures[-1]
    assert f"share of returns below 0 {one.value:.1%} ({one.low:.1%} to {one.high:.1%}) in the model am " in lines[1]
    assert "(only as good as the model; " in lines[1]
