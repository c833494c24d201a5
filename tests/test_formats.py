"""Files and frames as other programs write them: read alike."""

from __future__ import annotations

import gzip
import io
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from repbm.core import InputError
from repbm.data import Trajectories
from repbm.evaluation import Evaluation, evaluate, repeat
from repbm.logs import read_log
from tests.test_bad_input import GOOD, Program, rows, says

LOG = GOOD.with_columns(obs_ward=pl.Series(["Zürich", "Genève", "Zürich", "Genève"]))
TEXT = LOG.write_csv()
GERMAN = LOG.write_csv(separator=";", decimal_comma=True)


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Program:
    return Program(tmp_path, monkeypatch, capfd)


def same(found: Trajectories, expected: Trajectories) -> None:
    assert found.observation_names == expected.observation_names
    np.testing.assert_array_equal(found.observations, expected.observations)
    assert found.actions.decoded() == expected.actions.decoded()
    assert found.rewards.tolist() == expected.rewards.tolist()
    assert found.terminated.tolist() == expected.terminated.tolist()


def zst(text: str, path: Path) -> None:
    pl.read_csv(text.encode()).lazy().sink_csv(path, compression="zstd")


FILES: dict[str, tuple[str, bytes | Callable[[Path], object]]] = {
    "UTF-8": ("log.csv", TEXT.encode()),
    "UTF-8 with a mark": ("log.csv", TEXT.encode("utf-8-sig")),
    "Latin-1": ("log.csv", TEXT.encode("latin-1")),
    "UTF-16": ("log.csv", TEXT.encode("utf-16")),
    "UTF-16, other order": ("log.csv", b"\xfe\xff" + TEXT.encode("utf-16-be")),
    "UTF-16 without a mark": ("log.csv", TEXT.encode("utf-16-le")),
    "semicolons": ("log.csv", LOG.write_csv(separator=";").encode()),
    "decimal commas": ("log.csv", GERMAN.encode()),
    "decimal commas, Latin-1": ("log.csv", GERMAN.encode("latin-1")),
    "bars": ("log.csv", LOG.write_csv(separator="|").encode()),
    "tabs": ("log.tsv", LOG.write_csv(separator="\t").encode()),
    "gzip": ("log.csv.gz", gzip.compress(TEXT.encode())),
    "gzip, Latin-1": ("log.csv.gz", gzip.compress(GERMAN.encode("latin-1"))),
    "gzip, UTF-16": ("log.tsv.gz", gzip.compress(LOG.write_csv(separator="\t").encode("utf-16"))),
    "zstd": ("log.csv.zst", lambda path: zst(TEXT, path)),
    "upper case": ("LOG.CSV", TEXT.encode()),
}


@pytest.mark.parametrize(("name", "content"), FILES.values(), ids=FILES.keys())
def test_files(tmp_path: Path, name: str, content: bytes | Callable[[Path], object]) -> None:
    path = tmp_path / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        content(path)
    same(read_log(path), read_log(LOG))


@pytest.mark.parametrize(
    "content", [TEXT.encode(), gzip.compress(TEXT.encode()), b"parquet", b""], ids=["text", "gzip", "parquet", "none"]
)
def test_standard_input(program: Program, monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    if content == b"parquet":
        stored = io.BytesIO()
        LOG.write_parquet(stored)
        content = stored.getvalue()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    if not content:
        says(program.refuses("-"), "standard input", "empty")
        return
    code, _, error = program.run("-", "--policy", "column:action", "--estimator", "wis", "--out", program.out)
    assert code == 0, error
    found = Evaluation.load(program.out)
    assert found.estimates.equals(evaluate(LOG, "column:action", estimators=["wis"]).estimates)
    with pytest.raises(InputError, match="read from standard input"):
        repeat(program.out)


def test_patterns_and_nested_folders(program: Program) -> None:
    for name, part in (("a", rows(1, 2)), ("b", rows(3, 4))):
        (program.folder / "logs" / name).mkdir(parents=True)
        program.store(part, f"logs/{name}/{name}.csv")
    for source in ("logs", "logs/*/*.csv", "logs/**/?.csv", "logs/[ab]/*"):
        same(read_log(program.folder / source), read_log(GOOD))
    with pytest.raises(InputError, match="no file fits this pattern"):
        read_log(program.folder / "logs/*.csv")
    code, _, error = program.run(
        program.folder / "logs/*/*.csv", "--policy", "column:action", "--estimator", "wis", "--out", program.out
    )
    assert code == 0, error
    same_again = repeat(program.out)
    assert len(same_again.estimates) == 1
    program.store(rows(3), "logs/b/b.csv")
    with pytest.raises(InputError, match="the log has changed since"):
        repeat(program.out)


def test_a_folder_with_tables_is_not_looked_into_further(program: Program) -> None:
    program.store(GOOD, "logs/log.csv")
    (program.folder / "logs/notes").mkdir()
    (program.folder / "logs/notes/other.csv").write_text("nothing,like\n1,2\n")
    same(read_log(program.folder / "logs"), read_log(GOOD))


class Relation:
    """What DuckDB and others hand out."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize(
    "form",
    [LOG.to_arrow(), LOG.to_arrow().to_reader(), Relation(LOG.to_arrow()), LOG.lazy(), LOG.to_pandas()],
    ids=["pyarrow", "pyarrow reader", "relation", "lazy", "pandas"],
)
def test_frames(form: Any) -> None:
    same(read_log(form), read_log(LOG))


def test_ordered_categories_of_pandas() -> None:
    frame = GOOD.to_pandas()
    levels = ["none", "mild", "severe"]
    frame["obs_pain"] = pd.Categorical(["mild", "none", None, "severe"], categories=levels, ordered=True)
    found = read_log(frame)
    assert found.observation_names == ("age", "pain", "pain missing")
    assert found.observations[:, 1].tolist() == [1, 0, 1, 2]


def workbook(path: Path, frame: pl.DataFrame) -> None:
    """The least that is an Excel file."""
    cells = [frame.columns, *frame.rows()]
    lines = []
    for number, row in enumerate(cells, start=1):
        entries = "".join(
            f"<c><v>{value}</v></c>"
            if isinstance(value, int | float) and not isinstance(value, bool)
            else f'<c t="inlineStr"><is><t>{value}</t></is></c>'
            for value in row
        )
        lines.append(f'<row r="{number}">{entries}</row>')
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    kinds = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    types = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{package}/content-types"><Default Extension="rels" ContentType="application/xml"/>'
            f'<Override PartName="/xl/workbook.xml" ContentType="{types}.sheet.main+xml"/>'
            f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{types}.worksheet+xml"/></Types>',
        )
        file.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
            f'Type="{kinds}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        )
        file.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{main}" xmlns:r="{kinds}"><sheets><sheet name="log" sheetId="1" r:id="r1"/></sheets>'
            "</workbook>",
        )
        file.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
            f'Type="{kinds}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        )
        file.writestr(
            "xl/worksheets/sheet1.xml",
            f'<worksheet xmlns="{main}"><sheetData>{"".join(lines)}</sheetData></worksheet>',
        )


def test_excel(tmp_path: Path) -> None:
    pytest.importorskip("fastexcel")
    workbook(tmp_path / "log.xlsx", LOG)
    same(read_log(tmp_path / "log.xlsx"), read_log(LOG))
    (tmp_path / "other.xlsx").write_bytes(b"PK but not really")
    with pytest.raises(InputError, match="no Excel file that can be read"):
        read_log(tmp_path / "other.xlsx")


def test_excel_says_what_to_install(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    workbook(program.folder / "log.xlsx", LOG)
    says(program.refuses(program.folder / "log.xlsx"), "needs fastexcel", "repbm[excel]")
