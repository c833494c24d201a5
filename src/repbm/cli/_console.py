"""What commands print: tables and progress on a terminal, plain lines in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from repbm.core import number
from repbm.doctor import NOT_SUPPORTED
from repbm.report import Shown, answers_table, estimates_lines, estimates_tables, ranking_line

if TYPE_CHECKING:
    from repbm.evaluation import Evaluation


def show(evaluation: Evaluation, every: bool = False, truth: Mapping[str, float] | None = None) -> None:
    """The answers and the verdicts, or every estimate, if wanted or asked for by name.

    What was assumed, and what the doctor warns of, goes to standard error.
    """
    found = evaluation.examination
    warn(evaluation)
    verdicts = {name: verdict.sentence for name, verdict in found.verdicts.items()}
    shown = Shown.of(evaluation)
    every = every or evaluation.run["arguments"]["estimators_asked"]
    if not sys.stdout.isatty():
        for line in estimates_lines(evaluation.estimates, verdicts, truth, not every):
            print(line)
        return
    screen = Console()
    for part in (estimates_tables if every else answers_table)(evaluation.estimates, verdicts, truth, shown):
        screen.print(part, highlight=False, markup=False)
    if len(evaluation.ranking) > 1:
        refused = [name for name, verdict in found.verdicts.items() if verdict.word == NOT_SUPPORTED]
        screen.print(ranking_line(evaluation.ranking, shown, refused), highlight=False, markup=False)


def warn(evaluation: Evaluation) -> None:
    """What was assumed of the log, and what looks wrong in it, on standard error."""
    for note in evaluation.run.get("notes", ()):
        print(f"note: {note}", file=sys.stderr)
    for finding in evaluation.examination.findings:
        if finding.severity != "remark":
            print(f"{finding.severity}: {finding.line}", file=sys.stderr)


def show_sensitivity(evaluation: Evaluation) -> None:
    """One sentence a policy: how strong a hidden cause would have to be."""
    for name, details in evaluation.policies.items():
        found = details.confounding
        print(f"{name}: {'only the corrected estimate can be bounded' if found is None else found.sentence}")


def show_guaranteed(evaluation: Evaluation) -> None:
    """Bounds that need no model, or why there are none."""
    level = evaluation.estimates["level"][0]
    for name, details in evaluation.policies.items():
        if details.guaranteed is None:
            print(f"{name}: no bounds without a model: they need logged probabilities of all that the policy does")
        else:
            low, high = map(number, details.guaranteed)
            print(f"{name}: between {low} and {high} with a probability of {level:.0%}, whatever the world is like")


def show_thresholds(evaluation: Evaluation) -> None:
    """How probable returns below the thresholds are, or why the log does not tell."""
    for name, details in evaluation.policies.items():
        found = details.returns
        if found is None or not found.figures:
            print(f"{name}: the log does not tell how returns are spread{'' if found is None else f': {found.reason}'}")
            continue
        for figure in found.figures:
            if figure.kind == "below":
                ends = "" if figure.low is None else f" ({figure.low:.1%} to {figure.high:.1%})"
                print(f"{name}: {figure.name} {figure.value:.1%}{ends}, now {figure.logged:.1%}")


@contextmanager
def progress(quiet: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """A progress bar with time left on a terminal's standard error; nothing elsewhere."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("starting", total=None)
        yield lambda what, done, total: bar.update(task, description=what, completed=done, total=total)
