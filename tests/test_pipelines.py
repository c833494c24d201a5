"""For programs: JSON with a schema, exit codes, completion."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from jsonschema import Draft202012Validator

from repbm.cli import main
from repbm.doctor import FINDINGS
from repbm.evaluation._columns import DIAGNOSTICS, ESTIMATES, INDIVIDUALS, RANKING
from repbm.logs import read_cells
from tests.test_tables import survival

SCHEMAS = Path(__file__).parent.parent / "docs" / "schemas"
PLACES = {"Finding": 1, "Check": 0}
"""Where calls have the name."""
TABLES = {"estimates": ESTIMATES, "individuals": INDIVIDUALS, "diagnostics": DIAGNOSTICS, "ranking": RANKING}


def schema(name: str) -> dict[str, Any]:
    found = json.loads((SCHEMAS / f"{name}.schema.json").read_text("utf-8"))
    Draft202012Validator.check_schema(found)
    return found


def check(content: Any, against: dict[str, Any]) -> None:
    faults = [f"{fault.json_path}: {fault.message}" for fault in Draft202012Validator(against).iter_errors(content)]
    assert faults == []


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A survival log with gaps and text, and policies: one that it supports, one that nobody has tried."""
    here = tmp_path_factory.mktemp("pipeline")
    generator = np.random.default_rng(4)
    rows = []
    for patient in range(100):
        sick, ward = generator.random(), generator.choice(["icu", "ward"])
        for day in range(2):
            drug = generator.random() < 0.5
            lived = float(generator.random() < (0.9 if drug or sick < 0.5 else 0.4)) if day else None
            value = None if generator.random() < 0.1 else round(sick, 2)
            rows.append([f"P{patient}", day, value, ward, "drug" if drug else "none", lived])
    names = ["patient_id", "day", "sickness", "ward", "treatment", "outcome"]
    pl.DataFrame(rows, schema=names, orient="row").write_csv(here / "log.csv")
    (here / "drug.csv").write_text("sickness,treatment\n*,drug\n")
    (here / "surgery.csv").write_text("ward,treatment\nicu,surgery\n*,none\n")
    return here


def said(words: str, capsys) -> tuple[int, str]:
    argv = sys.argv
    sys.argv = ["repbm", *words.split()]
    try:
        with pytest.raises(SystemExit) as stopped:
            main()
    finally:
        sys.argv = argv
    return int(stopped.value.code or 0), capsys.readouterr().out


def test_every_output_is_as_its_schema_says(folder: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(folder)
    asked = "--estimator corrected --estimator am --estimator wis"
    code, out = said(f"evaluate log.csv --policy drug=drug.csv {asked} --json --out result", capsys)
    assert code == 0
    content = json.loads(out)
    check(content, schema("evaluate"))
    (drug,) = content["policies"]
    assert drug["answer"] == drug["estimates"][0]
    assert drug["effect"]["absolute"] == drug["answer"]["difference"]
    for name in ("run", "details"):
        check(json.loads((folder / f"result/{name}.json").read_text("utf-8")), schema(name))
    for name, columns in TABLES.items():
        described = schema("tables")["$defs"][name]
        assert list(described["properties"]) == list(columns)
        rows = read_cells(folder / f"result/{name}.csv", columns).to_dicts()
        check(rows, {"type": "array", "items": described})
    code, out = said("doctor log.csv --policy surgery=surgery.csv --json", capsys)
    assert code == 0
    check(json.loads(out), schema("doctor"))


def test_strict_ends_with_3_where_a_policy_is_not_supported(folder: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(folder)
    code, out = said("evaluate log.csv --policy drug=drug.csv --estimator wis --json --strict", capsys)
    assert (code, json.loads(out)["sound"]) == (0, True)
    code, out = said("evaluate log.csv --policy surgery.csv --estimator wis --json --strict --out told", capsys)
    content = json.loads(out)
    check(content, schema("evaluate"))
    assert (code, content["sound"], content["policies"][0]["supported"]) == (3, False, False)
    assert (folder / "told" / "report.html").exists()


def test_strict_ends_with_3_where_the_doctor_warns_unless_that_is_accepted(folder: Path, monkeypatch, capsys) -> None:
    """A column that is the reward moves answers, and no verdict sees it: a pipeline stops until somebody looked."""
    monkeypatch.chdir(folder)
    pl.read_csv("log.csv").with_columns(score=2 * pl.col("outcome").fill_null(0)).write_csv("leak.csv")
    asked = "leak.csv --policy drug=drug.csv --strict"
    for words in (f"evaluate {asked} --estimator wis", f"doctor {asked}"):
        monkeypatch.setattr(sys, "argv", ["repbm", *words.split()])
        with pytest.raises(SystemExit) as ended:
            main()
        told = capsys.readouterr().err
        assert ended.value.code == 3
        assert "strict: warning 'leaking column:score'; --accept the warnings that are as they should be\n" in told
        for accepted in ("leaking column", "leaking column:score"):
            monkeypatch.setattr(sys, "argv", ["repbm", *words.split(), "--accept", accepted])
            with pytest.raises(SystemExit) as ended:
                main()
            assert ended.value.code == 0
            assert "strict:" not in capsys.readouterr().err


def test_what_is_accepted_of_one_column_is_not_accepted_of_another(tmp_path: Path, monkeypatch, capsys) -> None:
    """Tomorrow's export has one more: that nobody has looked at. An outlier stands elsewhere then, and is the same."""
    monkeypatch.chdir(tmp_path)
    log = survival().with_columns(score=2 * pl.col("outcome").fill_null(0), age=pl.col("age").cast(pl.Float64))
    for day, count in enumerate((5, 9)):
        far = pl.when(pl.int_range(pl.len()) == count).then(-9e9).otherwise(pl.col("age"))
        table = log.with_columns(age=far, **({"points": 3 * pl.col("score")} if day else {}))
        table.write_csv("log.csv")
        accepted = ["--accept", "leaking column:score", "--accept", "outliers:age"]
        monkeypatch.setattr(sys, "argv", ["repbm", "doctor", "log.csv", "--strict", *accepted])
        with pytest.raises(SystemExit) as ended:
            main()
        told = capsys.readouterr().err
        assert (ended.value.code, "warning 'leaking column:points';" in told, "outliers" in told) == (
            (0, False, False),
            (3, True, False),
        )[day]


def test_what_is_accepted_must_be_a_finding(monkeypatch, capsys) -> None:
    for words, told in (
        (["--strict", "--accept", "leaking colum:score"], "did you mean 'leaking column'?"),
        (["--strict", "--accept", "leaking colum"], "did you mean 'leaking column'?"),
        (["--strict", "--accept", "nothing"], "use one of constant column, "),
        (["--accept", "copies"], "--accept without --strict; say --strict, too"),
    ):
        monkeypatch.setattr(sys, "argv", ["repbm", "doctor", "lost.csv", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 2
        assert told in capsys.readouterr().err


def test_a_schema_finds_what_is_wrong() -> None:
    with pytest.raises(AssertionError, match="required"):
        check({"version": "1"}, schema("evaluate"))


def test_the_shell_completes_commands_and_options() -> None:
    code = "import sys; sys.argv = ['repbm']\nfrom repbm.cli import main\nmain()"
    asked = {"_REPBM_COMPLETE": "complete_bash", "COMP_WORDS": "repbm eval", "COMP_CWORD": "1"}
    shown = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **asked}, capture_output=True, text=True, check=True
    )
    assert shown.stdout.split() == ["evaluate"]


def test_names_of_findings_and_checks_are_those_that_the_docs_promise() -> None:
    root = Path(__file__).parent.parent
    page = (root / "docs" / "pipelines.md").read_text("utf-8").partition("## Names that stay")[2].partition("\n## ")[0]
    promised = set(re.findall(r"`([^`]+)`", page.partition("|")[2]))
    used, found = set(), set()
    for file in (root / "src" / "repbm" / "doctor").glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in PLACES:
                names = {each.value for each in node.args[PLACES[node.func.id] :][:1] if isinstance(each, ast.Constant)}
                used |= names
                found |= names if node.func.id == "Finding" else set()
    assert used == promised
    assert found == set(FINDINGS)
