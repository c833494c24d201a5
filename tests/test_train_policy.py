"""repbm train-policy: deep Q learning, the choice of a policy by its averages, and the command."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from repbm._names import DOMAINS, TRAINED
from repbm.cli import main
from repbm.core import InputError, Progress, silent, stream
from repbm.domains import CartPole, Simulator, benchmark_policy, benchmark_world, collect, truth
from repbm.domains._benchmarks import _WORLDS
from repbm.domains.training import _benchmarks as trained
from repbm.domains.training._benchmarks import TRAININGS, Wanted, first_wanted, train_benchmark_policy
from repbm.domains.training._dqn import DQNOptions, learn
from repbm.policies import NetworkPolicy

TINY = DQNOptions(
    hidden=(16,),
    middles=(0.0, 0.0, 0.0, 0.0),
    scales=(1.0, 1.0, 0.1, 1.0),
    rounds=60,
    memory=2000,
    prepared=64,
    exploring=10,
    rate=3e-3,
)
WANTED = Wanted(60.0, 40.0, 60.0, 40.0, extreme=200.0, share=0.5, states=40)


@dataclass(frozen=True)
class Line(Simulator):
    """Reward 1 a step; action 0 ends the world where the state is below 4, and never elsewhere; action 1 never does."""

    horizon: int = 2
    actions = (0, 1)
    observation_names = ("x",)

    def initial(self, count: int, generator: np.random.Generator) -> np.ndarray:
        return generator.choice([2.0, 6.0], size=(count, 1))

    def step(
        self, states: np.ndarray, actions: np.ndarray, generator: np.random.Generator | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return states.copy(), np.ones(len(states)), (actions == 0) & (states[:, 0] < 4)


def run(monkeypatch: pytest.MonkeyPatch, *words: str | Path) -> int:
    monkeypatch.setattr(sys, "argv", ["repbm", "train-policy", *map(str, words)])
    with pytest.raises(SystemExit) as done:
        main()
    return done.value.code if isinstance(done.value.code, int) else 0


def test_values_by_hand() -> None:
    """Episodes are cut after two steps, which ends nothing: 1 + 0.5 + 0.25 + ... = 2, and 1 where the world ends."""
    options = DQNOptions(
        hidden=(8,), middles=(3.0,), scales=(2.0,), rounds=150, memory=500, prepared=64, exploring=150, discount=0.5
    )
    *_, policy = learn(Line(), replace(options, rate=5e-3, followed=0.05), seed=1)
    np.testing.assert_allclose(policy.scores(np.array([[2.0], [6.0]])), [[1.0, 2.0], [2.0, 2.0]], atol=0.05)


def test_learning_beats_chance() -> None:
    world = CartPole()
    starts = world.initial(50, stream(1, "new"))
    chance = collect(world, benchmark_policy("cartpole-short"), 200, stream(1, "chance"), epsilon=1.0).returns().mean()
    policies = list(learn(world, TINY, seed=0))
    assert len(policies) == TINY.rounds
    late = [truth(world, policy, starts).mean() for policy in policies[-10:]]
    assert np.mean(late) > 3 * chance


def test_the_same_seed_writes_the_same_bytes(tmp_path: Path) -> None:
    for name, seed in (("one", 4), ("same", 4), ("other", 5)):
        *_, policy = learn(CartPole(), replace(TINY, rounds=12), seed)
        policy.save(tmp_path / f"{name}.npz")
    one, same, other = ((tmp_path / f"{name}.npz").read_bytes() for name in ("one", "same", "other"))
    assert one == same != other


def test_the_first_policy_as_wanted_is_taken() -> None:
    """The short look at a few states spares work and changes nothing."""
    world = CartPole()
    starts = world.initial(WANTED.states, stream(0, "wanted", "states"))

    def as_wanted(policy: NetworkPolicy) -> bool:
        values = truth(world, policy, starts)
        behavior = collect(world, policy, WANTED.states, stream(0, "wanted", "log"), 0.2).returns().mean()
        near = abs(values.mean() - 60) <= 40 and abs(behavior - 60) <= 40
        return bool(near and (values == 200).mean() <= 0.5)

    policies = list(learn(world, TINY, seed=0))
    expected = next(policy for policy in policies[TINY.exploring :] if as_wanted(policy))
    told: list[int] = []
    found = first_wanted(world, WANTED, TINY, 0, lambda what, done, total: told.append(done))
    for (w, b), (w_expected, b_expected) in zip(found.layers, expected.layers, strict=True):
        np.testing.assert_array_equal(w, w_expected)
        np.testing.assert_array_equal(b, b_expected)
    assert told == list(range(len(told)))
    assert not as_wanted(policies[told[-1] - 1])


@pytest.mark.parametrize(
    "change", [{"value": 500.0}, {"behavior": 500.0}, {"value": 500.0, "tolerance": 400.0, "share": -1.0}]
)
def test_a_training_without_such_a_policy_says_so(change: dict[str, float]) -> None:
    with pytest.raises(InputError, match="try another seed"):
        first_wanted(CartPole(), replace(WANTED, **change), replace(TINY, rounds=15), 0, silent)


def test_names() -> None:
    assert tuple(_WORLDS) == DOMAINS
    assert {*TRAININGS, "hiv"} == set(TRAINED)


@pytest.mark.parametrize("name", TRAININGS)
def test_the_stored_policies_are_as_wanted(name: str) -> None:
    """On 2000 initial states that took no part in the choice; what is promised is wider than what was chosen by."""
    wanted, options = TRAININGS[name]
    world, policy = benchmark_world(name), benchmark_policy(name)
    assert tuple(len(b) for _, b in policy.layers[:-1]) == options.hidden
    assert policy.activation == "tanh"
    values = truth(world, policy, world.initial(2000, stream(2, "new")))
    promised = {"cartpole-long": 1.5, "cartpole-short": 1.0, "mountaincar": 5.0}[name]
    assert abs(values.mean() - wanted.value) < promised
    assert (values == wanted.extreme).mean() <= wanted.share
    # Individuals differ, so that individual values are worth estimating.
    assert values.std() > 3
    assert (values == values.max()).mean() < 0.9
    behavior = collect(world, policy, 2000, stream(2, "log"), wanted.epsilon).returns()
    # Three standard errors of the averages, here and of the choice.
    assert abs(behavior.mean() - wanted.behavior) < wanted.behavior_tolerance + 3 * behavior.std() * np.sqrt(2 / 2000)


def test_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(TRAININGS, "cartpole-short", (WANTED, TINY))
    out = tmp_path / "mine.npz"
    assert run(monkeypatch, "cartpole-short", "--out", out, "--seed", "0") == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("mean return ")
    assert shown.out.endswith(f" over 500 new episodes: {out}\n")
    assert shown.err == ""
    assert [file.name for file in tmp_path.iterdir()] == ["mine.npz"]
    starts = CartPole().initial(20, stream(3, "new"))
    learned = first_wanted(CartPole(), WANTED, TINY, 0, silent)
    np.testing.assert_array_equal(NetworkPolicy.load(out).scores(starts), learned.scores(starts))


def test_patients_are_treated_by_a_training_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own tests train for real, and see what it reports; here it is asked, and what it reports is passed on."""

    def training(seed: int, *, progress: Progress) -> NetworkPolicy:
        assert seed == 7
        for k in range(3):
            progress("a round", k + 1, 3)
        return benchmark_policy("hiv")

    monkeypatch.setattr(trained, "train_hiv_policy", training)
    told: list[tuple[int, int]] = []
    policy = train_benchmark_policy("hiv", 7, lambda what, done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]
    assert policy.actions == benchmark_world("hiv").actions


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("cartpol-long --out p.npz", "no trained policy 'cartpol-long'; did you mean 'cartpole-long'?"),
        ("tree --out p.npz", "no trained policy 'tree'; use one of cartpole-long, cartpole-short, mountaincar, hiv"),
        ("mountaincar --out p.csv", "p.csv: this is no name of a policy; let it end in .npz"),
        ("mountaincar --out missing/p.npz", "there is no such folder; make it first"),
        ("mountaincar --out file.txt/p.npz", "there is no such folder; make it first"),
        ("mountaincar --out folder.npz", "folder.npz: this is a folder; name a file"),
        (f"mountaincar --out {'x' * 300}.npz", "File name too long"),
    ],
)
def test_refusals_come_before_the_training(
    words: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(trained, "first_wanted", lambda *_: pytest.fail("trained"))
    (tmp_path / "folder.npz").mkdir()
    (tmp_path / "file.txt").touch()
    assert run(monkeypatch, *words.split()) == 2
    shown = capsys.readouterr()
    assert shown.err.startswith("repbm: ")
    assert told in shown.err
    assert shown.err.count("\n") == 1
    assert shown.out == ""
    assert sorted(file.name for file in tmp_path.iterdir()) == ["file.txt", "folder.npz"]


def test_a_training_that_fails_keeps_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(
        TRAININGS, "mountaincar", (replace(WANTED, value=9.0), replace(TRAININGS["mountaincar"][1], rounds=1))
    )
    out = tmp_path / "p.npz"
    out.write_text("old")
    assert run(monkeypatch, "mountaincar", "--out", out) == 2
    assert "try another seed" in capsys.readouterr().err
    assert out.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["p.npz"]
