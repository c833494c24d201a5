"""The doctor: silent about a good log, and right about each thing that is wrong with one."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from repbm.cli import main
from repbm.core import NoveltyRules, stream
from repbm.data import Categorical, Trajectories
from repbm.doctor import Severity, Verdict, examine
from repbm.domains import CartPole, benchmark_policy, collect
from repbm.evaluation import evaluate
from repbm.logs import log_frame
from repbm.models import AM, fit_closed_form
from repbm.policies import CallablePolicy, LoggedProbabilityColumn, TabularPolicy, epsilon_greedy


@pytest.fixture(scope="module")
def good() -> Trajectories:
    """Patients: age and pressure, a treatment that depends on both, a reward that depends on all."""
    generator = np.random.default_rng(0)
    n, steps = 200, 6
    size = n * steps
    age = np.repeat(generator.uniform(20, 80, n), steps)
    pressure = generator.normal(120, 15, size)
    chance = 1 / (1 + np.exp(-(pressure - 120) / 15))
    treated = generator.random(size) < chance
    reward = -0.1 * np.abs(pressure - 110) + treated + 0.1 * generator.normal(size=size)
    lengths = generator.integers(3, steps + 1, n)
    kept = np.tile(np.arange(steps), n) < np.repeat(lengths, steps)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return Trajectories(
        np.column_stack([age, pressure])[kept],
        Categorical(treated[kept].astype(np.int32), ("wait", "treat")),
        reward[kept],
        offsets,
        lengths < steps,
        np.column_stack([generator.uniform(20, 80, n), generator.normal(120, 15, n)]),
        np.where(treated, chance, 1 - chance)[kept],
        observation_names=("age", "pressure"),
    )


def said(data: Trajectories, weight: Severity | None = None) -> list[str]:
    return [f.line for f in examine(data).findings if weight is None or f.severity is weight]


def with_column(data: Trajectories, values: np.ndarray) -> Trajectories:
    return replace(
        data,
        observations=np.column_stack([data.observations, values]),
        final_observations=np.column_stack([data.final_observations, np.zeros(len(data))]),
        observation_names=(*data.observation_names, "extra"),
    )


def test_a_good_log_is_left_in_peace(good: Trajectories) -> None:
    assert said(good) == []
    assert examine(good).sound


@pytest.mark.parametrize("name", ["cartpole-long", "cartpole-short"])
def test_a_simulated_log_is_left_in_peace(name: str) -> None:
    data = collect(CartPole(), epsilon_greedy(benchmark_policy(name), 0.2), 60, stream(0, "log"))
    assert said(data) == []


def columns(data: Trajectories) -> dict[str, np.ndarray]:
    codes, generator = data.actions.codes, np.random.default_rng(1)
    size = len(codes)
    to_come = np.concatenate([np.cumsum(part[::-1])[::-1] for part in np.split(data.rewards, data.offsets[1:-1])])
    missing = generator.normal(size=size)
    missing[::40] = -999
    wild = generator.normal(size=size)
    wild[7] = 1e6
    celsius = generator.normal(37, 0.5, size)
    return {
        "is 4 at every step": np.full(size, 4.0),
        "is the same as pressure": data.observations[:, 1],
        "tells which action is taken": 3.0 - codes,
        "is the reward of the same step": 100 * data.rewards + 3,
        "is the sum of all rewards to come": to_come,
        "is -999 in": missing,
        "extra, episode": wild,
        "two groups, around 37": np.where(generator.random(size) < 0.3, celsius * 1.8 + 32, celsius),
    }


def test_columns(good: Trajectories) -> None:
    for what, values in columns(good).items():
        found = said(with_column(good, values))
        assert len(found) == 1, (what, found)
        assert what in found[0]
        assert found[0].startswith("extra")


def test_ends(good: Trajectories) -> None:
    limit = replace(good, terminated=np.ones(len(good), bool))
    many = limit.take(np.concatenate([np.flatnonzero(good.lengths == 6)] * 1 + [np.flatnonzero(good.lengths < 6)[:9]]))
    assert any("the last that any has" in line for line in said(many))
    assert any("no episode ends by itself" in line for line in said(replace(good, terminated=good.terminated & False)))
    lost = replace(good, final_observations=np.full_like(good.final_observations, np.nan))
    assert any("is not in the log" in line for line in said(lost, Severity.REMARK))
    doubled = good.take(np.concatenate([np.arange(len(good)), [3, 4]]))
    assert any("2 episodes begin like another" in line for line in said(doubled))
    assert any("there are 5 episodes" in line for line in said(good.take(np.arange(5))))


def test_customers_who_begin_alike_are_no_copies() -> None:
    """Of one-step logs with coarse columns some rows are equal by chance; a third of them written twice is told."""
    draws, n = np.random.default_rng(0), 2000
    states = np.column_stack([draws.integers(18, 80, n), draws.integers(0, 90, n)]).astype(float)
    bought = (draws.random(n) < 0.1).astype(float)
    alone = Trajectories(
        states,
        Categorical(draws.integers(0, 3, n).astype(np.int32), ("mail", "none", "sms")),
        bought,
        np.arange(n + 1),
        np.ones(n, dtype=bool),
        states,
        np.full(n, 1 / 3),
        observation_names=("age", "seen"),
    )
    assert not any("begin like another" in line for line in said(alone))
    assert not any("is not in the log" in line for line in said(replace(alone, final_observations=states * np.nan)))
    twice = alone.take(np.concatenate([np.arange(n), np.arange(0, n, 3)]))
    assert any("begin like another" in line for line in said(twice))


@pytest.mark.parametrize("times", [2, 3, 7])
def test_a_log_that_was_loaded_several_times_is_told(good: Trajectories, times: int) -> None:
    """Of seven copies hardly any initial state is there once: that is no table of few states."""
    assert not any("begin like another" in line for line in said(good))
    loaded = good.take(np.tile(np.arange(len(good)), times))
    assert any("begin like another" in line for line in said(loaded))


def test_decisions(good: Trajectories) -> None:
    size = len(good.rewards)
    one = replace(good, actions=Categorical(np.zeros(size, np.int32), ("wait",)), behavior=None)
    assert any("the only action is 'wait'" in line for line in said(one, Severity.PROBLEM))
    assert not examine(one).sound
    doses = replace(good, actions=Categorical(np.arange(size, dtype=np.int32), tuple(range(size))), behavior=None)
    assert any("a dose?" in line for line in said(doses, Severity.PROBLEM))
    codes = good.actions.codes.copy()
    codes[5] = 2
    rare = replace(good, actions=Categorical(codes, ("wait", "treat", "operate")))
    assert any("'operate' (1x)" in line for line in said(rare, Severity.REMARK))
    assert good.behavior is not None
    tenth = replace(good, behavior=good.behavior / 10)
    assert any("the mean of 1 / probability" in line for line in said(tenth))
    certain = replace(good, behavior=np.ones(size))
    assert any("is 1 at every step" in line for line in said(certain))
    assert any("does not say how probable" in line for line in said(replace(good, behavior=None), Severity.REMARK))


def test_rewards(good: Trajectories) -> None:
    nothing = replace(good, rewards=np.zeros(len(good.rewards)))
    assert any("every reward is 0" in line for line in said(nothing))
    late = np.zeros(len(good.rewards))
    late[good.starts[1:] - 1] = 1.0
    assert any("only last steps are rewarded" in line for line in said(replace(good, rewards=late), Severity.REMARK))
    shifted = np.concatenate([[0.0], good.rewards[:-1]])
    shifted[good.starts] = 0.0
    assert any("move rewards up by one row" in line for line in said(replace(good, rewards=shifted)))


def run(monkeypatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["repbm", *words])
    with pytest.raises(SystemExit) as stopped:
        main()
    return int(stopped.value.code or 0)


def test_the_command(good: Trajectories, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    log_frame(good).write_csv("log.csv")
    assert run(monkeypatch, "doctor", "log.csv", "--strict") == 0
    assert "nothing to complain about" in capsys.readouterr().out
    log_frame(good).with_columns(pl.col("action").replace("treat", "wait")).write_csv("bad.csv")
    assert run(monkeypatch, "doctor", "bad.csv", "--strict") == 3
    assert "PROBLEM action: the only action is 'wait'" in capsys.readouterr().out
    assert run(monkeypatch, "doctor", "bad.csv", "--json") == 0
    account = json.loads(capsys.readouterr().out)
    assert not account["sound"]
    assert account["findings"][0]["severity"] == "problem"
    assert run(monkeypatch, "doctor", "none.csv") == 2


@pytest.fixture(scope="module")
def poles() -> Trajectories:
    return collect(CartPole(horizon=40), epsilon_greedy(benchmark_policy("cartpole-short"), 0.2), 60, stream(0, "log"))


def verdicts(data: Trajectories, **policies) -> dict[str, Verdict]:
    return dict(examine(data, policies).verdicts)


def test_what_a_log_supports(poles: Trajectories) -> None:
    own = benchmark_policy("cartpole-short")
    found = verdicts(
        poles,
        own=own,
        behavior=epsilon_greedy(own, 0.2),
        right=CallablePolicy(lambda x: np.ones(len(x), int)),
        new=CallablePolicy(lambda x: np.where(x[:, 0] < 9, 7, 0), actions=(0, 1, 7)),
    )
    assert found["own"].word == "supported"
    assert found["own"].models
    assert not found["own"].weights
    assert found["behavior"].models
    assert found["behavior"].weights
    assert found["right"].word == "the log cannot tell"
    assert "hardly any logged episode follows it" in found["right"].sentence
    assert found["right"].last_step < 10
    assert not found["right"].supported
    assert found["new"].word == "not supported"
    assert "the log never shows (7)" in found["new"].sentence
    assert [check.holds for check in found["new"].checks or ()] == [False]


def test_an_action_that_is_spelled_otherwise_than_in_the_log_is_guessed(good: Trajectories) -> None:
    """A slip in a table of rules is a verdict, since it may be another action; a number is none."""
    for name, words in (("traet", "the log never shows (traet); did you mean 'treat'?"), ("surgery", "(surgery)")):
        policy = CallablePolicy(lambda x, name=name: np.full(len(x), name), actions=("wait", "treat", name))
        sentence = verdicts(good, asked=policy)["asked"].sentence
        assert sentence.endswith(words)


def test_where_a_model_leads_the_policy_beyond_the_log(poles: Trajectories) -> None:
    """Always to the right: more than half fall in a way that nobody was logged to."""
    model = fit_closed_form(poles, None, AM, poles.longest)
    curve = model.novelty(poles, CallablePolicy(lambda x: np.ones(len(x), int)), poles.longest, NoveltyRules())
    assert (np.diff(curve) >= 0).all()
    assert curve[-1] > 0.5
    own = model.novelty(poles, benchmark_policy("cartpole-short"), poles.longest, NoveltyRules())
    assert own[-1] < 0.1


def test_support_in_a_table() -> None:
    """A line of states; the log steps to the right (1), or stays (0). The policy turns back (2) from state 3 on."""
    generator = np.random.default_rng(0)
    n, steps = 300, 6
    states, actions = np.zeros((n, steps)), generator.integers(0, 2, (n, steps))
    for t in range(1, steps):
        states[:, t] = states[:, t - 1] + actions[:, t - 1]
    codes = actions.copy()
    codes[0, 0] = 2
    data = Trajectories(
        states.reshape(-1, 1),
        Categorical(codes.ravel().astype(np.int32), (0, 1, 2)),
        states.ravel(),
        np.arange(0, n * steps + 1, steps),
        np.zeros(n, bool),
        states[:, -1:] + actions[:, -1:],
        np.full(n * steps, 0.5),
    )
    policy = np.zeros((7, 3))
    policy[:3, 1] = 1.0
    policy[3:, 2] = 1.0
    turning = verdicts(data, turning=TabularPolicy(policy))["turning"]
    assert {check.name: check.holds for check in turning.checks or ()} == {
        "actions": True,
        "regions": False,
        "weights": False,
        "range": True,
        "back-test": True,
        "followed": True,
        "amounts": True,
        "hidden causes": True,
    }
    assert turning.word == "not supported"
    assert not turning.models
    assert "2, 0 = 3: 0 of " in turning.sentence
    shown = evaluate(data, {"turning": TabularPolicy(policy)}, estimators=["am"]).examination.verdicts["turning"]
    assert shown.novelty is not None
    np.testing.assert_allclose(shown.novelty, [0, 0, 0, 1, 1, 1], atol=1e-12)
    assert shown.sentence == turning.sentence
    # Nothing is left to chance, and the answer is exact: its error is no more than rounding.
    rushing = verdicts(data, rushing=TabularPolicy(np.tile([0.0, 1.0, 0.0], (7, 1))))["rushing"]
    assert rushing.word == "supported"
    assert rushing.precision is None
    assert rushing.to_dict()["supported"]


def test_a_policy_known_at_logged_steps_only(good: Trajectories) -> None:
    assert good.behavior is not None
    data = replace(good, columns={"p": good.behavior})
    found = verdicts(data, same=LoggedProbabilityColumn("p"))["same"]
    assert found.novelty is None
    assert found.word == "supported"
    away = verdicts(
        replace(data, columns={"p": good.behavior * (np.arange(len(good.rewards)) % 7 == 0)}),
        far=LoggedProbabilityColumn("p"),
    )
    assert away["far"].word != "supported"


def test_the_command_with_a_policy(poles: Trajectories, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    log_frame(poles.take(np.arange(25))).write_parquet("log.parquet")
    (tmp_path / "p.py").write_text("import numpy as np\ndef right(x):\n    return np.ones(len(x), int)\n")
    assert run(monkeypatch, "doctor", "log.parquet", "--policy", "right=p.py:right", "--strict") == 3
    out = capsys.readouterr().out
    assert "right: the log cannot tell: past some step hardly any logged episode follows it" in out
    assert "may answer: none precisely enough" in out
    assert run(monkeypatch, "doctor", "log.parquet", "--policy", "right=p.py:right", "--json") == 0
    assert not json.loads(capsys.readouterr().out)["verdicts"]["right"]["supported"]


def test_one_action_in_two_spellings_is_asked_about(good: Trajectories) -> None:
    codes = good.actions.codes.copy()
    codes[::5] = np.where(codes[::5] == 1, 2, codes[::5])
    mixed = replace(good, actions=Categorical(codes, ("wait", "treat", "Treat ")))
    assert "spelling of actions" in [finding.check for finding in examine(mixed).findings]
    assert "spelling of actions" not in [finding.check for finding in examine(good).findings]
