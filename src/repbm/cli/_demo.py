"""repbm demo: a log whose truth is known, evaluated."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def demo(
    out: Annotated[Path | None, typer.Option(help="A folder to keep the log and the results in.")] = None,
    episodes: Annotated[int, typer.Option(min=2, help="How many episodes to log.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the world and the log.")] = 0,
) -> None:
    """Log a small random world, evaluate two policies on it, and show the estimates next to the truth."""
    from repbm.cli._console import progress, show
    from repbm.core import stream
    from repbm.domains import TabularWorld
    from repbm.evaluation import check_target, evaluate
    from repbm.logs import log_frame

    generator = stream(seed, "demo")
    world = TabularWorld.random(states=8, actions=3, horizon=10, generator=generator)
    behavior = generator.dirichlet([3.0, 3.0, 3.0], size=8)
    best = world.action_values(behavior)[0].argmax(axis=1)[:, None] == [0, 1, 2]
    policies = {"cautious": 0.7 * behavior + 0.3 * best, "bold": 0.2 * behavior + 0.8 * best}
    truth = {name: world.truth(policy) for name, policy in policies.items()}
    log = log_frame(world.collect(behavior, episodes, generator))
    if out is not None:
        check_target(out / "result")
        out.mkdir(parents=True, exist_ok=True)
        log.write_parquet(out / "log.parquet")
    with progress(False) as tell:
        evaluation = evaluate(log, policies, seed=seed, progress=tell)
    show(evaluation, truth)
    typer.echo(f"The logging policy itself is worth {world.truth(behavior):.4f}.")
    if out is not None:
        evaluation.write(out / "result")
        typer.echo(f"The log and the results are in {out}.")
