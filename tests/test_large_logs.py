"""Logs larger than memory: a sample of episodes for what is fitted, all of them, in parts, for what can be summed."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from repbm import evaluate
from repbm.cli import main
from repbm.core import InputError, MemoryRules, Thresholds
from repbm.data import Categorical, Trajectories
from repbm.doctor import LogCounts, examine
from repbm.engines import Engine, Processes
from repbm.estimators import ESTIMATORS, SOFTENING, Case, GroupSums, Role
from repbm.evaluation import Evaluation, Reading, repeat
from repbm.evaluation._whole import AllEpisodes
from repbm.inference import Resampling, difference, interval
from repbm.logs import Scan, _scan, bytes_of, draw_log, read_log
from repbm.policies import CallablePolicy

_SIZES = MemoryRules(program=0, step=1000, value=0)
"""A kilobyte a step: a sample of 1,500 steps has 1.5 MB."""
_FORMS = [spec for spec in ESTIMATORS.values() if spec.role is Role.WEIGHTING]


def _policy(states: np.ndarray) -> np.ndarray:
    share = 1 / (1 + np.exp(-states[:, 0]))
    return np.column_stack([1 - share, share])


def _table(episodes: int = 400, seed: int = 0, probability: bool = True) -> pl.DataFrame:
    """Episodes of 2 to 12 steps: a longer one has other actions and rewards."""
    generator = np.random.default_rng(seed)
    lengths = generator.integers(2, 13, episodes)
    episode = np.repeat(np.arange(episodes), lengths)
    step = np.concatenate([np.arange(length) for length in lengths])
    state = generator.normal(size=(len(step), 2)) + lengths[episode, None] / 6 - 1
    share = 0.3 + 0.4 * (state[:, 0] > 0)
    action = (generator.random(len(step)) < share).astype(np.int64)
    columns = {
        "episode": episode,
        "step": step,
        "obs_x": state[:, 0],
        "obs_y": state[:, 1],
        "action": action,
        "reward": state[:, 1] * action + generator.normal(size=len(step)),
        "terminated": step == lengths[episode] - 1,
    }
    known = {"behavior_prob": np.where(action == 1, share, 1 - share)}
    return pl.DataFrame(columns | (known if probability else {}))


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    return _table()


@pytest.fixture
def stored(table: pl.DataFrame, tmp_path: Path) -> Path:
    path = tmp_path / "log.parquet"
    table.write_parquet(path, row_group_size=300)
    return path


def _case(data: Trajectories, scale: float = 1.0) -> Case:
    """With weights that are so many times as far from each other."""
    assert data.behavior is not None
    case = Case.of(data, CallablePolicy(_policy, actions=(0, 1)), 0.97)
    return replace(case, data=replace(data, behavior=data.behavior**scale))


def _summed(case: Case, cuts: list[int], count: int) -> GroupSums:
    borders = [0, *cuts, len(case.data)]
    parts = [
        GroupSums.of(case.take(np.arange(low, high)), low, count, 3, (0.0, SOFTENING))
        for low, high in pairwise(borders)
    ]
    return parts[0] + (parts[1] + parts[2])


def test_sums_are_the_same_however_many_parts_are_worked_on_at_once(
    table: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bit for bit, also where later parts are done first, and where they are tasks of other processes."""
    table.with_columns(target=pl.col("behavior_prob") / 2).write_parquet(tmp_path / "log.parquet", row_group_size=100)
    monkeypatch.setattr(_scan, "PART_STEPS", 200)
    found, begun = [], []
    for at_once in (1, 4):
        monkeypatch.setattr(_scan, "_AT_ONCE", at_once)
        reached = AllEpisodes.while_drawn

        def slowly(self: AllEpisodes, scan: Scan, reached=reached):
            weigh = reached(self, scan)
            assert weigh is not None

            def later(data: Trajectories, first: int):
                begun.append(first)
                time.sleep(0.02 * (len(begun) % 2))
                return weigh(data, first)

            return later

        with monkeypatch.context() as patch:
            patch.setattr(AllEpisodes, "while_drawn", slowly)
            found.append(_logged_target(tmp_path / "log.parquet"))
    assert len(begun) > 20
    with Processes(2) as several:
        found.append(_logged_target(tmp_path / "log.parquet", several))
    for other in found[1:]:
        assert found[0].estimates.equals(other.estimates)
        assert found[0].diagnostics.equals(other.diagnostics)


def _logged_target(path: Path, engine: Engine | None = None) -> Evaluation:
    return evaluate(
        str(path),
        "probability:target",
        estimators=[spec.name for spec in _FORMS],
        reading=Reading(memory=1.5e6),
        thresholds=Thresholds.of({"memory": {"program": 0, "step": 1000, "value": 0}}),
        details=False,
        engine=engine,
    )


@pytest.mark.parametrize("scale", [1.0, 300.0], ids=["usual", "beyond floating point"])
def test_sums_of_parts_are_what_the_whole_log_says(table: pl.DataFrame, scale: float) -> None:
    case = _case(read_log(table), scale)
    sums = _summed(case, [7, 250], len(case.data))
    resampling, grouped = Resampling(case.data, 3), Resampling(sums, 3)
    for spec in _FORMS:
        estimator = spec.estimator(None)
        with np.errstate(over="ignore", invalid="ignore"):
            whole, parts = estimator(case), sums.estimate(estimator)  # type: ignore[arg-type]
        assert parts.effective_episodes == pytest.approx(whole.effective_episodes, rel=1e-9)
        assert parts.note == whole.note
        if whole.value is None or whole.contributions is None or parts.contributions is None:
            assert parts.value is None
            continue
        assert parts.value == pytest.approx(whole.value, rel=1e-9), spec.name
        np.testing.assert_allclose(parts.contributions, whole.contributions, rtol=1e-9, atol=1e-300)
        own, other = interval(whole, 0.9, resampling), interval(parts, 0.9, grouped)
        assert (other.low, other.high) == pytest.approx((own.low, own.high), rel=1e-9)
        _, gain = difference(whole, own, case.returns, 0.9, resampling)
        _, same = difference(parts, other, sums.mean_returns, 0.9, grouped)
        assert (same.low, same.high) == pytest.approx((gain.low, gain.high), rel=1e-9)
    np.testing.assert_allclose(sums.weights[0.0].effective_episodes, case.weights.effective_episodes, rtol=1e-9)
    np.testing.assert_array_equal(sums.alive, case.data.alive)
    np.testing.assert_allclose(sums.factual, case.support.factual_count, rtol=1e-9)
    np.testing.assert_allclose(sums.counterfactual, case.support.counterfactual_count, rtol=1e-9)


def test_groups_of_many_episodes_have_the_same_value_and_about_the_same_interval(table: pl.DataFrame) -> None:
    case = _case(read_log(_table(4000, 1)))
    sums = _summed(case, [1000, 1001], 200)
    assert sums.sizes.min() == sums.sizes.max() == 20
    for spec in _FORMS:
        estimator = spec.estimator(None)
        whole, parts = estimator(case), sums.estimate(estimator)  # type: ignore[arg-type]
        assert parts.value == pytest.approx(whole.value, rel=1e-9)
        own = interval(whole, 0.95, Resampling(case.data, 3))
        other = interval(parts, 0.95, Resampling(sums, 3))
        assert own.std_error is not None
        # The standard error of 200 groups is known to 5 %: 4 of these.
        assert other.std_error == pytest.approx(own.std_error, rel=0.2)


def test_a_policy_that_nobody_follows_to_the_end_is_not_defined_in_parts_either(table: pl.DataFrame) -> None:
    data = read_log(table)
    codes = data.actions.codes.copy()
    codes[data.steps == 3] = 1
    data = replace(data, actions=Categorical(codes, data.actions.labels))
    never = CallablePolicy(lambda states: np.zeros(len(states), dtype=np.int64), actions=(0, 1))
    case = Case.of(data, never)
    long = np.flatnonzero(data.lengths > 4)
    case = case.take(long)
    sums = _summed(case, [3, 9], 50)
    for spec in _FORMS:
        estimator = spec.estimator(None)
        assert (sums.estimate(estimator).value is None) == (estimator(case).value is None)  # type: ignore[arg-type]


def test_a_sample_has_every_kind_of_episode_as_often_as_the_log(stored: Path, table: pl.DataFrame) -> None:
    drawn = draw_log(stored, 1.5e6, 5, _SIZES)
    whole = read_log(table)
    assert 1300 < len(drawn.data.rewards) <= 1600
    assert drawn.episodes == 400
    # Stratified: the mean length of a random sample would be off by 0.13 or more two times of three.
    assert drawn.data.lengths.mean() == pytest.approx(whole.lengths.mean(), abs=0.1)
    shares = [np.bincount(data.actions.codes) / len(data.rewards) for data in (drawn.data, whole)]
    assert shares[0][1] == pytest.approx(shares[1][1], abs=0.02)
    assert f"from {len(drawn.data)} of 400 episodes" in drawn.note
    labels = drawn.data.labels_of()
    own = whole.take(np.isin(whole.labels_of(), labels))
    np.testing.assert_array_equal(np.sort(drawn.data.rewards), np.sort(own.rewards))
    again = draw_log(stored, 1.5e6, 5, _SIZES)
    np.testing.assert_array_equal(again.data.rewards, drawn.data.rewards)


def test_what_fits_into_memory_is_read_whole(stored: Path, table: pl.DataFrame) -> None:
    drawn = draw_log(stored, 1e9, 0, _SIZES)
    assert drawn.scan is None
    assert not drawn.note
    np.testing.assert_array_equal(drawn.data.rewards, read_log(table).rewards)


@pytest.mark.parametrize("kind", ["sorted", "shuffled", "folder"])
def test_parts_hold_every_episode_once_and_whole(
    table: pl.DataFrame, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_scan, "PART_STEPS", 500)
    folder = tmp_path / "log"
    folder.mkdir()
    pieces = [table] if kind != "folder" else [table.filter(pl.col("episode") % 3 == k) for k in range(3)]
    for k, piece in enumerate(pieces):
        rows = piece.sample(fraction=1, shuffle=True, seed=1) if kind == "shuffled" else piece
        rows.write_parquet(folder / f"{k}.parquet", row_group_size=200)
    drawn = draw_log(folder, 1.5e6, 0, _SIZES)
    assert drawn.scan is not None
    parts = [drawn.read(rows) for rows in drawn.scan.parts()]
    assert len(parts) > 3
    whole = read_log(table)
    order = np.argsort(np.concatenate([part.labels_of() for part in parts]), kind="stable")
    np.testing.assert_array_equal(np.concatenate([part.lengths for part in parts])[order], whole.lengths)
    np.testing.assert_allclose(np.concatenate([part.returns() for part in parts])[order], whole.returns())


def test_an_episode_in_two_files_is_named(table: pl.DataFrame, tmp_path: Path) -> None:
    cut = 1500 + int((table["step"][1500:] == 1).arg_true()[0])
    table[:cut].write_parquet(tmp_path / "a.parquet")
    table[cut:].write_parquet(tmp_path / "b.parquet")
    name = table["episode"][cut]
    with pytest.raises(InputError, match=f"episode {name} is in .*a.parquet and in .*b.parquet"):
        draw_log(tmp_path, 1.5e6, 0, _SIZES)


def test_rows_apart_need_a_column_step(table: pl.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    pl.concat([table[5:], table[:5]]).drop("step").write_parquet(path)
    with pytest.raises(InputError, match=r"the rows of episode .* are apart, and no column 'step'"):
        draw_log(path, 1.5e6, 0, _SIZES)


def test_a_row_without_an_episode_is_named(table: pl.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    gap = pl.when(pl.int_range(pl.len()) == 700).then(None).otherwise(pl.col("episode"))
    table.with_columns(episode=gap).write_parquet(path)
    with pytest.raises(InputError, match=r"log.parquet, row 701: column 'episode' is empty"):
        draw_log(path, 1.5e6, 0, _SIZES)


def test_a_fault_in_a_sample_says_where(table: pl.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    table.with_columns(reward=pl.lit(float("nan"))).write_parquet(path)
    with pytest.raises(InputError, match=r"log.parquet, row 1 of those read together: column 'reward' is nan"):
        draw_log(path, 1.5e6, 0, _SIZES)


@pytest.mark.parametrize(
    ("words", "expected"),
    [("2GB", 2e9), ("500 MB", 5e8), ("1.5GiB", 1.5 * 2**30), ("12", 12), ("3g", None), ("-1GB", None), ("", None)],
)
def test_memory_in_words(words: str, expected: float | None) -> None:
    if expected is None:
        with pytest.raises(InputError, match="--memory"):
            bytes_of(words)
    else:
        assert bytes_of(words) == expected


def test_too_little_memory_is_said(stored: Path) -> None:
    with pytest.raises(InputError, match=r"less than the program needs.*allow at least 2MB"):
        draw_log(stored, 1e5, 0, _SIZES)


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory, table: pl.DataFrame) -> tuple[Evaluation, Path]:
    folder = tmp_path_factory.mktemp("large")
    (folder / "rules.py").write_text(
        "import numpy as np\n\ndef policy(x):\n    p = 1 / (1 + np.exp(-x[:, 0]))\n"
        "    return np.column_stack([1 - p, p])\n"
    )
    table.write_parquet(folder / "log.parquet", row_group_size=300)
    thresholds = Thresholds.of({"memory": {"program": 0, "step": 1000, "value": 0}})
    found = evaluate(
        str(folder / "log.parquet"),
        str(folder / "rules.py:policy"),
        estimators=["corrected", "wis", "pdis"],
        reading=Reading(memory=1.5e6),
        thresholds=thresholds,
        details=False,
        everyone=True,
    )
    return found, folder


def test_rows_say_what_they_rest_on(evaluated: tuple[Evaluation, Path], table: pl.DataFrame) -> None:
    found, folder = evaluated
    rows = {row["estimator"]: row for row in found.estimates.to_dicts()}
    sample = len(found.individuals)
    assert sample < 250
    assert rows["corrected"]["episodes"] == 400
    assert f"from all 400 episodes; values are learned from {sample} of 400 episodes" in rows["corrected"]["note"]
    np.testing.assert_allclose(rows["corrected"]["logged_mean"], rows["wis"]["logged_mean"], rtol=1e-9)
    assert f"answers are from {sample} of 400 episodes, a sample stratified" in found.run["notes"][0]
    whole = evaluate(table, str(folder / "rules.py:policy"), estimators=["wis", "pdis"], details=False)
    for row in whole.estimates.to_dicts():
        same = rows[row["estimator"]]
        assert same["episodes"] == 400
        for name in (
            "value",
            "low",
            "high",
            "std_error",
            "logged_mean",
            "difference",
            "difference_low",
            "difference_high",
        ):
            assert same[name] == pytest.approx(row[name], rel=1e-9), name
    shared = ["step", "alive", "factual", "counterfactual", "u", "effective_episodes"]
    one, other = (each.diagnostics.select(shared).to_numpy() for each in (found, whole))
    np.testing.assert_allclose(one, other, rtol=1e-9)
    assert "larger than memory" in found.run["notes"][0]


def test_a_sampled_evaluation_is_done_again_from_its_folder(evaluated: tuple[Evaluation, Path], tmp_path: Path) -> None:
    found, folder = evaluated
    found.with_policies({str(folder / "rules.py:policy"): str(folder / "rules.py:policy")}).write(tmp_path / "result")
    assert repeat(tmp_path / "result").estimates.equals(found.estimates)


@pytest.mark.parametrize("kind", ["usual", "limit", "no ends", "one action", "equal", "last", "outcome"])
def test_counts_of_parts_are_those_of_the_log(table: pl.DataFrame, kind: str) -> None:
    """And so are the findings that rest on them."""
    last = pl.col("terminated")
    changes = {
        "usual": {},
        "limit": {"terminated": last & (pl.col("step") == 11)},
        "no ends": {"terminated": pl.lit(False)},
        "one action": {"action": pl.lit(1)},
        "equal": {"reward": pl.lit(0.0)},
        "last": {"reward": pl.when(last).then("reward").otherwise(0.0)},
        "outcome": {"reward": pl.col("episode") % 7},
    }
    data = read_log(table.with_columns(**changes[kind]))
    parts = [data.take(np.arange(low, high)) for low, high in pairwise([0, 7, 250, len(data)])]
    counts = LogCounts.of(parts[0]) + (LogCounts.of(parts[1]) + LogCounts.of(parts[2]))
    whole, summed = examine(data), examine(data, counts=counts)
    assert summed == whole
    few = examine(parts[1], counts=counts)
    assert (few.episodes, few.steps, few.longest, few.terminated, few.actions) == (
        whole.episodes,
        whole.steps,
        whole.longest,
        whole.terminated,
        whole.actions,
    )


def test_the_doctor_counts_all_episodes(
    table: pl.DataFrame, stored: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also what the sample does not show: an action of one step, and a fault in a row."""
    rules = [
        "--memory",
        "1.5MB",
        "--rule",
        "memory.program=0",
        "--rule",
        "memory.step=1000",
        "--rule",
        "memory.value=0",
    ]
    drawn = draw_log(stored, 1.5e6, 0, _SIZES)
    outside = next(k for k in range(400) if k not in set(drawn.data.labels_of().tolist()))
    here = (pl.col("episode") == outside) & (pl.col("step") == 0)
    table.with_columns(action=pl.when(here).then(7).otherwise("action")).write_parquet(stored)
    monkeypatch.setattr(sys, "argv", ["repbm", "doctor", str(stored), *rules])
    with pytest.raises(SystemExit):
        main()
    said = capsys.readouterr().out
    assert f"400 episodes, {len(table)} steps, the longest 12; 400 ended by themselves" in said
    assert "few steps show 7 (1x)" in said
    table.with_columns(reward=pl.when(~here).then("reward")).write_parquet(stored)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "column 'reward' is empty" in capsys.readouterr().err


def test_everyone_is_valued_part_by_part(evaluated: tuple[Evaluation, Path], tmp_path: Path) -> None:
    found, _ = evaluated
    found.write(tmp_path / "out")
    rows = pl.read_parquet(tmp_path / "out" / "individuals.parquet")
    assert sorted(rows["episode"].to_list()) == list(range(400))
    assert rows["value"].null_count() == rows["refused"].count() < 40
    own = rows.filter(pl.col("episode").is_in(found.individuals["episode"].to_list())).sort("episode")
    numbers = pl.selectors.float()
    np.testing.assert_allclose(own.select(numbers), found.individuals.sort("episode").select(numbers), rtol=1e-9)
    assert not [path for path in (tmp_path / "out").iterdir() if "parts" in path.name]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["together", "shuffled"])
def test_everyone_is_valued_as_if_they_were_in_the_sample(table: pl.DataFrame, tmp_path: Path, kind: str) -> None:
    """By the critics of the sample: who is in it has the same numbers, and others have theirs as new individuals."""
    rows = table.with_columns(obs_sex=pl.when(pl.col("episode") % 3 == 0).then(pl.lit("f")).otherwise(pl.lit("m")))
    rows = rows if kind == "together" else rows.sample(fraction=1, shuffle=True, seed=1)
    rows.write_parquet(tmp_path / "log.parquet", row_group_size=300)
    first = rows.filter(pl.col("step") == 0).sort("episode")
    found = evaluate(
        str(tmp_path / "log.parquet"),
        CallablePolicy(_policy, actions=(0, 1)),
        estimators=["corrected", "wis"],
        reading=Reading(memory=1.5e6),
        thresholds=Thresholds.of({"memory": {"program": 0, "step": 1000, "value": 0}}),
        individuals=first.drop("step", "action", "reward", "terminated", "behavior_prob"),
        details=False,
        everyone=True,
    )
    found.write(tmp_path / "out")
    everyone = pl.read_parquet(tmp_path / "out" / "individuals.parquet").sort("episode")
    assert everyone["episode"].to_list() == list(range(400))
    assert everyone.schema["episode"] == pl.Int64
    numbers = pl.selectors.float()
    new = found.individuals.filter(pl.col("source") == "new").sort("episode")
    np.testing.assert_allclose(everyone.select(numbers), new.select(numbers), rtol=1e-9)
    assert everyone["refused"].equals(new["refused"])
    sample = found.individuals.filter(pl.col("source") == "log").sort("episode")
    assert 0 < len(sample) < 250
    own = everyone.filter(pl.col("episode").is_in(sample["episode"].to_list()))
    np.testing.assert_allclose(own.select(numbers), sample.select(numbers), rtol=1e-9)


@pytest.mark.slow
def test_individuals_whose_state_the_sample_cannot_code_are_refused(table: pl.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    table.write_parquet(path)
    options = {"memory": 1.5e6, "seed": 0, "sizes": _SIZES}
    own = set(draw_log(path, **options).data.labels_of().tolist())
    other = next(episode for episode in range(400) if episode not in own)
    gap = (pl.col("episode") == other) & (pl.col("step") == 0)
    table.drop("behavior_prob").with_columns(obs_y=pl.when(~gap).then("obs_y")).write_parquet(path)
    found = evaluate(
        str(path),
        CallablePolicy(_policy, actions=(0, 1)),
        estimators=["corrected"],
        reading=Reading(memory=1.5e6),
        thresholds=Thresholds.of({"memory": {"program": 0, "step": 1000, "value": 0}}),
        details=False,
        everyone=True,
    )
    assert found.everyone is not None
    rows = pl.concat(found.everyone.frames())
    assert sorted(rows["episode"].to_list()) == list(range(400))
    (one,) = rows.filter(pl.col("episode") == other).to_dicts()
    assert (one["value"], one["refused"]) == (None, "an observation is missing that the sample never lacks")


@pytest.mark.slow
def test_everyone_of_a_log_that_fits_is_who_is_in_it(table: pl.DataFrame) -> None:
    policies = {"half": CallablePolicy(_policy, actions=(0, 1))}
    found = evaluate(table, policies, estimators=["corrected", "wis"], details=False, everyone=True)
    assert found.everyone is not None
    (rows,) = found.everyone.frames()
    assert rows.drop("episode").equals(found.individuals.drop("episode"))
    with pytest.raises(InputError, match="none of the estimators tells anything about individuals"):
        evaluate(table, policies, estimators=["wis"], details=False, everyone=True)
