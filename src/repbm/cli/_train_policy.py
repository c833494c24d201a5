"""repbm train-policy: the policy of a benchmark, learned."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from repbm._names import TRAINED, listed

_SHOWN = 500


def train_policy(
    domain: Annotated[str, typer.Argument(help=f"{listed(TRAINED)}.", show_default=False)],
    out: Annotated[Path, typer.Option(help="The policy: a file that ends in .npz.")],
    seed: Annotated[
        int, typer.Option(min=0, help="Seed of the training; 0 made the policies that come with the package.")
    ] = 0,
) -> None:
    """Learn a policy of the published quality: by DQN, chosen by its average value alone; hiv by fitted Q iteration."""
    from repbm.cli._console import progress as progress_bar
    from repbm.cli._target import target
    from repbm.core import stream
    from repbm.domains import benchmark_world, collect
    from repbm.domains.training import train_benchmark_policy

    with target(out, (".npz",), "policy") as write:
        with progress_bar(False) as progress:
            policy = train_benchmark_policy(domain, seed, progress)
        write(policy.save)
    log = collect(benchmark_world(domain), policy, _SHOWN, stream(seed, "train-policy", domain))
    typer.echo(f"mean return {log.returns().mean():.6g} over {_SHOWN} new episodes: {out}")
