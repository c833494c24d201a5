"""The machinery of benchmarks, with nothing measured: sheets, what is recorded, what is worse, the document."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest
from bench import __main__ as bench
from bench._document import write_document
from bench._logs import linear_log
from bench._measure import measured
from bench._pages import PAGES, Page
from bench._recorded import Recorded, machine_class
from bench._sheet import Sheet


def _sheet(ratio: float = 0.5) -> Sheet:
    sheet = Sheet()
    sheet.figure("time / 60 s", ratio, 1.0)
    sheet.figure("over reading", 4.0)
    sheet.say("30 s of processor")
    for steps in (100, 1000):
        sheet.point("time", "doctor", steps, steps**0.5)
    return sheet


def small_page(sheet: Sheet, folder: Path, ratio: float = 0.5) -> None:
    (folder / "file").touch()
    sheet.figure("time", ratio, 1.0)


def test_a_sheet_comes_back_from_json_and_knows_its_slope() -> None:
    sheet = _sheet()
    assert Sheet.of(json.loads(json.dumps(sheet.to_dict()))) == sheet
    assert sheet.slope("time", "doctor") == pytest.approx(0.5)
    assert sheet.kept
    assert not _sheet(1.01).kept


def test_a_ratio_half_as_much_again_as_the_recorded_one_is_worse(tmp_path: Path) -> None:
    path = tmp_path / "recorded.json"
    assert Recorded.read(path).worse({"new": _sheet()}) == []
    Recorded({}, {"old": _sheet(9.0)}).updated({"page": _sheet(0.4)}).write(path)
    recorded = Recorded.read(path)
    assert set(recorded.pages) == {"old", "page"}
    assert recorded.machine == machine_class()
    assert recorded.worse({"page": _sheet(0.59)}) == []
    assert recorded.worse({"page": _sheet(0.61)}) == ["page: time / 60 s: 0.61, recorded 0.40"]
    assert recorded.worse({"another": _sheet(0.61)}) == []


def test_the_document_is_made_of_what_was_recorded(tmp_path: Path) -> None:
    write_document(Recorded(machine_class(), {"million": _sheet(), "doctor": _sheet(1.2)}), tmp_path / "benchmarks.md")
    text = (tmp_path / "benchmarks.md").read_text("utf-8")
    assert f"## {PAGES['million'].title}" in text
    assert "| time / 60 s | 0.50 | 1 |" in text
    assert "| time / 60 s | 1.20 | 1: falls short |" in text
    assert "- 30 s of processor" in text
    assert {path.name for path in (tmp_path / "benchmarks").iterdir()} == {
        "ratios.svg",
        "million-time.svg",
        "doctor-time.svg",
    }


def test_every_page_is_there_and_takes_its_options() -> None:
    for page in PAGES.values():
        inspect.signature(page.run).bind(Sheet(), Path())


def test_pages_run_alone_and_are_told_apart_by_exit_codes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pages = {"good": Page("Good", "x", "y"), "bad": Page("Bad", "x", "y", on_request=True)}
    monkeypatch.setattr(
        Page, "run", property(lambda self: lambda *given: small_page(*given, ratio=len(self.title) / 4))
    )
    monkeypatch.setattr(bench, "PAGES", pages | {"worst": Page("Falls short", "x", "y")})
    assert bench.main(["good", "--into", str(tmp_path / "sheet.json")]) == 0
    assert Sheet.of(json.loads((tmp_path / "sheet.json").read_text("utf-8"))).figures[0].ratio == 1.0
    monkeypatch.setattr(bench, "run", lambda names: {name: bench.alone(name) for name in names})
    monkeypatch.setattr(bench.Recorded, "read", lambda: Recorded({}, {"worst": _sheet(0.1)}))
    assert bench.main(["good"]) == 0
    assert bench.main([]) == 1
    assert "worst: time: 2.75 (at most 1) FALLS SHORT" in capsys.readouterr().err
    assert bench.main(["worst", "--check"]) == 0
    with pytest.raises(SystemExit):
        bench.main(["nothing"])


def test_code_is_measured_in_a_process_of_its_own() -> None:
    found = measured("x = [0] * 10**6", "total = sum(x)", said="total", repeats=1)
    assert (found.said, found.peak > 8e6, found.seconds > 0) == (0, True, True)


def test_a_generated_log_has_the_steps_it_is_asked_for() -> None:
    log = linear_log(300, 15, 15)
    assert (len(log), log["episode"].n_unique(), set(log["action"])) == (300, 20, {0, 1, 2})
