"""repbm rerun: an evaluation again, from what it stored about itself."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def rerun(
    folder: Annotated[Path, typer.Argument(help="The folder that `repbm evaluate --out` wrote.")],
    out: Annotated[Path, typer.Option(help="A folder for the new results.")],
    trust_pickle: Annotated[
        bool, typer.Option("--trust-pickle", help="Load policies from pickles, which can run any code.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
) -> None:
    """Evaluate again as it was done for a stored result: the same log, policies and options give the same files."""
    from repbm.cli._console import progress, show
    from repbm.cli._pages import pages_of
    from repbm.evaluation import check_target, repeat

    check_target(out)
    with progress(quiet) as told:
        evaluation = repeat(folder, trust_pickle=trust_pickle, progress=told)
    evaluation.write(out, pages_of(evaluation, (folder / "plots").is_dir()))
    if not quiet:
        show(evaluation)
        typer.echo(f"written to {out}; look at {out / 'report.html'}")
