"""repbm rerun: an evaluation again, from what it stored about itself."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from repbm.cli._engine_options import Engine, RayAddress, Workers


def rerun(
    folder: Annotated[Path, typer.Argument(help="The folder that `repbm evaluate --out` wrote.")],
    out: Annotated[Path, typer.Option(help="A folder for the new results.")],
    trust_pickle: Annotated[
        bool, typer.Option("--trust-pickle", help="Load policies from pickles, which can run any code.")
    ] = False,
    engine: Engine = None,
    workers: Workers = None,
    ray_address: RayAddress = None,
    every: Annotated[
        bool, typer.Option("--all", help="Print every estimator and its notes, not the answers alone.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
) -> None:
    """Evaluate again as it was done for a stored result: the same log, policies and options give the same files."""
    from repbm.cli._console import progress, show
    from repbm.cli._pages import pages_of
    from repbm.engines import as_engine
    from repbm.evaluation import check_target, repeat

    check_target(out)
    another = engine is not None or workers is not None or ray_address is not None
    with ExitStack() as stack:
        where = stack.enter_context(as_engine(engine, workers, ray_address)) if another else None
        told = stack.enter_context(progress(quiet))
        evaluation = repeat(folder, trust_pickle=trust_pickle, progress=told, engine=where)
    evaluation.write(out, pages_of(evaluation, (folder / "plots").is_dir()))
    if not quiet:
        show(evaluation, every)
        typer.echo(f"written to {out}; look at {out / 'report.html'}")
