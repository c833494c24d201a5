"""The page of stored experiments: what agrees, what does not and why, and every figure."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from repbm.cli._main import app
from repbm.core import InputError
from repbm.experiments import (
    SCHEMA,
    Fidelity,
    Result,
    load_experiment,
    load_spec,
    read_results,
    reproduce,
    reproduction_page,
)


def result(fidelity: Fidelity, errors: dict[str, float]) -> Result:
    """Two runs in which the estimators miss the mean by this much, and everyone by twice as much."""
    rows = [
        {"run": run, "seed": run, "estimator": name, "value": 20 + error, "truth": 20.0, "error_mean": error}
        | {"mse_individual": 4 * error**2, "seconds": 0.1, "note": ""}
        for run in range(2)
        for name, error in errors.items()
    ]
    spec = load_spec("cartpole-short").with_fidelity(fidelity)
    return Result(spec, fidelity, pl.DataFrame(rows, schema=SCHEMA), 0, "1.0")


def test_both_fidelities_stand_beside_the_published_figures() -> None:
    """Published: repbm 0.0784 and 0.4811, is 2.86 and 93.87."""
    both = [
        result(Fidelity.CORRECTED, {"repbm": 0.08, "is": 3.0, "repbm-precise": 0.001}),
        result(Fidelity.AS_PUBLISHED, {"repbm": 0.09, "is": 9.0}),
    ]
    page = reproduction_page(both, {"cartpole-short": {"is": "Few runs."}}, "pictures")
    cells = {line.split("|")[1].strip(): line for line in page.markdown.splitlines() if line.startswith("| `")}
    assert [part.strip() for part in cells["`repbm`"].split("|")[2:5]] == [
        "0.0784",
        "0.0900 (0.0900 to 0.0900)",
        "0.0800 (0.0800 to 0.0800)",
    ]
    assert [part.strip() for part in cells["`repbm-precise`"].split("|")[2:4]] == ["-", "-"]
    assert "1 of 4 figures agree" in page.markdown
    assert "- `is`, mean: 9.000, published 2.860. Few runs." in page.markdown
    assert "- `repbm`, individual: 0.1800, published 0.4811. The reason is not known." in page.markdown
    assert set(page.figures) == {"cartpole-short-errors.png"}
    assert page.figures["cartpole-short-errors.png"].startswith(b"\x89PNG")
    assert "(pictures/cartpole-short-errors.png)" in page.markdown


def test_the_command_writes_the_page_and_its_figures(tmp_path: Path) -> None:
    reproduce(load_experiment("tree"), 2, tmp_path / "results" / "tree")
    words = tmp_path / "words.toml"
    words.write_text('[tree]\nabout = "Left always pays."\n')
    out = tmp_path / "page.md"
    given = ["reproduction", str(tmp_path / "results"), "--out", str(out), "--notes", str(words)]
    done = CliRunner().invoke(app, given)
    assert done.exit_code == 0, done.output
    assert "Left always pays." in out.read_text()
    assert (tmp_path / "page" / "tree-bias.png").read_bytes().startswith(b"\x89PNG")


def test_what_cannot_be_a_page_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no experiment is stored"):
        read_results(tmp_path)
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "spec.json").write_text("{}")
    with pytest.raises(InputError, match="not one of ours"):
        read_results(tmp_path)
    fault = CliRunner().invoke(app, ["reproduction", str(tmp_path), "--out", str(tmp_path / "page.txt")]).exception
    assert "end in .md" in str(fault)


def test_runs_with_another_policy_have_their_own_columns(tmp_path: Path) -> None:
    """The file of that policy need not be there."""
    own = result(Fidelity.CORRECTED, {"repbm": 0.08})
    given = replace(own.experiment, policy="theirs/network.npz")
    theirs = [
        Result(given, Fidelity.CORRECTED, result(Fidelity.CORRECTED, {"repbm": 0.05}).rows, 0, "1.0"),
        Result(given, Fidelity.AS_PUBLISHED, result(Fidelity.AS_PUBLISHED, {"repbm": 0.07}).rows, 0, "1.0"),
    ]
    page = reproduction_page([own, *theirs], {}, "pictures").markdown
    head = next(line for line in page.splitlines() if line.startswith("| estimator"))
    assert [cell.strip() for cell in head.split("|")[2:6]] == [
        "mean: published",
        "mean: as-published with theirs/network.npz",
        "mean: corrected",
        "mean: corrected with theirs/network.npz",
    ]
    assert "Repeated as-published with theirs/network.npz, 1 of 2 figures agree" in page
    folder = tmp_path / "results" / "theirs"
    folder.mkdir(parents=True)
    own_rows = theirs[0].rows
    own_rows.write_parquet(folder / "runs.parquet")
    stored = {"spec": {"name": "cartpole-short", "policy": "theirs/network.npz"}, "seed": 0, "version": "1.0"}
    (folder / "spec.json").write_text(json.dumps(stored))
    (again,) = read_results(tmp_path / "results")
    assert again.kind == "corrected with theirs/network.npz"
    assert again.rows.equals(own_rows)
