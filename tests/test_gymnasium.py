"""Environments of Gymnasium as worlds, and logs as datasets of Minari."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from repbm.core import InputError, stream
from repbm.domains import collect_gymnasium
from repbm.logs import log_frame, read_log, write_minari
from repbm.policies import CallablePolicy
from tests.test_collect import run


def leaning(states: np.ndarray) -> np.ndarray:
    return np.where(states[:, 2] > 0, 1, 0)


def test_an_environment_is_logged_as_it_is() -> None:
    """Every episode again, by its own seed and actions."""
    data = collect_gymnasium("CartPole-v1", CallablePolicy(leaning), 70, seed=1, epsilon=0.5)
    assert len(data) == 70
    assert data.behavior is not None
    assert set(np.unique(data.behavior)) == {0.25, 0.75}
    follows = leaning(data.observations) == data.actions.codes
    np.testing.assert_array_equal(data.behavior, np.where(follows, 0.75, 0.25))
    assert data.terminated.all()
    few = collect_gymnasium("CartPole-v1", CallablePolicy(leaning), 3, seed=1, epsilon=0.5)
    np.testing.assert_array_equal(few.observations, data.take(np.arange(3)).observations)
    world = gymnasium.make("CartPole-v1")
    for k in (0, 2, 69):
        own = slice(data.offsets[k], data.offsets[k + 1])
        ended = False
        observed, _ = world.reset(seed=int(stream(1, "collect", "CartPole-v1", k).integers(2**31)))
        for step, code in enumerate(data.actions.codes[own]):
            np.testing.assert_array_equal(data.observations[own][step], observed)
            observed, reward, ended, _, _ = world.step(int(code))
            assert reward == data.rewards[own][step]
        assert ended
        np.testing.assert_array_equal(data.final_observations[k], observed)


class Odd(gymnasium.Env):
    """Observes parts, counts its actions from 3, and never ends."""

    observation_space = spaces.Dict({"place": spaces.Discrete(3), "body": spaces.Box(0, 1, (2,), np.float32)})
    action_space = spaces.Discrete(2, start=3)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        return self._seen(), {}

    def step(self, action: int) -> Any:
        assert action in (3, 4)
        return self._seen(), float(action), False, False, {}

    def _seen(self) -> Any:
        return {"place": int(self.np_random.integers(3)), "body": self.np_random.random(2, dtype=np.float32)}


def odd(**given: Any) -> gymnasium.Env:
    return Odd()


def test_parts_other_actions_and_no_end(monkeypatch: pytest.MonkeyPatch) -> None:
    gymnasium.register("repbm/Odd-v0", entry_point=odd, disable_env_checker=True)
    data = collect_gymnasium("repbm/Odd-v0", None, 4, horizon=5)
    assert sorted(data.names) == ["body_0", "body_1", "place"]
    assert data.actions.labels == (3, 4)
    assert (data.behavior == 0.5).all()
    assert data.lengths.tolist() == [5] * 4
    assert data.truncated.all()
    monkeypatch.setattr("repbm.domains._gymnasium._ENDLESS", 50)
    with pytest.raises(InputError, match="more than 50 steps"):
        collect_gymnasium("repbm/Odd-v0", None, 1)


def test_refusals() -> None:
    with pytest.raises(InputError, match="makes no environment 'CartPol-v1'"):
        collect_gymnasium("CartPol-v1", None, 2)
    with pytest.raises(InputError, match="only discrete actions"):
        collect_gymnasium("Pendulum-v1", None, 2)


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "acts.py").write_text("def act(states):\n    return (states[:, 2] > 0).astype(int)\n")
    out, policy = tmp_path / "log.parquet", f"{tmp_path / 'acts.py'}:act"
    assert (
        run(monkeypatch, "gym:CartPole-v1", "--policy", policy, "--episodes", "5", "--horizon", "8", "--out", out) == 0
    )
    log = read_log(out)
    assert len(log) == 5
    assert log.longest <= 8
    capfd.readouterr()
    assert run(monkeypatch, "gym:CartPole-v1", "--noise", "1", "--out", tmp_path / "other.csv") == 2
    assert "take no noise" in capfd.readouterr().err
    assert not (tmp_path / "other.csv").exists()


def test_minari_there_and_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("minari")
    pytest.importorskip("h5py")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "datasets"))
    assert run(monkeypatch, "gym:CartPole-v1", "--episodes", "4", "--horizon", "6", "--out", "minari:carts/few-v0") == 0
    there = collect_gymnasium("CartPole-v1", None, 4, 0, 0.2, 6)
    back = read_log("minari:carts/few-v0")
    assert log_frame(back).equals(log_frame(there))
    with pytest.raises(InputError, match="does not store it"):
        write_minari(there, "carts/few-v0")
    with pytest.raises(InputError, match="does not store it"):
        write_minari(there, "no version")


def test_what_minari_cannot_keep() -> None:
    pytest.importorskip("minari")
    log = {"episode": [1, 1], "obs_x": [0.0, 1.0], "action": ["a", "b"], "reward": [1.0, 2.0], "terminated": [0, 1]}
    with pytest.raises(InputError, match="Minari numbers them"):
        write_minari(read_log(log), "words-v0")
    with pytest.raises(InputError, match="1 of 1 episodes is not known"):
        write_minari(read_log(log | {"action": [0, 1]}), "open-v0")
