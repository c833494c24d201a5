"""More than one process: runs of an experiment, and models fitted again to resampled logs."""

from __future__ import annotations

import time
from pathlib import Path

from bench._logs import POLICY, linear_log
from bench._measure import command, measured
from bench._sheet import Sheet
from repbm import evaluate
from repbm.engines import Engine, InProcess, Processes, Ray
from repbm.evaluation import Fitting

_LEAST = {"processes": 1.7, "ray": 1.5}
"""How many times as fast two workers must be as one process."""


def workers_page(sheet: Sheet, folder: Path, runs: int = 16, refits: int = 32, steps: int = 20_000) -> None:
    """Engines are started before they are timed: what is compared is the work."""
    log, rules = folder / "log.parquet", folder / "rules.py"
    linear_log(steps).write_parquet(log)
    rules.write_text(POLICY)
    alone = _refits(log, rules, refits, InProcess())
    for name, kind in (("processes", Processes), ("ray", Ray)):
        with kind(2) as engine:
            faster = alone / _refits(log, rules, refits, engine)
        _line(sheet, f"refits, {name}", faster)
        sheet.figure(
            f"refits, {name}: {_LEAST[name]} over how many times as fast two workers are", _LEAST[name] / faster, 1.0
        )
    one = _runs(folder / "one", runs)
    for name in _LEAST:
        faster = one / _runs(folder / name, runs, "--engine", name, "--workers", "2")
        _line(sheet, f"reproduce, {name}", faster)
        sheet.figure(
            f"reproduce, {name}: {_LEAST[name]} over how many times as fast two workers are", _LEAST[name] / faster, 1.0
        )


def _line(sheet: Sheet, name: str, faster: float) -> None:
    """How many times as fast as one worker: one and two."""
    sheet.point("workers", name, 1, 1.0)
    sheet.point("workers", name, 2, faster)


def _refits(log: Path, rules: Path, refits: int, engine: Engine) -> float:
    """Seconds of models fitted again, after a first round that starts workers and compiles."""

    def fitted(count: int) -> float:
        began = time.perf_counter()
        given = {"estimators": ["am"], "fitting": Fitting(refits=count), "details": False}
        evaluate(str(log), f"{rules}:policy", engine=engine, **given)
        return time.perf_counter() - began

    fitted(4)
    return fitted(refits)


def _runs(out: Path, runs: int, *more: str) -> float:
    """Seconds of a whole command, with code that is compiled already, and as many runs as make its start small."""
    words = ("reproduce", "cartpole-short", "--out", str(out), "--runs", str(runs), *more)
    return measured("", command(*words), repeats=1).seconds
