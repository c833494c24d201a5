"""repbm collect: a log of a simulated world."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from repbm._names import DOMAINS, listed

if TYPE_CHECKING:
    from repbm.policies import ObservationPolicy


def collect(
    domain: Annotated[str, typer.Argument(help=f"{listed(DOMAINS)}.", show_default=False)],
    out: Annotated[Path, typer.Option(help="The log: a file that ends in .csv or .parquet.")],
    episodes: Annotated[int, typer.Option(help="How many episodes to log.")] = 1024,
    policy: Annotated[
        str | None, typer.Option(help="FILE.py:FUNCTION or FILE.npz; default: the domain's own policy.")
    ] = None,
    epsilon: Annotated[float, typer.Option(help="Probability of a uniform draw among all actions.")] = 0.2,
    noise: Annotated[
        float | None, typer.Option(help="Standard deviation of noise on states; default: the domain's own.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the log.")] = 0,
) -> None:
    """Log a policy, softened by epsilon, in a simulated world; its probabilities are in the log."""
    from repbm.cli._target import target
    from repbm.core import stream
    from repbm.domains import benchmark_policy, benchmark_world
    from repbm.domains import collect as log_of
    from repbm.logs import log_frame

    with target(out, (".csv", ".parquet"), "log") as write:
        world = benchmark_world(domain, noise)
        acts = benchmark_policy(domain) if policy is None else _acting(policy)
        log = log_of(world, acts, episodes, stream(seed, "collect", domain), epsilon)
        frame = log_frame(log)
        write(frame.write_csv if out.suffix.lower() == ".csv" else frame.write_parquet)
    typer.echo(f"{len(log)} episodes, {len(log.rewards)} steps, mean return {log.returns().mean():.6g}: {out}")


def _acting(words: str) -> ObservationPolicy:
    from repbm.core import InputError
    from repbm.policies import ObservationPolicy
    from repbm.policies.adapters import as_policy

    acts = as_policy(words)
    if not isinstance(acts, ObservationPolicy):
        raise InputError(f"policy '{words}' is known at logged steps only", fix="give a function or a network")
    return acts
