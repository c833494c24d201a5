"""How returns are spread under a policy: exact where every episode is known, and from log to page."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from repbm import Evaluation, evaluate
from repbm.cli import main
from repbm.core import DistributionRules, InputError, Thresholds, middle
from repbm.data import Trajectories
from repbm.domains import TabularWorld
from repbm.estimators import Case
from repbm.evaluation import repeat
from repbm.inference import Resampling, ReturnDistribution, return_distribution
from repbm.logs import log_frame
from repbm.policies import TabularPolicy
from repbm.report import report
from tests.laws.worlds import Enumerated, enumerated, every_path, log_of

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
ANY = DistributionRules(fewest_effective_episodes=0.0)


def plain(values: np.ndarray, chances: np.ndarray, below: float) -> list[float]:
    """Quantiles, the mean of the worst tenth and the share below, one value after the other."""
    order = np.argsort(values)
    pairs = [(values[k], chances[k] / chances.sum()) for k in order]
    found = []
    for level in QUANTILES:
        reached = 0.0
        for value, chance in pairs:
            reached += chance
            if reached >= level - 1e-12:
                found.append(value)
                break
    left, worst = 0.1, 0.0
    for value, chance in pairs:
        worst += min(left, chance) * value
        left -= min(left, chance)
    share = sum(chance for value, chance in pairs if value < below)
    return [*map(float, found), float(worst / 0.1), float(share)]


def figures(found: ReturnDistribution, name: str = "value") -> list[float]:
    return [getattr(figure, name) for figure in found.figures]


def told(data: Trajectories, policy: np.ndarray, below: float, rules: DistributionRules = ANY) -> ReturnDistribution:
    case = Case.of(data, TabularPolicy(policy), 0.9)
    return return_distribution(case.returns, case.weights.log_last, Resampling(data, 0), 0.9, [below], rules)


def truth(world: Enumerated, below: float) -> list[float]:
    paths = every_path(world.world, world.policy)
    returns = log_of(world.world, world.policy, paths).returns(0.9)
    return plain(returns, np.array([path.probability for path in paths]), below)


def test_the_worst_are_the_highest_where_less_is_better() -> None:
    """The figure of costs is that of the same returns below zero, turned around."""
    world = enumerated(0)
    case = Case.of(world.data, TabularPolicy(world.policy), 0.9)
    logs, resampling = case.weights.log_last, Resampling(world.data, 0)
    costs = return_distribution(case.returns, logs, resampling, 0.9, [], ANY, -1).figures[-1]
    turned = return_distribution(-case.returns, logs, resampling, 0.9, [], ANY).figures[-1]
    assert costs.kind == turned.kind == "worst"
    assert turned.low is not None
    assert turned.high is not None
    ends = [costs.value, costs.high, costs.low, costs.logged]
    assert ends == pytest.approx([-turned.value, -turned.low, -turned.high, -turned.logged], rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_exact_where_every_episode_counts_as_often_as_it_happens(seed: int) -> None:
    """A log of all episodes, each as often as the behavior does it, and weighted: the policy's own distribution."""
    world = enumerated(seed)
    case = Case.of(world.data, TabularPolicy(world.policy), 0.9)
    logs = case.weights.log_last + np.log(world.probability)
    below = float(np.median(case.returns))
    found = return_distribution(case.returns, logs, Resampling(world.data, 0), 0.9, [below], ANY)
    np.testing.assert_allclose(figures(found), truth(world, below), atol=1e-9)


def test_the_behavior_itself_has_the_plain_distribution() -> None:
    world = enumerated(1)
    data = world.world.collect(world.behavior, 150, np.random.default_rng(0))
    returns = data.returns(0.9)
    below = float(np.median(returns))
    found = told(data, world.behavior, below)
    assert found.effective_episodes == pytest.approx(150)
    assert figures(found) == pytest.approx(figures(found, "logged"))
    np.testing.assert_allclose(figures(found)[:5], np.quantile(returns, QUANTILES, method="inverted_cdf"))
    assert figures(found)[5] == pytest.approx(np.sort(returns)[:15].mean())
    assert figures(found)[6] == pytest.approx((returns < below).mean())


def test_more_episodes_come_to_the_truth() -> None:
    """Within 4 standard deviations, measured over 20 logs of 30,000 episodes (2,800 effective): 0.0054 for a share,
    0.025 for the mean of the worst tenth. A false alarm in 5,000 such logs; the seed is fixed. A quantile is off by how
    far the share of returns up to it is from its level."""
    world = enumerated(2)
    below = 0.3
    exact = truth(world, below)
    paths = every_path(world.world, world.policy)
    returns = log_of(world.world, world.policy, paths).returns(0.9)
    chances = np.array([path.probability for path in paths])
    errors = []
    for count in (100, 30_000):
        data = world.world.collect(world.behavior, count, np.random.default_rng(7))
        found = figures(told(data, world.policy, below))
        levels = [
            max(0.0, chances[returns < value - 1e-9].sum() - level, level - chances[returns <= value + 1e-9].sum())
            for level, value in zip(QUANTILES, found[:5], strict=True)
        ]
        errors.append([max(levels), abs(found[6] - exact[6]), abs(found[5] - exact[5])])
    assert (np.array(errors[1]) < [0.022, 0.022, 0.1]).all(), errors
    assert (np.array(errors[1]) < errors[0]).all(), errors


def test_resampled_logs_are_counted_as_if_written_out() -> None:
    """Every end of an interval against the plain distribution on each resampled log."""
    world = enumerated(3)
    data = world.world.collect(world.behavior, 40, np.random.default_rng(1))
    case = Case.of(data, TabularPolicy(world.policy), 0.9)
    resampling = Resampling(data, 5)
    weights = np.exp(case.weights.log_last)
    below = float(np.median(case.returns))
    found = return_distribution(case.returns, case.weights.log_last, resampling, 0.9, [below], ANY)
    draws = np.array([plain(case.returns, counts * weights, below) for counts in resampling.counts])
    expected = np.array([middle(column, 0.9) for column in draws.T])
    np.testing.assert_allclose(np.column_stack([figures(found, "low"), figures(found, "high")]), expected, atol=1e-9)


def test_cells_change_intervals_but_little() -> None:
    generator = np.random.default_rng(0)
    returns, logs = generator.normal(size=900), generator.normal(0, 0.5, size=900)
    data = TabularWorld.random(3, 2, 1, generator).collect(np.full((3, 2), 0.5), 900, generator)
    exact, coarse = (
        return_distribution(returns, logs, Resampling(data, 0), 0.9, [0.0], DistributionRules(most_cells=cells))
        for cells in (2000, 300)
    )
    assert figures(exact) == figures(coarse)
    for end in ("low", "high"):
        np.testing.assert_allclose(figures(coarse, end), figures(exact, end), atol=0.03)


def test_too_few_effective_episodes_tell_nothing() -> None:
    world = enumerated(1)
    data = world.world.collect(world.behavior, 60, np.random.default_rng(0))
    returns, resampling = data.returns(1.0), Resampling(data, 0)
    few = np.where(np.arange(60) < 24, 0.0, -np.inf)
    found = return_distribution(returns, few, resampling, 0.9)
    assert found.figures == ()
    assert found.reason == "only 24.0 effective episodes follow it, 25 are needed"
    enough = return_distribution(returns, np.where(np.arange(60) < 25, 0.0, -np.inf), resampling, 0.9)
    assert len(enough.figures) == 6
    nobody = return_distribution(returns, np.full(60, -np.inf), resampling, 0.9)
    assert nobody.effective_episodes == 0
    assert nobody.figures == ()


def test_weights_beyond_floating_point_are_shares() -> None:
    world = enumerated(1)
    data = world.world.collect(world.behavior, 60, np.random.default_rng(0))
    returns, logs = data.returns(1.0), np.linspace(0.0, 1.0, 60)
    one, two = (return_distribution(returns, logs + far, Resampling(data, 0), 0.9) for far in (0.0, 5000.0))
    np.testing.assert_allclose(figures(one), figures(two), rtol=1e-9)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A log and a policy in files."""
    made = tmp_path_factory.mktemp("spread")
    world = TabularWorld.random(5, 2, 3, np.random.default_rng(3))
    log_frame(world.collect(np.full((5, 2), 0.5), 300, np.random.default_rng(4))).write_csv(made / "log.csv")
    (made / "p.py").write_text("def act(x):\n    return (x[:, 0] > 2).astype(int)\n")
    return made


def test_the_command_stores_and_says_it_and_it_is_run_again(folder: Path, monkeypatch, capsys) -> None:
    words = f"evaluate {folder}/log.csv --policy now={folder}/p.py:act --estimator wis --threshold 0.5 --threshold -1"
    monkeypatch.setattr(sys, "argv", ["repbm", *words.split(), "--out", str(folder / "result")])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    lines = capsys.readouterr().out.splitlines()
    stored = Evaluation.load(folder / "result")
    found = stored.policies["now"].returns
    assert found is not None
    assert [figure.at for figure in found.figures if figure.kind == "below"] == [0.5, -1.0]
    last = found.figures[-1]
    assert f"now: share of returns below -1 {last.value:.1%} ({last.low:.1%} to {last.high:.1%})" in "\n".join(lines)
    page = report(stored).html()
    assert "how returns are spread" in page
    assert "mean of the worst 10%" in page
    again = repeat(folder / "result")
    assert again.policies == stored.policies


def test_reasons_are_on_the_page(folder: Path) -> None:
    rules = {"distribution": {"fewest_effective_episodes": 1000}}
    found = evaluate(
        str(folder / "log.csv"),
        lambda x: (x[:, 0] > 2).astype(int),
        estimators=["wis"],
        thresholds=Thresholds.of(rules),
    )
    assert "The log does not tell: only" in report(found).html()
    with pytest.raises(InputError, match="threshold"):
        evaluate(str(folder / "log.csv"), "column:action", estimators=["wis"], threshold=float("nan"))
