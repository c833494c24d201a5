"""The tree, learned behaviors, and the gain of balancing: small versions from end to end, and their figures."""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import jax
import numpy as np
import polars as pl
import pytest

from repbm.cli import main
from repbm.core import InputError, stream
from repbm.domains import BinaryTree, benchmark_policy, collect, enumerated_tree_bias, estimated_tree_behavior
from repbm.estimators import Case, PerDecisionImportanceSampling
from repbm.experiments import (
    EXPERIMENTS,
    Balance,
    BehaviorError,
    Experiment,
    Point,
    Sweep,
    Task,
    TreeBias,
    fingerprint,
    load_experiment,
    reproduce,
    result_cells,
    seed_of,
)
from repbm.experiments._gain import gains
from repbm.experiments._objectives import checked_objective
from repbm.experiments._problems import Policies, Simulated
from repbm.experiments._resampling import interval, mean_interval
from repbm.experiments.figures import figures
from repbm.models import LinearMMD, RadialMMD, Wasserstein

TREE = TreeBias("tree", horizons=(1, 3, 5), deltas=(0.0, 0.1, 0.3), episodes=2000)
BEHAVIOR = BehaviorError("b", ("near", "far"), 30, (10, 20), (5, 150), prior=1.0, rollouts=20)
BALANCE = """
kind = "balance"
individuals = 20
rollouts = 10
model_rollouts = 10
models = ["am", "repbm(alpha=1)"]
[base]
episodes = 16
[paper.cartpole-short]
epochs = 2
batches = 5
batch = 8
[residual]
epochs = 2
batches = 5
batch = 8
[[sweeps]]
name = "noise"
factor = "noise"
levels = [0.0, 0.1]
models = ["am", "repbm(alpha=1)", "repbm(alpha=2)"]
[[sweeps]]
name = "alpha"
factor = "episodes"
levels = [16]
models = ["am", "repbm(alpha=1)"]
[[sweeps]]
name = "tabular"
world = "tabular"
fit = "tabular"
factor = "episodes"
levels = [10, 16]
models = ["am", "repbm(alpha=0)"]
"""

Command = Callable[..., int | str | None]


@pytest.fixture(scope="module", autouse=True)
def quickly_compiled() -> Iterator[None]:
    """These fits are tiny: nearly all of their time would go into optimizing compiled code."""
    before = jax.config.read("jax_disable_most_optimizations")
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", before)


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Command:
    def called(*words: str) -> int | str | None:
        monkeypatch.setattr(sys, "argv", ["repbm", "reproduce", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code

    return called


@pytest.fixture(scope="module")
def balance(tmp_path_factory: pytest.TempPathFactory) -> Balance:
    path = tmp_path_factory.mktemp("spec") / "mine.toml"
    path.write_text(BALANCE)
    found = load_experiment(str(path))
    assert isinstance(found, Balance)
    return found


@pytest.fixture(scope="module")
def balanced(balance: Balance, tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    return reproduce(balance, 2, tmp_path_factory.mktemp("balance")).rows()


def size(png: bytes) -> tuple[int, int]:
    """Width and height, from the header that every PNG begins with."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    assert png[12:16] == b"IHDR"
    assert png[-8:-4] == b"IEND"
    return struct.unpack(">II", png[16:24])


def check_figures(experiment: Experiment, rows: pl.DataFrame, names: set[str]) -> None:
    drawn = figures(experiment, rows)
    assert set(drawn) == names
    for png in drawn.values():
        width, height = size(png)
        assert width == 800
        assert 300 <= height <= 1200
    assert figures(experiment, rows.clear()) == {}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_loads(name: str) -> None:
    experiment = load_experiment(name)
    assert experiment.name == name
    assert experiment.usual_runs >= 30
    assert len(fingerprint(experiment)) == 64
    assert {"run", "seed"} < set(experiment.schema)
    assert ("part" in experiment.schema) == (len(experiment.parts) > 1)
    assert len(set(experiment.parts)) == len(experiment.parts)


def test_the_estimated_behavior_errs_on_the_way_to_the_paying_leaf() -> None:
    nodes = np.array([[0.0], [1], [2], [3], [4], [7], [2.0**50 - 1], [2.0**50]])
    left = estimated_tree_behavior(0.2).probabilities(nodes, BinaryTree.actions)[:, 0]
    assert left.tolist() == [0.4, 0.4, 0.5, 0.4, 0.5, 0.4, 0.4, 0.5]


def test_tree(tmp_path: Path) -> None:
    store = reproduce(TREE, 4, tmp_path)
    table = pl.read_csv(tmp_path / "table.csv")
    assert len(table) == 9
    for line in table.iter_rows(named=True):
        exact = enumerated_tree_bias(line["horizon"], line["delta"])
        assert line["bias"] == pytest.approx(exact, abs=1e-12)
        assert line["enumerated"] == pytest.approx(exact, abs=1e-12)
        assert (line["bias"] == 0) == (line["delta"] == 0)
        # A log in which k of n episodes reach the leaf says 2^H k / n times (1 - delta)^-H; k is binomial. All runs
        # together stay within 5 deviations: a false alarm in a million.
        share = 0.5 ** line["horizon"]
        deviation = np.sqrt((1 - share) / share / (4 * TREE.episodes)) * (1 + exact)
        assert abs(line["simulated"] - exact) < 5 * deviation
        assert line["simulated_low"] <= line["simulated"] <= line["simulated_high"]
    # On one log, estimates differ by the factor of the formula and by nothing else.
    for _, group in store.rows().group_by("run", "horizon"):
        factors = (group["value"] / group.filter(pl.col("delta") == 0)["value"].item()).to_numpy()
        assert factors == pytest.approx((1 - group["delta"].to_numpy()) ** -float(group["horizon"][0]))
    check_figures(TREE, store.rows(), {"bias"})
    assert figures(TREE, store.rows()) == figures(TREE, store.rows())


def test_a_deep_tree_is_not_enumerated() -> None:
    rows = pl.DataFrame([(0, 0, 40, 0.1, 2.0, 1.0)], schema=TREE.schema, orient="row")
    line = TREE.table(rows).row(0, named=True)
    assert line["bias"] == pytest.approx(0.9**-40 - 1)
    assert line["enumerated"] is line["simulated_low"] is None


def test_behavior_error(tmp_path: Path) -> None:
    store = reproduce(BEHAVIOR, 3, tmp_path)
    rows = store.rows()
    assert len(rows) == 3 * 2 * (1 + 4)
    known = rows.filter(pl.col("neighbors").is_null())
    assert (known["behavior_error"] == 0).all()
    assert (rows.filter(pl.col("neighbors").is_not_null())["behavior_error"] > 0.01).all()
    # With the known behavior it is the estimator on the log itself.
    seed = seed_of(0, 1)
    from repbm.domains import Map2D, map_behaviors

    data = collect(Map2D(), map_behaviors()["far"], 30, stream(seed, "log", "far"))
    value = PerDecisionImportanceSampling(normalized=True)(Case.of(data, benchmark_policy("map2d"))).value
    row = known.filter(pl.col("run") == 1, pl.col("behavior") == "far").row(0, named=True)
    assert row["value"] == value
    assert row["error"] == pytest.approx((row["value"] - row["truth"]) / row["truth"])
    table = BEHAVIOR.table(rows)
    assert len(table) == 10
    line = table.row(0, named=True)
    errors = known.filter(pl.col("behavior") == "near")["error"].to_numpy()
    assert (line["error"], line["deviation"]) == pytest.approx((errors.mean(), errors.std(ddof=1)))
    assert line["error_low"] <= line["error"] <= line["error_high"]
    check_figures(BEHAVIOR, rows, {"error"})
    check_figures(replace(BEHAVIOR, published="behavior-error"), rows, {"error"})


def test_an_action_that_the_learned_behavior_never_takes_is_noted(tmp_path: Path) -> None:
    rows = reproduce(replace(BEHAVIOR, prior=0.0, neighbors=(1,)), 1, tmp_path).rows()
    learned = rows.filter(pl.col("neighbors") == 1)
    assert learned["error"].null_count() == len(learned)
    assert learned["note"].str.starts_with("not defined").all()
    table = BEHAVIOR.table(rows)
    assert table["undefined"].to_list() == [0, 1, 1, 0, 1, 1]
    assert size(figures(BEHAVIOR, rows)["error"])[0] == 800


def test_points_of_several_sweeps_are_made_once(balance: Balance) -> None:
    base = Point(episodes=16)
    points = balance.points
    assert len(points) == 4
    assert points[base] == ("am", "repbm(alpha=1)", "repbm(alpha=2)")
    assert balance.parts[0] == "base"
    assert balance.parts[1] == "noise = 0.1"
    assert balance.tasks(2)[:7] == [*(Task(0, part) for part in range(4)), Task(1, 0), Task(1, 1), Task(1, 2)]


@pytest.mark.slow
def test_balance_rows(balance: Balance, balanced: pl.DataFrame) -> None:
    assert balanced.schema == pl.Schema(balance.schema)
    assert balanced["note"].unique().to_list() == [""]
    assert len(balanced) == 2 * (3 + 3 + 2 * 2)
    for key, group in balanced.group_by("run", "part"):
        assert group["truth"].n_unique() == 1, key
        # The models of one log differ, but not in what they are asked.
        assert group["value"].n_unique() > 1 or group["fit"][0] == "tabular"
        assert group["seed"][0] == seed_of(0, group["run"][0])
    # What is drawn has an error of its own, what is exact has none.
    noisy = balanced.filter(pl.col("noise") > 0)
    assert (noisy["sampling_error"] > 0).all()
    assert (balanced.filter(pl.col("noise") == 0)["sampling_error"] == 0).all()
    check_figures(balance, balanced, {"noise", "alpha", "tabular"})


@pytest.mark.slow
def test_balance_of_other_fits_distances_and_worlds(balance: Balance, tmp_path: Path) -> None:
    kinds = ("linear", "radial", "wasserstein")
    wide = ("am", *(f"repbm(alpha=0.1, scale-free {kind})" for kind in kinds))
    plain = ("am", "repbm(alpha=0)")
    noisy = Point(episodes=16, noise=0.1)
    sweeps = (
        Sweep("fit", "fit", ("paper", "residual", "precise"), noisy, plain),
        Sweep("world", "world", ("mountaincar",), replace(noisy, fit="residual"), plain),
        Sweep("distance", "behavior", ("cartpole-long",), noisy, wide),
    )
    rows = reproduce(replace(balance, sweeps=sweeps), 1, tmp_path).rows()
    assert rows["note"].unique().to_list() == [""]
    assert rows["model"].to_list() == [*plain * 4, *wide]
    # Models that draw add their error to that of the truth.
    same = rows.filter(pl.col("world") == "cartpole-short", pl.col("behavior") == "")
    error = dict(same.group_by("fit").agg(pl.col("sampling_error").mean()).iter_rows())
    assert error["paper"] < min(error["residual"], error["precise"])


def test_stopping_between_parts_keeps_the_finished_ones(tmp_path: Path, balance: Balance) -> None:
    cheap = replace(balance, sweeps=balance.sweeps[2:])

    def stop(what: str, done: int, total: int) -> None:
        if what.startswith("run 2 of 2, world = tabular, episodes = 10"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reproduce(cheap, 2, tmp_path, progress=stop)
    kept = pl.read_parquet(tmp_path / "runs.parquet")
    assert kept.select("run", "part").unique(maintain_order=True).rows() == [(0, 0), (0, 1)]
    told: list[str] = []
    store = reproduce(cheap, 2, tmp_path, progress=lambda what, done, total: told.append(what))
    assert all(what.startswith("run 2 of 2") or what.endswith(" of 2 done") for what in told)
    assert store.finished() == set(cheap.tasks(2))
    whole = reproduce(cheap, 2, tmp_path / "whole").rows()
    assert store.rows().drop("seconds").equals(whole.drop("seconds"))
    before = (tmp_path / "runs.parquet").read_bytes()
    reproduce(cheap, 2, tmp_path, progress=lambda *_: pytest.fail("there is nothing left to do"))
    assert (tmp_path / "runs.parquet").read_bytes() == before


def test_gains_by_hand(balance: Balance) -> None:
    def row(run: int, model: str, square: float | None, sampling: float = 0.0) -> dict:
        point = {"world": "tabular", "behavior": "", "noise": 0.0, "episodes": 9, "epsilon": 0.2}
        scores = {"error_mean": 0.5, "mse_individual": square, "sampling_error": sampling}
        return {"run": run, "part": 0, "model": model, "fit": "tabular", "units": 1, **point, **scores}

    rows = [row(0, "am", 4.0), row(0, "good", 2.0, 1.0), row(0, "bad", 9.0), row(0, "lost", None), row(0, "odd", 5.0)]
    rows += [row(1, "am", 6.0), row(1, "good", 2.0), row(1, "bad", 7.0), row(1, "lost", 1.0), row(1, "odd", 5.0)]
    table = gains(pl.DataFrame(rows, schema=balance.schema), ("here",))
    good, bad, lost, odd = table.iter_rows(named=True)
    assert {line["point"] for line in (good, bad, lost, odd)} == {"here"}
    # (2 - 1 + 2) / 2 against 5; of two runs the percentiles are the runs themselves.
    assert good["rmse_individual"] == pytest.approx(np.sqrt(1.5))
    assert good["difference"] == pytest.approx(-3.5)
    assert (good["difference_low"], good["difference_high"]) == pytest.approx((-4, -3))
    assert good["ratio"] == pytest.approx(np.sqrt(1.5 / 5))
    assert (good["ratio_low"], good["ratio_high"]) == pytest.approx((np.sqrt(1 / 4), np.sqrt(2 / 6)))
    assert (good["winner"], good["better"], good["sampling_rmse"]) == ("model", 1.0, pytest.approx(np.sqrt(0.5)))
    assert (bad["winner"], bad["better"], bad["difference"]) == ("am", 0.0, 3.0)
    assert (lost["runs"], lost["undefined"], lost["difference"], lost["difference_low"]) == (2, 1, -5.0, None)
    assert lost["winner"] == odd["winner"] == "open"
    assert (odd["difference"], odd["better"]) == (0.0, 0.5)


def test_intervals_need_a_statistic_that_is_defined() -> None:
    values = np.array([1.0, 2.0, 3.0, 4.0])
    low, high = mean_interval(values)
    assert low is not None
    assert high is not None
    assert 1 <= low < 2.5 < high <= 4
    assert mean_interval(values[:1]) == (None, None)
    assert mean_interval(np.array([1.0, 2.0, np.inf])) == (None, None)
    assert interval(values[:, None], lambda means: np.where(means[:, 0] < 1.5, np.nan, means[:, 0]))[0] is not None
    assert interval(values[:, None], lambda means: np.where(means[:, 0] < 2.5, np.nan, means[:, 0])) == (None, None)


def test_truth_of_a_noisy_world_knows_its_error() -> None:
    """Two truths differ by the errors of both. Of 200 individuals, few with long episodes decide: the seed is fixed."""
    problem = Simulated.of(Policies(), "cartpole-short", "", 0.2, 0.05)
    starts = problem.log(200, stream(0, "starts")).initial_observations
    one, two = problem.truth(starts, 0, 20), problem.truth(starts, 1, 20)
    assert ((one.values - two.values) ** 2).mean() == pytest.approx(one.error + two.error, rel=0.5)
    exact = Simulated.of(Policies(), "cartpole-short", "", 0.2, 0.0).truth(starts, 0, 20)
    assert exact.error == 0


def test_objectives_by_name() -> None:
    assert checked_objective("repbm(alpha=0.1, scale-free radial)", "x").ipm == RadialMMD(scale_free=True)
    assert checked_objective("repbm(alpha=0.1)", "x").ipm == LinearMMD(squared=True, scale_free=False)
    assert checked_objective("repbm(alpha=2, wasserstein)", "x").alpha == 2.0
    assert isinstance(checked_objective("repbm(alpha=2, wasserstein)", "x").ipm, Wasserstein)
    assert not checked_objective("repbm(alpha=0)", "x").balances
    with pytest.raises(InputError, match="there is no objective 'ab'"):
        checked_objective("ab", "x")


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("tree", ('kind = "tree"', 'kind = "tre"'), "there is no kind 'tre'; did you mean 'tree'"),
        ("tree", ("horizons", "horizon"), "no key 'horizon'; did you mean 'horizons'"),
        ("tree", ("0.2]", "1.5]"), "a relative error of 1.5"),
        ("tree", ("[1, 2", "[0, 2"), "a tree of depth 0"),
        ("tree", ("episodes = 16384", "episodes = 0"), "episodes = 0 makes no experiment"),
        ("tree", ("episodes = 16384", ""), "'episodes' is missing"),
        ("behavior-error", ('"near"', '"nera"'), "no behavior 'nera'; did you mean 'near'"),
        ("behavior-error", ("[5, 15, 50, 150]", "[151]"), "151 neighbors among the 150 steps of 10 episodes"),
        ("behavior-error", ("prior = 1.0", "prior = -1.0"), "prior = -1.0 makes no experiment"),
        ("behavior-error", ('published = "behavior-error"', 'published = "x"'), "no published figures 'x'"),
        (
            "balance",
            ('factor = "noise"', 'factor = "nose"'),
            r"'noise': there is no factor 'nose'; did you mean 'noise'",
        ),
        ("balance", ("levels = [0.0, 0.03", 'levels = ["a", 0.03'), "noise = 'a' is not of type float"),
        ("balance", ("levels = [0.0, 0.03", "levels = [-1.0, 0.03"), "noise of standard deviation -1"),
        ("balance", ('name = "noise"', 'name = "units"'), "two of one name"),
        ("balance", ('name = "noise"', 'name = "a/b"'), "small letters, digits and hyphens"),
        ("balance", ('models = ["am", "repbm(alpha=0)"', 'models = ["repbm(alpha=0)"'), "'am' with other models"),
        ("balance", ("repbm(alpha=1)", "repbm(alpha=one)"), r"there is no objective 'repbm\(alpha=one\)'"),
        ("balance", ('fit = "tabular"', 'fit = "paper"'), "fit = 'paper' does not go with world = 'tabular'"),
        ("balance", ('world = "mountaincar"', 'world = "mountancar"'), "did you mean 'mountaincar'"),
        ("balance", ("[paper.mountaincar]", "[paper.mountain]"), "there is no world 'mountain'"),
        ("balance", ('fit = "residual"', 'fit = "precise"'), "fit = 'precise' has no representation to balance"),
    ],
)
def test_wrong_specs_say_what_is_meant(tmp_path: Path, name: str, change: tuple[str, str], message: str) -> None:
    text = (files("repbm.experiments") / "specs" / f"{name}.toml").read_text("utf-8")
    assert change[0] in text
    (tmp_path / "mine.toml").write_text(text.replace(*change))
    with pytest.raises(InputError, match=message):
        load_experiment(str(tmp_path / "mine.toml")).worker()


def test_command(tmp_path: Path, command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.toml").write_text('kind = "tree"\nhorizons = [1, 2]\ndeltas = [0.1]\nepisodes = 50\n')
    mine, out = str(tmp_path / "mine.toml"), tmp_path / "out"
    assert command(mine, "--runs", "2", "--out", str(out)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split("\t") == ["horizon", "delta", "bias", "enumerated", "simulated", "simulated interval", "runs"]
    assert lines[1].split("\t")[:3] == ["1", "0.1000", "0.1111"]
    names = ["bias.png", "runs.parquet", "spec.json", "table.csv"]
    assert sorted(child.name for child in out.iterdir()) == names
    before = {child.name: child.read_bytes() for child in out.iterdir()}
    assert command(mine, "--runs", "2", "--out", str(out)) == 0
    assert {child.name: child.read_bytes() for child in out.iterdir()} == before
    capsys.readouterr()
    assert command(mine, "--out", str(out), "--policy", "p.npz") == 2
    assert capsys.readouterr().err == "repbm: the experiment 'mine' has its own policies; leave --policy out\n"
    assert command("balanc", "--out", str(tmp_path / "none")) == 2
    assert capsys.readouterr().err == "repbm: there is no experiment 'balanc'; did you mean 'balance'?\n"
    assert not (tmp_path / "none").exists()


def test_figures_of_errors() -> None:
    """Those of the tables: every row in its place, also where there is no published figure or no interval."""
    for name, figure in (("alpha-short", "alpha"), ("cartpole-short", "errors")):
        spec = load_experiment(name)
        blank = {"seed": 0, "value": 1.0, "truth": 0.0, "mse_individual": 1.0, "seconds": 0.0, "note": ""}
        rows = [
            {"run": run, "estimator": row, "error_mean": 1.0 + run, **blank}
            for run in range(2)
            for row in spec.rows  # type: ignore[attr-defined]
        ]
        check_figures(spec, pl.DataFrame(rows, schema=spec.schema), {figure})


def test_cells_join_intervals() -> None:
    table = pl.DataFrame(
        {"a_b": [1.0, None], "a_b_low": [0.5, None], "a_b_high": [2.0, None], "n": [3, 4], "x": ["u", "v"]}
    )
    assert result_cells(table, hidden=["x"]) == [
        {"a b": "1.000", "a b interval": "0.5000 to 2.000", "n": "3"},
        {"a b": "-", "a b interval": "-", "n": "4"},
    ]
