"""What commands say: at most a screen, every doubt in words, and how far they are."""

from __future__ import annotations

from io import StringIO

import numpy as np
import polars as pl
import pytest
from rich.console import Console
from rich.table import Table

from repbm.core import number
from repbm.evaluation import Evaluation, Fitting, evaluate
from repbm.report import Shown, answers_table, estimates_lines, estimates_tables

SCREEN = 24


def choices(steps: int = 1, count: int = 200) -> pl.DataFrame:
    """Ads that pay where the score is high."""
    generator = np.random.default_rng(3)
    score = generator.normal(size=count * steps).round(2)
    shown = generator.random(count * steps) < 0.5
    return pl.DataFrame(
        {
            "episode": np.repeat(np.arange(count), steps),
            "obs_score": score,
            "action": np.where(shown, "ad", "none"),
            "reward": (shown * (score > 0)).astype(float),
            "terminated": np.tile(np.arange(steps) == steps - 1, count),
            "behavior_prob": 0.5,
        }
    )


@pytest.fixture(scope="module")
def one_step() -> Evaluation:
    return evaluate(choices(), {"ads": lambda x: np.where(x[:, 0] > 0, "ad", "none")}, details=False)


def sentences(found: Evaluation) -> dict[str, str]:
    return {name: verdict.sentence for name, verdict in found.examination.verdicts.items()}


def test_ten_policies_fit_on_a_screen(one_step: Evaluation) -> None:
    names = [f"policy {k}" for k in range(10)]
    rows = pl.concat(one_step.estimates.with_columns(policy=pl.lit(name)) for name in names)
    (sentence,) = sentences(one_step).values()
    table, *lines = answers_table(rows, dict.fromkeys(names, sentence))
    assert isinstance(table, Table)
    assert table.row_count == 10
    assert table.row_count + 4 + len(lines) <= SCREEN
    assert f"{', '.join(names)}: {sentence}" in lines


def test_an_answer_comes_with_its_verdict_and_who_says_otherwise(one_step: Evaluation) -> None:
    rows = one_step.estimates.with_columns(
        disagreeing=pl.when("headline").then(pl.lit("am, wis")).otherwise(pl.col("disagreeing"))
    )
    table, *lines = answers_table(rows, sentences(one_step))
    assert isinstance(table, Table)
    assert table.row_count == 1
    known = dict(rows.select("estimator", "value").iter_rows())
    assert lines[1:] == [
        f"ads: {sentences(one_step)['ads']}",
        f"ads: other methods say otherwise: a model of the world fitted to the log (am) {number(known['am'])}, "
        f"logged episodes weighted by how well they follow the policy (wis) {number(known['wis'])}",
    ]


def test_equal_estimators_stand_in_one_row(one_step: Evaluation) -> None:
    """With one step, products of ratios are the ratio: is = pdis and wis = wpdis."""
    table = next(estimates_tables(one_step.estimates, sentences(one_step)))
    assert isinstance(table, Table)
    names = list(table.columns[0].cells)
    assert "is, pdis" in names
    assert "wis, wpdis" in names
    several = evaluate(choices(2, 60), lambda x: np.where(x[:, 0] > 0, "ad", "none"), details=False)
    table = next(estimates_tables(several.estimates, sentences(several)))
    assert isinstance(table, Table)
    assert {"is", "pdis"} <= set(table.columns[0].cells)


def test_long_names_of_outcomes_take_no_place_of_numbers(one_step: Evaluation) -> None:
    screen = Console(width=110, record=True, file=StringIO())
    shown = Shown("severity of illness", "points a day")
    for part in estimates_tables(one_step.estimates, sentences(one_step), shown=shown):
        screen.print(part, highlight=False, markup=False)
    lines = screen.export_text().splitlines()
    row = one_step.estimates.row(0, named=True)
    assert any(number(row["effective_episodes"]) in line for line in lines if "corrected" in line)
    assert not any("…" in line for line in lines)


def test_in_a_pipe_the_verdict_stands_once_a_policy(one_step: Evaluation) -> None:
    said = sentences(one_step)
    answers = [line.split("\t") for line in estimates_lines(one_step.estimates, said, answers=True)]
    assert [line[:2] for line in answers] == [["policy", "estimator"], ["ads", "corrected"]]
    assert said["ads"] in answers[1]
    every = [line.split("\t") for line in estimates_lines(one_step.estimates, said)]
    assert len(every) == 1 + len(one_step.estimates)
    assert [line[every[0].index("verdict")] for line in every[1:]].count(said["ads"]) == 1


def test_progress_knows_what_is_left() -> None:
    told: list[tuple[str, int, int]] = []
    policies = {name: lambda x: np.where(x[:, 0] > 0, "ad", "none") for name in ("one", "other")}
    evaluate(
        choices(2, 40),
        policies,
        estimators=["corrected", "am", "wis"],
        fitting=Fitting(refits=3),
        progress=lambda what, done, total: told.append((what, done, total)),
    )
    assert "am, policy other, refit 3 of 3" in [what for what, _, _ in told]
    done = [done for _, done, _ in told]
    assert done == sorted(done)
    planned = [total for what, _, total in told if what.startswith(("corrected", "am", "wis", "looking", "done"))]
    assert len(set(planned)) == 1
    assert told[-1] == ("done", planned[0], planned[0])
    begun = {what: done for what, done, _ in reversed(told)}
    corrected, am, wis, judged = (
        begun[f"{part}, policy one"] for part in ("corrected", "am", "wis", "what the log supports")
    )
    assert am - corrected > judged - wis > 0
