"""Long logs: a default evaluation of a million steps and of ten, and weights of more steps than fit into memory."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from bench._logs import FORMS, POLICY, READ_AND_GROUP, linear_log, weighed_log
from bench._measure import command, measured
from bench._sheet import Sheet

_GIB = 2**30


def default_page(
    sheet: Sheet, folder: Path, steps: int = 1_000_000, seconds: float = 60.0, peak: float = 1.5, repeats: int = 2
) -> None:
    """Everything by default, report included, without probabilities: 4 observations, 3 actions."""
    path = folder / "log.parquet"
    linear_log(steps).drop("behavior_prob").write_parquet(path)
    _evaluated(sheet, folder, path, seconds, peak, repeats)


def parts_page(sheet: Sheet, folder: Path, copies: int = 10, steps: int = 10_000_000) -> None:
    """Eight forms and diagnostics of a log that is read in parts, against reading and grouping the same columns."""
    path = _files(folder, weighed_log(steps), copies)
    reading = measured("import polars as pl", f"pl.scan_parquet('{path}/*.parquet').{READ_AND_GROUP}")
    ours = measured(
        "from repbm import evaluate",
        f"evaluate({str(path)!r}, 'probability:target', estimators={FORMS}, details=False)",
    )
    sheet.say(f"polars reads and sums in {reading.seconds:.1f} s; eight forms and diagnostics in {ours.seconds:.1f} s")
    sheet.figure("time over reading", ours.seconds / reading.seconds, 2.5)
    sheet.figure("processor time over reading", ours.processor / reading.processor)
    sheet.figure("peak memory / 2 GiB", ours.peak / (2 * _GIB), 1.0)


def hundred_million_page(sheet: Sheet, folder: Path, copies: int = 10, steps: int = 10_000_000) -> None:
    """What looks at observations, on a log that is read in parts."""
    path = _files(folder, linear_log(steps).drop("behavior_prob"), copies)
    reading = measured("import polars as pl", f"pl.scan_parquet('{path}/*.parquet').{READ_AND_GROUP}", repeats=1)
    doctor = measured("", f"{command('doctor', str(path), '--json')}\nprint()", repeats=1)
    sheet.say(f"polars reads and sums in {reading.seconds:.1f} s; the doctor takes {doctor.seconds:.1f} s")
    sheet.figure("doctor over reading and grouping", doctor.seconds / reading.seconds)
    sheet.figure("doctor: peak memory / 2 GiB", doctor.peak / (2 * _GIB), 1.0)
    _evaluated(sheet, folder, path, 180.0, 2.0, 1)


def _evaluated(sheet: Sheet, folder: Path, path: Path, seconds: float, peak: float, repeats: int) -> None:
    rules = folder / "rules.py"
    rules.write_text(POLICY)
    words = ("evaluate", str(path), "--policy", f"{rules}:policy", "--out", str(folder / "out"), "--quiet")
    ours = measured("", command(*words), repeats=repeats)
    sheet.say(f"{ours.seconds:.1f} s, {ours.processor:.1f} s of processor, {ours.peak / _GIB:.2f} GiB")
    sheet.figure(f"time / {seconds:g} s", ours.seconds / seconds, 1.0)
    sheet.figure(f"peak memory / {peak:g} GiB", ours.peak / (peak * _GIB), 1.0)


def _files(folder: Path, log: pl.DataFrame, copies: int) -> Path:
    """So many files, each with a copy of the log under other names of episodes."""
    path = folder / "parts"
    path.mkdir()
    count = int(log["episode"][-1]) + 1
    for k in range(copies):
        log.with_columns(pl.col("episode") + k * count).write_parquet(path / f"{k:02}.parquet", row_group_size=1 << 20)
    return path
