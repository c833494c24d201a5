"""Shapes and types of the arithmetic are checked at run time in every test; where all must run, none may be skipped."""

from __future__ import annotations

from collections.abc import Generator

import pytest
from jaxtyping import install_import_hook

ROOMS = ("data", "policies", "estimators", "inference", "domains", "models")
install_import_hook([f"repbm.{room}" for room in ROOMS], "beartype.beartype")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--no-skip", action="store_true", help="what would be skipped fails")


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
