"""More than one process: runs of an experiment, and models fitted again to resampled logs."""

from __future__ import annotations

import subprocess
import sys
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
_BARE = """
import sys, time
import numpy as np
from threadpoolctl import threadpool_limits
x = np.random.default_rng(0).normal(size=(400, 400))
input()
with threadpool_limits(1):
    for _ in range(int(sys.argv[1])):
        x @ x
        sum(k * k for k in range(30_000))
"""
"""Half of the time matrix products, half of it Python: what a machine does of it side by side is its own limit."""


def workers_page(sheet: Sheet, folder: Path, runs: int = 16, refits: int = 32, steps: int = 20_000) -> None:
    """Engines are started before they are timed: what is compared is the work."""
    log, rules = folder / "log.parquet", folder / "rules.py"
    linear_log(steps).write_parquet(log)
    rules.write_text(POLICY)
    most = _bare(1, 2000) / _bare(2, 1000)
    sheet.say(f"two bare processes, which share nothing, are {most:.2f} times as fast as one on this machine")
    alone = _refits(log, rules, refits, InProcess())
    for name, kind in (("processes", Processes), ("ray", Ray)):
        with kind(2) as engine:
            faster = alone / _refits(log, rules, refits, engine)
        _line(sheet, f"refits, {name}", faster, most)
    one = _runs(folder / "one", runs)
    for name in _LEAST:
        faster = one / _runs(folder / name, runs, "--engine", name, "--workers", "2")
        _line(sheet, f"reproduce, {name}", faster, most)


def _line(sheet: Sheet, name: str, faster: float, most: float) -> None:
    """How many times as fast as one worker: one and two; against what is wanted, and what bare processes reach."""
    sheet.point("workers", name, 1, 1.0)
    sheet.point("workers", name, 2, faster)
    least = _LEAST[name.split(", ")[1]]
    sheet.figure(f"{name}: {least} over how many times as fast two workers are", least / faster, 1.0)
    sheet.figure(f"{name}: how many times as fast two bare processes are, over that of two workers", most / faster)


def _bare(count: int, rounds: int) -> float:
    """Seconds that so many processes take, each with so many rounds of work, from when all have started."""
    words = [sys.executable, "-c", _BARE, str(rounds)]
    started = [subprocess.Popen(words, stdin=subprocess.PIPE, text=True) for _ in range(count)]
    time.sleep(2.0)
    began = time.perf_counter()
    for one in started:
        assert one.stdin is not None
        one.stdin.write("\n")
        one.stdin.close()
    for one in started:
        one.wait()
    return time.perf_counter() - began


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
