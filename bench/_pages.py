"""All pages: what each measures, and whether `make bench` runs it unasked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path

from bench._sheet import Sheet

Run = Callable[[Sheet, Path], None]


@dataclass(frozen=True)
class Page:
    """`run` fills a sheet and may use an empty folder; it is imported only where it runs."""

    title: str
    module: str
    function: str
    options: tuple[tuple[str, float], ...] = ()
    on_request: bool = False

    @property
    def run(self) -> Run:
        return partial(getattr(import_module(f"bench.{self.module}"), self.function), **dict(self.options))


PAGES: dict[str, Page] = {
    "help": Page("Start-up of the command line", "_start", "help_page"),
    "start": Page("First and second run on a machine: 1,000 episodes of 15 steps", "_start", "start_page"),
    "importance": Page("Importance sampling on ten million steps", "_importance", "importance_page"),
    "doctor": Page("Doctor on ten million steps", "_importance", "doctor_page"),
    "growth": Page("Growth with the log: 10^4 to 10^7 steps", "_growth", "growth_page"),
    "million": Page("Default evaluation of a million steps, after compilation", "_large", "default_page"),
    "ten-million": Page(
        "Default evaluation of ten million steps, after compilation",
        "_large",
        "default_page",
        (("steps", 10_000_000), ("seconds", 180.0), ("peak", 2.0)),
    ),
    "parts": Page("Importance sampling on 10^8 steps, in parts", "_large", "parts_page"),
    "hundred-million": Page(
        "Default evaluation and doctor on 10^8 steps", "_large", "hundred_million_page", on_request=True
    ),
    "training": Page("Published training against its bare matrix products", "_paper", "training_page"),
    "rollouts": Page("Rollouts against their bare matrix products", "_paper", "rollouts_page"),
    "time": Page("Published preset on 1,024 episodes of CartPole", "_paper", "time_page"),
    "runs": Page("Full runs of an experiment, and refits: processes and Ray workers", "_workers", "workers_page"),
    "peers": Page("Fitted Q evaluation: ours and d3rlpy's on the same log", "_peers", "peers_page"),
    "accuracy": Page("Accuracy on worlds with a known truth", "_models", "accuracy_page"),
    "memory": Page("A model of a million steps of 8 dimensions", "_models", "memory_page"),
    "balance": Page("RepBM against AM, paired runs", "_paper", "balance_page"),
    "report": Page("The report", "_report", "report_page"),
}
