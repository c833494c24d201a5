"""repbm collect: a log of a simulated world."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    import polars as pl

    from repbm.policies import ObservationPolicy

_SUFFIXES = (".csv", ".parquet")


def collect(
    domain: Annotated[
        str, typer.Argument(help="cartpole-long, cartpole-short, mountaincar, hiv, map2d or tree.", show_default=False)
    ],
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
    from repbm.core import stream
    from repbm.domains import benchmark_policy, benchmark_world
    from repbm.domains import collect as log_of
    from repbm.logs import log_frame

    _check_target(out)
    world = benchmark_world(domain, noise)
    acts = benchmark_policy(domain) if policy is None else _acting(policy)
    log = log_of(world, acts, episodes, stream(seed, "collect", domain), epsilon)
    _write(log_frame(log), out)
    typer.echo(f"{len(log)} episodes, {len(log.rewards)} steps, mean return {log.returns().mean():.6g}: {out}")


def _acting(words: str) -> ObservationPolicy:
    from repbm.core import InputError
    from repbm.evaluation import as_policy
    from repbm.policies import ObservationPolicy

    acts = as_policy(words)
    if not isinstance(acts, ObservationPolicy):
        raise InputError(f"policy '{words}' is known at logged steps only", fix="give a function or a network")
    return acts


def _check_target(out: Path) -> None:
    """Refuse what cannot be written before anything is simulated."""
    from repbm.core import InputError

    if out.suffix.lower() not in _SUFFIXES:
        raise InputError("this is no name of a log", where=str(out), fix="let it end in .csv or .parquet")
    try:
        if out.is_dir():
            raise InputError("this is a folder", where=str(out), fix="name a file")
        if not out.absolute().parent.is_dir():
            raise InputError("there is no such folder", where=str(out.absolute().parent), fix="make it first")
    except OSError as fault:
        raise InputError(f"cannot be written ({fault.strerror})", where=str(out)) from fault


def _write(frame: pl.DataFrame, out: Path) -> None:
    """Write beside the file, then move into its place: a killed run leaves the old log, the new, or none."""
    import os
    import tempfile

    from repbm.core import InputError

    partial = None
    try:
        handle, name = tempfile.mkstemp(prefix=f".{out.name}.", suffix=".partial", dir=out.absolute().parent)
        os.close(handle)
        partial = Path(name)
        (frame.write_csv if out.suffix.lower() == ".csv" else frame.write_parquet)(partial)
        partial.chmod(0o644)
        partial.replace(out)
    except OSError as fault:
        raise InputError(f"cannot be written ({fault.strerror or fault})", where=str(out)) from fault
    finally:
        if partial is not None:
            partial.unlink(missing_ok=True)
