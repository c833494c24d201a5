"""How time and memory grow with the log, against reading and grouping the same columns."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bench._logs import FORMS, POLICY, READ_AND_GROUP, linear_log, weighed_log
from bench._measure import Measured, command, measured
from bench._sheet import Sheet

_GIB = 2**30
_DEFAULT_UP_TO = 1_000_000
"""Larger logs are evaluated by default on pages of their own."""


def growth_page(
    sheet: Sheet, folder: Path, sizes: Sequence[int] = (10_000, 100_000, 1_000_000, 10_000_000), repeats: int = 3
) -> None:
    rules = folder / "rules.py"
    rules.write_text(POLICY)
    found: dict[str, Measured] = {}
    for steps in sizes:
        log, weighed = folder / "log.parquet", folder / "weighed.parquet"
        linear_log(steps).drop("behavior_prob").write_parquet(log)
        weighed_log(steps).write_parquet(weighed)
        found = {
            "polars, columns of weights": _reads(weighed, repeats),
            "polars, all columns": _reads(log, repeats),
            "eight forms": measured(
                "from repbm import evaluate",
                f"evaluate({str(weighed)!r}, 'probability:target', estimators={FORMS}, details=False)",
                repeats=repeats,
            ),
            "doctor": measured("", f"{command('doctor', str(log), '--json')}\nprint()", repeats=repeats),
        }
        if steps <= _DEFAULT_UP_TO:
            words = ("evaluate", str(log), "--policy", f"{rules}:policy", "--out", str(folder / "out"), "--quiet")
            found["evaluate, all defaults"] = measured("", command(*words), repeats=2)
        for name, one in found.items():
            sheet.point("time", name, steps, one.seconds)
            sheet.point("memory", name, steps, one.peak / _GIB)
    last = f"{sizes[-1]:,} steps"
    reading = found["polars, columns of weights"], found["polars, all columns"]
    sheet.figure(
        f"eight forms over reading and grouping, {last}", found["eight forms"].seconds / reading[0].seconds, 3.0
    )
    sheet.figure(f"doctor over reading and grouping, {last}", found["doctor"].seconds / reading[1].seconds, 8.0)
    for name in dict.fromkeys(point.series for point in sheet.points):
        if not name.startswith("polars"):
            sheet.figure(f"{name}: slope of time, 1 is in proportion", sheet.slope("time", name), 1.1)
            sheet.figure(f"{name}: slope of memory, 1 is in proportion", sheet.slope("memory", name), 1.1)


def _reads(path: Path, repeats: int) -> Measured:
    return measured("import polars as pl", f"pl.scan_parquet({str(path)!r}).{READ_AND_GROUP}", repeats=repeats)
