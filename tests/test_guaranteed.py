"""Bounds that need no model: by hand, in a world that is known, and from the command line."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from repbm import evaluate
from repbm.cli import main
from repbm.estimators import Case
from repbm.inference import guaranteed_bounds
from repbm.logs import log_frame
from repbm.policies import TabularPolicy
from tests.laws.worlds import enumerated


def test_the_formula_by_hand() -> None:
    """All returns 1 of 0 to 1, all weights 1: no variance, and the cut is what the episodes that choose it show."""
    ones = np.ones(2000)
    low, high = guaranteed_bounds(ones, np.zeros(2000), (0.0, 1.0), 0.9)
    # Of a cut of 1 and of 10 the bound is best at the lowest that cuts nothing; 1,900 episodes tell.
    assert low == pytest.approx(1 - 7 * np.log(2 / 0.05) / (3 * 1899))
    assert high == 1.0


def test_nobody_follows_and_too_few_episodes() -> None:
    nobody = np.full(100, -np.inf)
    assert guaranteed_bounds(np.ones(100), nobody, (0.0, 3.0), 0.9) == (0.0, 3.0)
    assert guaranteed_bounds(np.ones(3), np.zeros(3), (0.0, 3.0), 0.9) == (0.0, 3.0)


def test_they_hold_the_truth_and_close_in() -> None:
    """100 logs of a world that is known. At 90 % more than 20 misses have a probability of less than 0.001 if the bound
    were exact; it is far wider, so that none is expected."""
    world = enumerated(1)
    widths = []
    for seed in range(100):
        data = world.world.collect(world.behavior, 2000, np.random.default_rng(seed))
        case = Case.of(data, TabularPolicy(world.policy))
        rewards = data.rewards
        most = case.most_steps * max(abs(rewards.min()), abs(rewards.max()))
        low, high = guaranteed_bounds(case.returns, case.weights.log_last, (-most, most), 0.9, seed)
        assert low <= world.truth(1.0) <= high
        widths.append((high - low) / (2 * most))
    assert np.mean(widths) < 0.9


def test_the_command_says_them(tmp_path: Path, monkeypatch, capsys) -> None:
    world = enumerated(1)
    log_frame(world.world.collect(world.behavior, 300, np.random.default_rng(0))).write_csv(tmp_path / "log.csv")
    (tmp_path / "p.py").write_text("def act(x):\n    return (x[:, 0] > 1).astype(int)\n")
    words = f"evaluate {tmp_path}/log.csv --policy now={tmp_path}/p.py:act --estimator wis --guaranteed"
    monkeypatch.setattr(sys, "argv", ["repbm", *words.split()])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].startswith("now: between ")
    found = evaluate(str(tmp_path / "log.csv"), lambda x: (x[:, 0] > 1).astype(int), estimators=["wis"])
    (details,) = found.policies.values()
    assert details.guaranteed is not None
    assert details.guaranteed[0] < found.estimates["value"][0] < details.guaranteed[1]
