"""Results in a spreadsheet: what looks like a formula is text there, and comes back as it was."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from repbm import Evaluation, evaluate
from repbm.logs import read_cells, write_cells
from tests.test_bad_input import GOOD, zeros

FORMULAS = ["=1+1", "+a", "-a", "@sum", "\t=1", "\r=1", "'=1", "''@x", "-2+3", "=cmd|' /C calc'!A0", "-"]
PLAIN = ["a", "", "'", "'a", "a=b", "-1.5", "+3", "-2e-5", "-7", " =1", "x\n=1", None, 'say "="', "a,b"]


def test_what_looks_like_a_formula_is_marked(tmp_path: Path) -> None:
    frame = pl.DataFrame({"=text": FORMULAS + PLAIN, "number": np.linspace(-3, 3, len(FORMULAS + PLAIN))})
    write_cells(frame, tmp_path / "table.csv")
    header, *rows = csv.reader(io.StringIO((tmp_path / "table.csv").read_bytes().decode(), newline=""))
    assert header == ["'=text", "number"]
    assert [row[0] for row in rows] == [f"'{text}" for text in FORMULAS] + [text or "" for text in PLAIN]
    assert rows[0][1] == "-3.0"
    assert read_cells(tmp_path / "table.csv", {"'=text": pl.String}).equals(frame)


def test_a_result_comes_back_with_its_names(tmp_path: Path) -> None:
    log = GOOD.rename({"obs_age": "obs_=age"}).with_columns(episode=pl.Series(["@one", "@one", "-2", "-2"]))
    found = evaluate(log, {"=1+1": zeros}, estimators=["wis", "am"], details=False)
    found.write(tmp_path)
    for table in tmp_path.glob("*.csv"):
        for row in csv.reader(io.StringIO(table.read_text("utf-8"), newline="")):
            assert not [cell for cell in row if cell[:1] in ("=", "@")], table.name
    again = Evaluation.load(tmp_path)
    for name in ("estimates", "individuals", "diagnostics", "ranking", "episodes"):
        assert getattr(again, name).equals(getattr(found, name)), name


@pytest.mark.parametrize("name", ["x" * 300, "\U0001f600" * 300, "é" * 300])
def test_a_long_name_does_not_lose_the_result(tmp_path: Path, name: str) -> None:
    from repbm.report import report

    found = evaluate(GOOD, {name: zeros, "other": zeros}, estimators=["wis"], details=False)
    names = list(report(found).plots())
    found.write(tmp_path, {f"plots/{file}": b"" for file in names})
    assert Evaluation.load(tmp_path).estimates.equals(found.estimates)
