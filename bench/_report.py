"""The report: how large it is, and how soon a browser shows it."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np

from bench._sheet import Sheet
from repbm.core import stream
from repbm.data import Categorical, Trajectories
from repbm.estimators import DirectMethod, FunctionCritic
from repbm.evaluation import Evaluation, evaluate
from repbm.report import report


def report_page(sheet: Sheet, folder: Path) -> None:
    """10,000 individuals: under 5 MB, open in under 2 s, frames in time; a million: a sample that says so."""
    whole = report(_evaluation(10_000)).html()
    (folder / "report.html").write_text(whole, encoding="utf-8")
    opened, slowest = _opened(folder / "report.html")
    sample = report(_evaluation(1_000_000)).html()
    said = "A sample: 10,000 of 1,000,000 individuals" in sample
    sheet.figure("size of the report of 10,000 individuals / 5 MB", len(whole.encode()) / 5e6, 1.0)
    sheet.figure("size of the report of 1,000,000 individuals / 5 MB", len(sample.encode()) / 5e6, 1.0)
    sheet.figure("time until it is open / 2 s", opened / 2.0, 1.0)
    sheet.figure("slowest frame while scrolling / 0.1 s", slowest / 0.1, 1.0)
    sheet.figure("says nothing of a sample", float(not said), 0.5)


def _evaluation(individuals: int) -> Evaluation:
    """Eight observations an individual, three steps each; values of a critic that is given, not fitted."""
    generator = stream(0, "bench report")
    steps = 3 * individuals
    log = Trajectories(
        observations=generator.normal(size=(steps, 8)),
        actions=Categorical(generator.integers(0, 2, steps).astype(np.int32), ("treat", "wait")),
        rewards=generator.normal(size=steps),
        offsets=np.arange(0, steps + 1, 3),
        terminated=np.ones(individuals, dtype=bool),
        final_observations=np.full((individuals, 8), np.nan),
        behavior=np.full(steps, 0.5),
        observation_names=tuple(f"measurement_{k}" for k in range(8)),
    )
    critic = DirectMethod(FunctionCritic(lambda states, left: states[:, :1] + states[:, 1:3], "given"))
    return evaluate(log, lambda states: np.where(states[:, 0] > 0, "treat", "wait"), estimators=[critic, "wis"])


def _opened(path: Path) -> tuple[float, float]:
    """Seconds until the page is loaded and its table drawn, and the slowest frame of a scroll through the table."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        tab = browser.new_page()
        tab.goto(path.as_uri())
        loaded = tab.evaluate("performance.getEntriesByType('navigation')[0].duration") / 1000
        frames = tab.evaluate(_SCROLL)
        browser.close()
    return loaded, float(np.max(frames)) / 1000


_SCROLL = """() => new Promise((done) => {
  const box = document.querySelector(".scroll"), times = [];
  let last = performance.now(), count = 0;
  function next(now) {
    times.push(now - last);
    last = now;
    box.scrollTop += 500;
    if (++count < 60) requestAnimationFrame(next); else done(times.slice(1));
  }
  requestAnimationFrame(next);
})"""
