"""evaluate() and the command line: the contract of files, names and exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from repbm import evaluate
from repbm.cli import main
from repbm.core import HeadlineRules, InputError, Thresholds
from repbm.doctor import Check, Verdict
from repbm.domains import TabularWorld
from repbm.estimators import DirectMethod, FunctionCritic, as_estimator
from repbm.evaluation import Fitting
from repbm.evaluation._headline import Entry, disagreements, headline
from repbm.logs import log_frame, read_log

ESTIMATES = (
    "policy estimator role family softened headline value low high level std_error logged_mean difference "
    "difference_low difference_high "
    "episodes effective_episodes behavior verdict supported disagreeing note"
).split()
INDIVIDUALS = (
    "policy estimator episode value low high outcome_low outcome_high logged_value difference difference_low "
    "difference_high source support refused recommended given similar similar_recommended similar_return nearest"
).split()
DIAGNOSTICS = "policy step alive factual counterfactual u effective_episodes".split()
FILES = {
    "details.json",
    "diagnostics.csv",
    "episodes.csv",
    "estimates.csv",
    "individuals.csv",
    "ranking.csv",
    "report.html",
    "run.json",
}
BOUND = "risk_behavior risk_policy distance deviation".split()
POLICY = "import numpy as np\ndef act(x):\n    return np.where(x[:, 0] > 2, 'b', 'a')\n"


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    generator = np.random.default_rng(0)
    world = TabularWorld.random(6, 2, 5, generator)
    behavior = generator.dirichlet([3.0, 3.0], size=6)
    frame = log_frame(world.collect(behavior, 60, generator))
    return frame.with_columns(pl.col("action").replace_strict({0: "a", 1: "b"}, return_dtype=pl.String))


@pytest.fixture
def here(tmp_path, monkeypatch, frame: pl.DataFrame):
    """A folder with a log and a policy, as a user would have it."""
    monkeypatch.chdir(tmp_path)
    frame.write_parquet("log.parquet")
    (tmp_path / "my_policy.py").write_text(POLICY)
    return tmp_path


def run(monkeypatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["repbm", *words])
    with pytest.raises(SystemExit) as stopped:
        main()
    return int(stopped.value.code or 0)


def test_the_contract_of_files(here, monkeypatch, capsys) -> None:
    words = "evaluate log.parquet --policy my_policy.py:act --out result --seed 3 --level 0.9 --discount 0.9".split()
    assert run(monkeypatch, *words) == 0
    assert sorted(path.name for path in here.iterdir()) == ["log.parquet", "my_policy.py", "result"]
    estimates = pl.read_csv(here / "result/estimates.csv")
    assert estimates.columns == ESTIMATES
    expected = "corrected repbm am dr(repbm) wdr(repbm) is wis pdis wpdis soft-is soft-wis soft-pdis soft-wpdis".split()
    assert estimates["estimator"].to_list() == expected
    assert estimates["headline"].to_list() == [True] + [False] * 12
    answer = estimates.row(0, named=True)
    assert answer["low"] < answer["value"] < answer["high"]
    assert {path.name for path in (here / "result").iterdir()} == FILES
    assert set(estimates["policy"]) == {"my_policy.py:act"}
    assert set(estimates["level"]) == {0.9}
    assert pl.read_csv(here / "result/individuals.csv").columns == INDIVIDUALS
    diagnostics = pl.read_csv(here / "result/diagnostics.csv")
    assert diagnostics.columns == [*DIAGNOSTICS, *BOUND]
    assert diagnostics["alive"][0] == 60
    assert (diagnostics["factual"] + diagnostics["counterfactual"] <= diagnostics["alive"]).all()
    stored = json.loads((here / "result/run.json").read_text())
    assert set(stored) == {
        "program",
        "version",
        "files",
        "arguments",
        "log_sha256",
        "reading",
        "numbered_episodes",
        "notes",
        "rules",
    }
    assert set(stored["files"]) == FILES
    assert stored["arguments"]["seed"] == 3
    assert len(stored["log_sha256"]) == 64
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].split("\t")[:3] == ["policy", "estimator", "value"]
    assert len(printed) == 1 + 1 + 1
    assert set(estimates["verdict"]) == {"supported"}
    assert estimates["supported"].all()
    assert run(monkeypatch, *words, "--all") == 0
    assert len(capsys.readouterr().out.splitlines()) == 1 + 13 + 1


def test_a_second_run_replaces_the_first_whole(here, monkeypatch) -> None:
    words = "evaluate log.parquet --policy my_policy.py:act --out result --quiet".split()
    assert run(monkeypatch, *words) == 0
    assert run(monkeypatch, *words, "--estimator", "pdis") == 0
    assert len(pl.read_csv(here / "result/estimates.csv")) == 1
    assert [path.name for path in here.iterdir() if path.name.startswith(".")] == []


def test_a_failure_while_writing_leaves_the_old_result(here, monkeypatch) -> None:
    words = "evaluate log.parquet --policy my_policy.py:act --out result --quiet".split()
    assert run(monkeypatch, *words) == 0
    before = (here / "result/estimates.csv").read_text()

    def fails(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("polars.DataFrame.write_csv", fails)
    assert run(monkeypatch, *words, "--seed", "8") == 2
    assert (here / "result/estimates.csv").read_text() == before
    assert [path.name for path in here.iterdir() if path.name.startswith(".")] == []


def test_quiet_prints_nothing(here, monkeypatch, capsys) -> None:
    assert run(monkeypatch, *"evaluate log.parquet --policy my_policy.py:act --quiet".split()) == 0
    assert capsys.readouterr().out == ""


def test_several_policies_by_name(here, monkeypatch, capsys) -> None:
    words = "evaluate log.parquet --policy new=my_policy.py:act --policy mine=probability:behavior_prob --estimator wis"
    assert run(monkeypatch, *words.split()) == 0
    rows = [line.split("\t")[:2] for line in capsys.readouterr().out.splitlines()[1:]]
    assert rows == [["new", "wis"], ["mine", "wis"]]


def test_the_logging_policy_is_worth_the_mean_return(here) -> None:
    evaluation = evaluate(
        "log.parquet", "probability:behavior_prob", estimators=["is", "wis", "pdis", "wpdis"], details=False
    )
    mean = read_log("log.parquet").returns().mean()
    np.testing.assert_allclose(evaluation.estimates["value"].to_numpy(), mean)


def test_seed_decides_and_order_does_not(frame: pl.DataFrame) -> None:
    def bounds(names: list[str], seed: int) -> dict[str, tuple[float, float]]:
        table = evaluate(frame, act, estimators=names, seed=seed, details=False).estimates
        return {row["estimator"]: (row["low"], row["high"]) for row in table.iter_rows(named=True)}

    first = bounds(["wis", "wpdis"], 1)
    assert first == bounds(["wpdis", "wis"], 1)
    assert first != bounds(["wis", "wpdis"], 2)


def act(observations: np.ndarray) -> np.ndarray:
    return np.where(observations[:, 0] > 2, "b", "a")


def test_individual_values_come_with_the_episode_names(frame: pl.DataFrame) -> None:
    critic = FunctionCritic(lambda observations, steps: np.tile(observations, (1, 2)), "state number")
    named = frame.with_columns(episode=pl.lit("patient ") + pl.col("episode").cast(pl.String))
    found = evaluate(named, act, estimators=[DirectMethod(critic)], details=False).individuals
    assert found.columns == INDIVIDUALS
    first = named.filter(pl.col("step") == 0)
    expected = dict(zip(first["episode"], first["obs_state"], strict=True))
    assert dict(zip(found["episode"], found["value"], strict=True)) == expected


def test_horizon_reaches_the_estimate(frame: pl.DataFrame) -> None:
    data = read_log(frame)
    value = evaluate(data, act, estimators=["wis"], horizon=1, details=False).estimates["value"][0]
    first = data.until(1)
    assert first.behavior is not None
    weights = (np.array(first.actions.decoded()) == act(first.observations)) / first.behavior
    assert value == pytest.approx((weights * first.rewards).sum() / weights.sum())


def test_help_needs_no_jax() -> None:
    code = (
        "import sys; sys.argv = ['repbm', '--help']\nfrom repbm.cli import main\ntry: main()\nexcept SystemExit: pass\n"
    )
    code += "assert not {'jax', 'numpy', 'polars', 'scipy'} & set(sys.modules), sorted(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


@pytest.mark.slow
def test_demo_shows_the_truth(tmp_path: Path) -> None:
    words = ["repbm", "demo", "--episodes", "15", "--steps", "12", "--out", str(tmp_path / "demo")]
    shown = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.argv = {words!r}\nfrom repbm.cli import main\nmain()"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    assert "truth" in shown[0].split("\t")
    rows = [line.split("\t") for line in shown[1:25]]
    answers = {row[0]: row for row in rows if "yes" in row}
    assert "not supported" in " ".join(answers["both drugs always"])
    answer, model = (
        next(row for row in rows if row[:2] == ["interrupted therapy", name]) for name in ("corrected", "repbm")
    )
    assert answer == answers["interrupted therapy"]
    assert "supported: " in answer[8]
    true = float(answer[4])
    assert float(model[2]) == pytest.approx(true, rel=0.01)
    low, high = map(float, answer[3].split(" to "))
    assert low < true < high < 1.1 * low
    assert {path.name for path in (tmp_path / "demo").iterdir()} == {"log.parquet", "result"}
    assert (tmp_path / "demo" / "result" / "report.html").stat().st_size > 50_000


def test_importance_sampling_never_imports_jax(here) -> None:
    code = "import sys\nfrom repbm import evaluate\nevaluate('log.parquet', 'probability:behavior_prob')\n"
    subprocess.run([sys.executable, "-c", code + "assert 'jax' not in sys.modules"], check=True)


def test_what_is_done_now_stands_beside_every_estimate(here) -> None:
    """The behavior itself is no better than what is done: differences are 0, for sure where weights are 1."""
    evaluation = evaluate("log.parquet", "probability:behavior_prob", discount=0.9, details=False)
    data = read_log("log.parquet")
    for row in evaluation.estimates.iter_rows(named=True):
        assert row["logged_mean"] == pytest.approx(data.returns(0.9).mean())
        assert row["behavior"] == "logged"
        assert row["difference"] == pytest.approx(row["value"] - row["logged_mean"])
        if "soft" not in row["estimator"]:
            assert (row["difference_low"], row["difference_high"]) == pytest.approx((0, 0), abs=1e-9)
            assert row["high"] - row["low"] > 0.1
    rows = evaluate(
        "log.parquet", "my_policy.py:act", estimators=["wis", "repbm"], fitting=Fitting(refits=4), details=False
    ).estimates
    assert (rows["difference_low"] < rows["difference"]).all()
    assert (rows["difference"] < rows["difference_high"]).all()
    assert dict(rows.select("estimator", "behavior").iter_rows()) == {"wis": "logged", "repbm": None}


def test_a_behavior_that_nobody_wrote_down_is_learned_and_said(here, frame: pl.DataFrame) -> None:
    names = ["wpdis", "dr(am)", "am"]
    known = evaluate(frame, "my_policy.py:act", estimators=names, details=False)
    found = evaluate(frame.drop("behavior_prob"), "my_policy.py:act", estimators=names, details=False)
    marked = dict(found.estimates.select("estimator", "behavior").iter_rows())
    assert marked == {"am": None, "wpdis": "estimated", "dr(am)": "estimated"}
    tables = (each.estimates.sort("estimator").iter_rows(named=True) for each in (found, known))
    for mine, theirs in zip(*tables, strict=True):
        assert mine["value"] == pytest.approx(theirs["value"], abs=0.5)
        assert ("estimated behavior" in mine["note"]) == (mine["behavior"] == "estimated")
    assert known.behavior is None
    assert found.behavior is not None
    account = found.behavior
    assert account["kind"] == ", ".join(part["kind"] for part in account["parts"])
    assert sum(part["count"] for part in account["parts"]) == pytest.approx(1)
    assert account["likelihood"] >= max(account["likelihoods"].values()) - 1e-3
    # A policy in a column needs no observations; the behavior does.
    column = frame.drop("behavior_prob").with_columns(mine=pl.lit("a"))
    assert evaluate(column, "column:mine", estimators=["wis"], details=False).estimates["behavior"].to_list() == [
        "estimated"
    ]


def test_the_answer_comes_first_and_rests_on_what_holds(here, frame: pl.DataFrame) -> None:
    """Near the behavior weights hold: doubly robust. Far from it they do not: the model."""
    near = evaluate(frame, "probability:behavior_prob", estimators=["is", "wpdis"], details=False)
    assert near.estimates["headline"].to_list() == [True, False]
    assert near.estimates["estimator"][0] == "wpdis"
    assert near.examination.verdicts["probability:behavior_prob"].weights
    far = evaluate(frame, "my_policy.py:act", estimators=["wis", "wdr(am)", "am"], details=False)
    assert far.estimates.row(0, named=True)["estimator"] == "am"
    assert far.estimates["headline"].to_list() == [True, False, False]
    verdict = far.examination.verdicts["my_policy.py:act"]
    assert (verdict.models, verdict.weights) == (True, False)
    assert far.examination.to_dict()["verdicts"]["my_policy.py:act"]["verdict"] == "supported"


def test_estimators_that_disagree_are_named() -> None:
    def row(name: str, value: float | None, low: float | None = None, high: float | None = None) -> Entry:
        return Entry(as_estimator(name), {"value": value, "low": low, "high": high, "effective_episodes": effective})

    effective = 10.0
    fine = Verdict(3.0, 3, 0.2, 100.0, 3)
    rows = [row("repbm", 5.0), row("wdr(repbm)", 3.0, 2.0, 4.0), row("wpdis", 4.5, 3.5, 6.0), row("soft-is", 99.0)]
    assert headline(rows, fine) == 1
    assert disagreements(rows, 1, fine, HeadlineRules(), 0.0) == ["repbm", "wpdis"]
    heavy = replace(fine, steps_with_valid_weights=1)
    assert headline(rows, heavy) == 0
    assert disagreements(rows, 0, heavy, HeadlineRules(), 0.0) == []
    effective = 30.0
    rows = [row("repbm", 5.0), row("wdr(repbm)", 3.0, 2.0, 4.0)]
    assert disagreements(rows, 0, heavy, HeadlineRules(), 0.0) == ["wdr(repbm)"]
    # The corrected estimate answers wherever there is one, and models may always speak against it.
    rows = [row("wis", 9.0, 8.0, 10.0), row("am", 3.9), row("corrected", 3.0, 2.0, 4.0), row("repbm", 5.0)]
    assert headline(rows, heavy) == headline(rows, fine) == 2
    assert disagreements(rows, 2, heavy, HeadlineRules(), 0.0) == ["repbm"]
    assert disagreements(rows, 2, fine, HeadlineRules(), 0.0) == ["wis", "repbm"]
    # Without intervals, three standard errors of the mean return are far.
    rows = [row("repbm", 5.0), row("am", 5.2)]
    assert disagreements(rows, 0, heavy, HeadlineRules(), 0.06) == ["am"]
    assert disagreements(rows, 0, heavy, HeadlineRules(), 0.07) == []
    assert headline([row("wis", None)], fine) is None
    assert headline([row("soft-is", 1.0)], fine) == 0


def test_policies_are_ranked(here, frame: pl.DataFrame) -> None:
    worse = frame.with_columns(reward=pl.col("reward") - pl.when(pl.col("action") == "b").then(5.0).otherwise(0.0))
    policies = {"b": lambda x: np.full(len(x), "b"), "a": lambda x: np.full(len(x), "a")}
    found = evaluate(worse, policies, estimators=["wpdis"], details=False).ranking
    assert found["policy"].to_list() == ["a", "b"]
    assert found["probability_best"].sum() == pytest.approx(1)
    assert found["probability_best"][0] > 0.95
    assert found["to_best"].to_list() == [0.0, pytest.approx(found["value"][1] - found["value"][0])]
    assert found["to_best_low"][1] < found["to_best"][1] < found["to_best_high"][1] < 0
    models = evaluate(worse, policies, estimators=["am"], fitting=Fitting(refits=4), details=False).ranking
    assert models["probability_best"][0] > 0.9
    assert evaluate(worse, policies, estimators=["am"], details=False).ranking["probability_best"].is_null().all()


def test_an_action_that_the_log_never_shows_is_named(frame: pl.DataFrame) -> None:
    def bold(observations: np.ndarray) -> np.ndarray:
        return np.where(observations[:, 0] == 2, "surgery", act(observations))

    found = evaluate(frame, bold, details=False)
    assert not {"repbm", "am"} & set(found.estimates["estimator"])
    verdict = found.examination.verdicts["bold"]
    assert not verdict.supported
    assert "surgery" in verdict.sentence
    with pytest.raises(InputError, match="'surgery'"):
        evaluate(frame, bold, estimators=["am"], details=False)


def test_an_answer_that_fails_a_check_or_is_vague_is_not_supported() -> None:
    """Whatever weights say: they decide only where there is nothing to check."""
    sound = tuple(Check(name, True, f"{name} hold") for name in ("actions", "regions", "weights", "range"))
    fine = Verdict(3.0, 3, 0.2, 20.0, 1, checks=sound, precision=1.0)
    assert (fine.word, fine.models, fine.weights, fine.last_step) == ("supported", True, False, 2)
    broken = [replace(check, holds=False, sentence=f"{check.name} do not hold") for check in sound]
    poor = [
        replace(fine, checks=(*sound[:k], check, *sound[k + 1 :]), steps_with_valid_weights=3)
        for k, check in enumerate(broken)
    ]
    for check, verdict in zip(broken, poor, strict=True):
        assert (verdict.models, verdict.weights, verdict.supported) == (False, True, False)
        assert verdict.sentence == f"not supported: {check.sentence}"
    edge = fine.rules.largest_precision
    assert replace(fine, precision=edge).supported
    vague = replace(fine, precision=1.01 * edge)
    assert (vague.word, vague.models, vague.supported) == ("the log cannot tell", True, False)
    assert f"{1.01 * edge:.1f} times less well" in vague.sentence
    assert vague.last_step == 0
    lost = replace(fine, precision=float("inf"))
    assert lost.sentence.startswith("the log cannot tell: past some step hardly any logged episode follows it")
    assert lost.to_dict()["precision"] is None
    for each in (fine, *poor, vague, lost, replace(fine, checks=None)):
        again = Verdict.of(each.to_dict(), each.rules)
        assert again.to_dict() == each.to_dict()


def test_rows_say_that_some_episodes_of_a_long_log_teach_them(frame: pl.DataFrame) -> None:
    thresholds = {"fit": {"most_steps": 100}, "fitted_q": {"most_steps": 100}}
    given = {"estimators": ["corrected", "am", "wis"], "thresholds": Thresholds.of(thresholds), "details": False}
    found = evaluate(frame, lambda x: np.where(x[:, 0] > 2, "b", "a"), **given).estimates
    notes = dict(found.select("estimator", "note").iter_rows())
    assert "values are learned from 28 of 60 episodes" in notes["corrected"]
    assert "values are learned from 28 of 60 episodes" in notes["am"]
    assert "learned from" not in notes["wis"]


def test_a_policy_that_fails_where_only_a_model_leads_leaves_the_answer() -> None:
    """A rule for codes 0 to 3, asked about the 4th that a model of numbers imagines."""
    generator = np.random.default_rng(0)
    code = generator.integers(0, 4, 900)
    episode = np.repeat(np.arange(150), 6)
    log = pl.DataFrame(
        {
            "episode": episode,
            "obs_code": code.astype(float),
            "obs_x": generator.normal(size=900),
            "action": generator.integers(0, 2, 900),
            "reward": generator.normal(size=900),
            "behavior_prob": 0.5,
            "terminated": np.arange(900) % 6 == 5,
        }
    )

    def act(states: np.ndarray) -> np.ndarray:
        if not np.isin(states[:, 0], [0, 1, 2, 3]).all():
            raise KeyError("no such code")
        return (states[:, 0] > 1).astype(int)

    found = evaluate(log, act, estimators=["corrected", "repbm", "am"])
    rows = {row["estimator"]: row for row in found.estimates.iter_rows(named=True)}
    assert rows["corrected"]["headline"]
    assert rows["corrected"]["low"] < rows["corrected"]["value"] < rows["corrected"]["high"]
    for name in ("repbm", "am"):
        assert rows[name]["value"] is None
        assert "fails in a state that the model imagines" in rows[name]["note"]
        assert "no such code" in rows[name]["note"]


def test_rounding_is_not_beyond_what_rewards_allow() -> None:
    """Where all rewards are the same the answer is the highest return there is, but for last digits."""
    generator, episodes, steps = np.random.default_rng(0), 60, 5
    count = episodes * steps
    log = {
        "episode": np.repeat(np.arange(episodes), steps),
        "step": np.tile(np.arange(steps), episodes),
        "obs_x": generator.normal(size=count),
        "action": generator.integers(0, 2, count),
        "reward": np.full(count, 1 / 3),
        "behavior_prob": np.full(count, 0.5),
        "terminated": np.tile(np.arange(steps) == steps - 1, episodes),
    }
    found = evaluate(
        pl.DataFrame(log), lambda states: np.tile([0.3, 0.7], (len(states), 1)), estimators=["corrected", "wis", "is"]
    )
    notes = dict(found.estimates.select("estimator", "note").iter_rows())
    assert "beyond" not in notes["corrected"]
    assert "beyond" not in notes["wis"]
    assert "1.912 is beyond what rewards allow" in notes["is"]


@pytest.mark.parametrize("rules", [{"individuals": {"most_steps": 4}}, {"fitted_q": {"most_steps": 4}}])
@pytest.mark.parametrize("seed", range(3))
def test_where_one_fold_has_all_episodes_that_teach_another_one_does(
    frame: pl.DataFrame, rules: dict[str, dict[str, int]], seed: int
) -> None:
    """Of episodes as long as all that may teach there are one or two, which judge themselves in no fold."""
    few = Thresholds.of(rules | {"ratio": {"folds": 2}})
    found = evaluate(
        frame,
        lambda states: np.where(states[:, 0] > 2, "b", "a"),
        estimators=["corrected"],
        thresholds=few,
        seed=seed,
        details=False,
    )
    assert np.isfinite(found.estimates["value"][0])
