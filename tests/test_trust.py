"""The experiment on trust: its table by hand, its settings, and a small version from end to end."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from repbm.core import InputError
from repbm.domains.worlds import BESIDE, DEVELOPMENT, EXAM
from repbm.experiments import Task, Trust, load_experiment, reproduce
from repbm.experiments._trust_table import trust_table

SMALL = Trust("t", ("one-step", "table"), (200,), truth_rollouts=2000, individuals=20, rollouts=20)


def row(family: str, run: int, estimator: str, error: float | None, **further: Any) -> dict[str, Any]:
    """A row of a world whose truth is 0 and whose oracle error is 2."""
    half = further.pop("half", None)
    value = None if error is None else 2 * error
    ends = {}
    if half is not None and value is not None:
        for level, share in ((80, 0.8), (90, 0.9), (95, 1.0)):
            ends |= {f"low_{level}": value - 2 * share * half, f"high_{level}": value + 2 * share * half}
    same = {"part": 0, "seed": 1, "exam": False, "answerable": True, "episodes": 200, "supported": True, "seconds": 3.0}
    said = {"estimator": estimator, "value": value, "truth": 0.0, "oracle_error": 2.0, "error": error}
    return {"family": family, "run": run, **same, **said, **ends, **further}


def test_the_table_by_hand() -> None:
    rows = [
        row("a", 0, "answer", 1.0, half=2.0),
        row("a", 0, "am", -3.0),
        row("a", 1, "answer", -4.0, half=1.0),
        row("a", 1, "am", 4.0),
        row("a", 2, "answer", 5.0, half=6.0, supported=False),
        row("a", 2, "wdr(repbm)", 2.0),
        row("a", 3, "answer", 0.5, supported=False),
        row("a", 4, "answer", None, supported=False),
        row("b", 0, "answer", 10.0, answerable=False),
        row("c", 0, "answer", 2.0, half=1.0, exam=True, episodes=1000),
        row("d", 0, "answer", 3.0, half=1.0, exam=None),
    ]
    table = trust_table(pl.DataFrame(rows, schema=SMALL.schema))
    lines = {(line["family"], line["episodes"]): line for line in table.iter_rows(named=True)}
    assert list(lines) == [
        ("a", 200),
        ("b", 200),
        ("c", 1000),
        ("d", 200),
        ("development", 200),
        ("development, answerable", 200),
        ("exam", 1000),
        ("exam, answerable", 1000),
        ("beside", 200),
        ("beside, answerable", 200),
    ]
    a = lines["a", 200]
    assert (a["runs"], a["undefined"], a["supported"], a["seconds"]) == (5, 1, 0.4, 3.0)
    assert a["rms"] == pytest.approx(np.sqrt((1 + 16 + 25 + 0.25) / 4))
    assert a["rms_supported"] == pytest.approx(np.sqrt(17 / 2))
    assert (a["median"], a["median_supported"]) == (2.5, 2.5)
    assert a["am_rms"] == pytest.approx(np.sqrt(25 / 2))
    assert a["wdr_rms"] == 2.0
    assert (a["intervals"], a["coverage"], a["coverage_supported"]) == (0.75, pytest.approx(2 / 3), 0.5)
    assert (a["half_width"], a["half_width_supported"]) == (pytest.approx(2.7), pytest.approx(1.35))
    # Wrong: run 1 alone, since the interval of run 2 holds the truth. Good: runs 0 and 3.
    assert (a["wrong"], a["wrong_supported"], a["supported_wrong"]) == (0.25, 1.0, 0.5)
    assert (a["good"], a["good_unsupported"]) == (0.5, 0.5)
    b = lines["b", 200]
    assert (b["wrong"], b["good"], b["good_unsupported"], b["coverage"]) == (1.0, 0.0, None, None)
    assert lines["development", 200]["runs"] == 6
    assert {**lines["development, answerable", 200], "family": "a"} == a
    assert lines["exam", 1000]["coverage"] == 0.0
    assert (lines["beside", 200]["runs"], lines["beside", 200]["rms"]) == (1, 3.0)


def test_parts_and_settings(tmp_path: Path) -> None:
    trust = load_experiment("trust-development")
    assert isinstance(trust, Trust)
    assert trust.families == tuple(DEVELOPMENT)
    groups = {name: load_experiment(name) for name in ("trust", "trust-beside")}
    named = {name: group.families for name, group in groups.items() if isinstance(group, Trust)}
    assert named == {"trust": tuple(f"exam/{name}" for name in EXAM), "trust-beside": tuple(BESIDE)}
    assert trust.parts[:2] == ("noisy-linear, 200 episodes", "noisy-linear, 1000 episodes")
    assert trust_table(pl.DataFrame(schema=trust.schema)).is_empty()
    text = 'kind = "trust"\nfamilies = ["table", "tabel"]\nepisodes = [50]\n'
    (tmp_path / "mine.toml").write_text(text + "truth_rollouts = 100\nindividuals = 5\nrollouts = 5\n")
    with pytest.raises(InputError, match="there is no family 'tabel'; did you mean 'table'"):
        load_experiment(str(tmp_path / "mine.toml"))
    with pytest.raises(InputError, match="rollouts = 1 makes no experiment"):
        replace(SMALL, rollouts=1)


@pytest.mark.slow
def test_a_small_version_from_end_to_end(tmp_path: Path) -> None:
    store = reproduce(SMALL, 1, tmp_path)
    rows = store.rows()
    answers = rows.filter(pl.col("estimator") == "answer")
    assert answers["family"].to_list() == ["one-step", "table"]
    assert {"am", "repbm", "wdr(repbm)", "wis", "wpdis"} < set(rows["estimator"])
    assert answers["error"].is_finite().all()
    value, truth, oracle, error = (answers[key].to_numpy() for key in ("value", "truth", "oracle_error", "error"))
    np.testing.assert_allclose(error, (value - truth) / oracle)
    assert answers["mse_individual"].is_finite().all()
    weighted = rows.filter(pl.col("estimator") == "wis")
    assert (weighted["low_95"] < weighted["low_90"]).all()
    assert (weighted["high_80"] < weighted["high_90"]).all()
    assert pl.read_csv(tmp_path / "table.csv")["family"].to_list()[:2] == ["one-step", "table"]
    again = SMALL.worker()(Task(0, 0), int(rows["seed"][0]), lambda what: None)
    stored = rows.filter(pl.col("part") == 0)
    assert again.drop("seconds").equals(stored.drop("seconds"))
