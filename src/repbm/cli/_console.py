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
    from repbm.inference import ReturnFigure


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
    """How probable returns below the thresholds are, by weighting and in a model, or why that is not told."""
    for name, details in evaluation.policies.items():
        found, modeled = details.returns, details.model_returns
        if found is None or not found.figures:
            print(f"{name}: the log does not tell how returns are spread{'' if found is None else f': {found.reason}'}")
        for figure in () if found is None else found.figures:
            if figure.kind == "below":
                print(f"{name}: {figure.name} {_share(figure)}, now {figure.logged:.1%}")
        if modeled is not None and not modeled.figures:
            print(f"{name}: the model {modeled.model} does not tell how returns are spread: {modeled.reason}")
        if modeled is None:
            continue
        for figure in modeled.figures:
            if figure.kind == "below":
                good = f"only as good as the model; {evaluation.examination.verdicts[name].word}"
                print(f"{name}: {figure.name} {_share(figure)} in the model {modeled.model} ({good})")


def _share(figure: ReturnFigure) -> str:
    ends = "" if figure.low is None else f" ({figure.low:.1%} to {figure.high:.1%})"
    return f"{figure.value:.1%}{ends}"


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
