"""Shapes and types of the arithmetic are checked at run time in every test; where all must run, none may be skipped.

What tests would do again and again without telling anything new is done once."""

from __future__ import annotations

import functools
import gc
import os
from collections.abc import Generator
from pathlib import Path

# Before JAX is loaded: what one test compiles serves the others, in both processes and the next time. One thread each,
# since as many tests run side by side as there are cores.
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(Path(__file__).parent.parent / ".cache" / "jax"))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.1")
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import pytest  # noqa: E402
import typer.main  # noqa: E402

from tests import fitted_once, types_at_run_time  # noqa: E402

fitted_once.install()
# The program's commands and all their options are made anew for every command otherwise, as each is a process.
typer.main.get_command = functools.cache(typer.main.get_command)
types_at_run_time.install(("data", "policies", "estimators", "inference", "critics", "domains", "models"))


def pytest_collection_finish() -> None:
    """What is loaded by then stays to the end: to look through it again and again for garbage takes a twentieth of the
    time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)


@pytest.fixture(autouse=True)
def first_calls_are_checked() -> None:
    types_at_run_time.next_test()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--no-skip", action="store_true", help="what would be skipped fails")
    parser.addoption("--part", default="1/1", help="K/N: of the chosen tests every Nth, from the Kth on")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep one part of the tests: so a long suite is run through over several days."""
    part, parts = map(int, str(config.getoption("part")).split("/"))
    chosen = items[part - 1 :: parts]
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = chosen


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    if report.skipped and collector.config.getoption("no_skip"):
        report.outcome = "failed"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and item.config.getoption("no_skip"):
        report.outcome = "failed"
    return report
