"""How much hidden confounding would change the conclusion: against brute force, and from log to page."""

from __future__ import annotations

import itertools
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from repbm import Evaluation, evaluate
from repbm.cli import main
from repbm.core import ConfoundingRules
from repbm.domains import TabularWorld
from repbm.inference import Confounding, WeightedSurprises, confounding
from repbm.logs import log_frame
from repbm.report import report

GAMMAS = (1.0, 1.1, 1.25, 1.5, 2.0, 3.0, 5.0)


def tiny(seed: int) -> WeightedSurprises:
    """Three times of 4, 3 and 2 steps; from the second on an episode is over, and so is its weight."""
    generator = np.random.default_rng(seed)
    steps = generator.permutation([0, 0, 0, 0, 1, 1, 1, 2, 2])
    return WeightedSurprises(
        base=0.7,
        steps=steps,
        weights=generator.exponential(size=9),
        surprises=generator.normal(size=9) + generator.choice([-2.0, 0.0, 2.0]),
        behavior=generator.uniform(0.1, 0.9, size=9),
        finished=np.array([0.0, 0.6, 1.7]),
        discount=0.9,
    )


def value_of(parts: WeightedSurprises, multipliers: np.ndarray) -> float:
    """The plain formula."""
    value = parts.base
    for t in range(len(parts.finished)):
        at = parts.steps == t
        weights = multipliers[at] * parts.weights[at]
        value += parts.discount**t * (weights * parts.surprises[at]).sum() / (weights.sum() + parts.finished[t])
    return value


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("gamma", [1.3, 4.0])
def test_sorting_finds_what_trying_all_corners_finds(seed: int, gamma: float) -> None:
    """A ratio of linear functions is extreme in a corner: all 2^9 of them."""
    parts = tiny(seed)
    odds = 1 / parts.behavior - 1
    ends = np.stack([(1 + odds / gamma) * parts.behavior, (1 + odds * gamma) * parts.behavior])
    corners = [value_of(parts, ends[list(corner), np.arange(9)]) for corner in itertools.product((0, 1), repeat=9)]
    np.testing.assert_allclose(parts.bounds(gamma), (min(corners), max(corners)), rtol=1e-12)


def test_no_point_inside_lies_beyond_the_bounds() -> None:
    parts, generator = tiny(3), np.random.default_rng(0)
    low, high = parts.bounds(2.0)
    least, most = (parts.behavior + (1 - parts.behavior) * factor for factor in (0.5, 2.0))
    inside = [value_of(parts, generator.uniform(least, most)) for _ in range(500)]
    assert low <= min(inside)
    assert max(inside) <= high


def test_without_hidden_causes_it_is_the_estimate_and_bounds_widen() -> None:
    parts = tiny(1)
    np.testing.assert_allclose(parts.bounds(1.0), value_of(parts, np.ones(9)), rtol=1e-12)
    found = confounding(parts, 0.0, (-1.0, 1.0), ConfoundingRules(GAMMAS))
    assert (np.diff(found.low) < 0).all()
    assert (np.diff(found.high) > 0).all()


def test_actions_that_are_certain_hide_nothing() -> None:
    parts = replace(tiny(2), behavior=np.ones(9))
    np.testing.assert_allclose(parts.bounds(50.0), value_of(parts, np.ones(9)), rtol=1e-12)


def test_times_without_weight_add_nothing() -> None:
    parts = replace(tiny(2), weights=np.zeros(9), finished=np.zeros(3))
    assert parts.bounds(3.0) == (0.7, 0.7)


def one_step(surprise: float) -> WeightedSurprises:
    """Two decisions of even odds, one of which is worth `surprise`, the other nothing."""
    half = np.full(2, 0.5)
    return WeightedSurprises(0.0, np.zeros(2, dtype=int), half, np.array([0.0, surprise]), half, np.zeros(1))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_where_the_sign_is_lost_in_closed_form(sign: float) -> None:
    """At gamma the better half counts 1 / (1 + gamma) at worst: multipliers are (1 + gamma) / 2 and
    (1 + 1 / gamma) / 2, whose ratio is gamma. A mean of 1/2 of a surprise of 1 falls to 1/4 at gamma = 3, to 0.3 at
    7/3."""
    parts = one_step(sign)
    found = confounding(parts, sign * 0.25, (0.2, 0.3) if sign > 0 else (-0.3, -0.2))
    assert found.turns == pytest.approx(3.0, abs=1e-4)
    # Of a difference of 0.25 the interval leaves 0.2: lost where the value has lost as much.
    assert found.unsure == pytest.approx(7 / 3, abs=1e-4)
    assert "3 times as large or small could turn the difference around; 2.33 times" in found.sentence
    np.testing.assert_allclose(np.subtract(found.low, found.difference_low), sign * 0.25)
    np.testing.assert_allclose(np.subtract(found.high, found.difference_high), sign * 0.25)


def test_what_nothing_turns_around_and_what_may_be_chance_is_said() -> None:
    never = confounding(one_step(1.0), -1.0, (1.4, 1.6))
    assert (never.turns, never.unsure) == (None, None)
    assert never.sentence.startswith("not even a hidden cause that makes the odds of an action 20 times")
    chance = confounding(one_step(1.0), 0.25, (-0.1, 0.6))
    assert chance.unsure == 1
    assert chance.sentence.startswith("even without a hidden cause the difference may be chance; a hidden cause")
    none = confounding(one_step(1.0), 0.5, (-0.1, 0.1))
    assert none.sentence == "even without a hidden cause the difference may be chance"


@pytest.fixture(scope="module")
def evaluated() -> Evaluation:
    return evaluate(logged(), lambda x: (x[:, 0] > 2).astype(int), estimators=["corrected", "wis"], discount=0.9)


def logged():
    """Episodes of different lengths: some end in a state, the others at the horizon."""
    world = TabularWorld.random(5, 2, 5, np.random.default_rng(3))
    return world.collect(np.full((5, 2), 0.5), 150, np.random.default_rng(4))


def test_the_answer_itself_comes_first(evaluated: Evaluation) -> None:
    (details,) = evaluated.policies.values()
    found = details.confounding
    row = evaluated.estimates.row(0, named=True)
    assert found is not None
    assert row["estimator"] == "corrected"
    assert found.gammas[0] == 1
    np.testing.assert_allclose([found.low[0], found.high[0]], row["value"], rtol=1e-9)
    np.testing.assert_allclose([found.difference_low[0], found.difference_high[0]], row["difference"], rtol=1e-9)


def test_it_is_stored_loaded_and_on_the_page(evaluated: Evaluation, tmp_path: Path) -> None:
    evaluated.write(tmp_path / "result")
    again = Evaluation.load(tmp_path / "result")
    assert again.policies == evaluated.policies
    (details,) = again.policies.values()
    assert isinstance(details.confounding, Confounding)
    page = report(again).html()
    assert "If something hidden drove decisions" in page
    assert details.confounding.sentence[1:] in page
    assert "confounding" in report(again).parts[0].charts


def test_another_answer_is_not_bounded() -> None:
    found = evaluate(logged(), lambda x: (x[:, 0] > 2).astype(int), estimators=["wis"])
    (details,) = found.policies.values()
    assert details.confounding is None
    assert "If something hidden" not in report(found).html()


def test_the_command_says_one_sentence_a_policy(tmp_path: Path, monkeypatch, capsys) -> None:
    frame = log_frame(logged())
    assert isinstance(frame, pl.DataFrame)
    frame.write_csv(tmp_path / "log.csv")
    (tmp_path / "p.py").write_text("def act(x):\n    return (x[:, 0] > 2).astype(int)\n")
    words = f"evaluate {tmp_path}/log.csv --policy now={tmp_path}/p.py:act --estimator corrected --sensitivity"
    monkeypatch.setattr(sys, "argv", ["repbm", *words.split()])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    lines = capsys.readouterr().out.splitlines()
    assert sum("hidden cause" in line for line in lines) == 1
    assert lines[-1].startswith("now: ")
