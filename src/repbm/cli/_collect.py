"""repbm collect: a log of a simulated world."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from repbm._names import DOMAINS, listed

if TYPE_CHECKING:
    from repbm.data import Trajectories
    from repbm.policies import ObservationPolicy


def collect(
    domain: Annotated[
        str, typer.Argument(help=f"{listed((*DOMAINS, 'gym:NAME (an environment of Gymnasium)'))}.", show_default=False)
    ],
    out: Annotated[Path, typer.Option(help="The log: a file that ends in .csv or .parquet, or minari:NAME.")],
    episodes: Annotated[int, typer.Option(help="How many episodes to log.")] = 1024,
    policy: Annotated[
        str | None,
        typer.Option(help="FILE.py:FUNCTION or FILE.npz; default: the domain's own policy, in gym: uniform draws."),
    ] = None,
    epsilon: Annotated[float, typer.Option(help="Probability of a uniform draw among all actions.")] = 0.2,
    noise: Annotated[
        float | None, typer.Option(help="Standard deviation of noise on states; default: the domain's own.")
    ] = None,
    horizon: Annotated[int | None, typer.Option(min=1, help="Cut every episode after so many steps.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the log.")] = 0,
) -> None:
    """Log a policy, softened by epsilon, in a simulated world; its probabilities are in the log."""
    from repbm.cli._target import target
    from repbm.logs import log_frame, write_minari

    def collected() -> Trajectories:
        return _collected(domain, policy, episodes, epsilon, noise, horizon, seed)

    if str(out).startswith("minari:"):
        log = collected()
        write_minari(log, str(out))
    else:
        with target(out, (".csv", ".parquet"), "log") as write:
            log = collected()
            frame = log_frame(log)
            write(frame.write_csv if out.suffix.lower() == ".csv" else frame.write_parquet)
    typer.echo(f"{len(log)} episodes, {len(log.rewards)} steps, mean return {log.returns().mean():.6g}: {out}")


def _collected(
    domain: str,
    policy: str | None,
    episodes: int,
    epsilon: float,
    noise: float | None,
    horizon: int | None,
    seed: int,
) -> Trajectories:
    from repbm.core import InputError, stream
    from repbm.domains import GYMNASIUM, benchmark_policy, benchmark_world, collect, collect_gymnasium

    acts = None if policy is None else _acting(policy)
    if not domain.startswith(GYMNASIUM):
        world = benchmark_world(domain, noise)
        log = collect(world, acts or benchmark_policy(domain), episodes, stream(seed, "collect", domain), epsilon)
        return log if horizon is None else log.until(horizon)
    if noise is not None:
        raise InputError("environments of Gymnasium take no noise", fix="leave --noise out")
    return collect_gymnasium(domain.removeprefix(GYMNASIUM), acts, episodes, seed, epsilon, horizon)


def _acting(words: str) -> ObservationPolicy:
    from repbm.core import InputError
    from repbm.policies import ObservationPolicy
    from repbm.policies.adapters import as_policy

    acts = as_policy(words)
    if not isinstance(acts, ObservationPolicy):
        raise InputError(f"policy '{words}' is known at logged steps only", fix="give a function or a network")
    return acts
