"""repbm value: individual values from a saved model, without the log."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def value(
    model: Annotated[Path, typer.Argument(help="A model that `repbm evaluate --save-model` kept.")],
    individuals: Annotated[str, typer.Option(help="A table of initial states, one row an individual.")],
    policy: Annotated[str, typer.Option(help="FILE.py:FUNCTION, or a file as `repbm evaluate --policy` takes it.")],
    out: Annotated[Path | None, typer.Option(help="A CSV file for the values; default: print them.")] = None,
    discount: Annotated[
        float | None, typer.Option(help="Worth of a reward one step later; default: as the model was evaluated.")
    ] = None,
    horizon: Annotated[int | None, typer.Option(help="How many steps; default: as the model was evaluated.")] = None,
    rollouts: Annotated[int, typer.Option(min=1, help="Rollouts an individual, if anything is random.")] = 32,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed of the rollouts; default: as the model was evaluated.")
    ] = None,
    trust_pickle: Annotated[
        bool, typer.Option("--trust-pickle", help="Load policies from pickles, which can run any code.")
    ] = False,
) -> None:
    """What would happen to these individuals under this policy?"""
    import sys

    import polars as pl

    from repbm.core import InputError
    from repbm.data import Encoding
    from repbm.logs import read_individuals
    from repbm.models import load_asked
    from repbm.policies import ObservationPolicy
    from repbm.policies.adapters import as_policy

    if discount is not None and not 0 <= discount <= 1:
        raise InputError(f"a discount of {discount:g}", fix="give a number from 0 to 1")
    if horizon is not None and horizon < 1:
        raise InputError(f"a horizon of {horizon}", fix="give at least 1")
    if out is not None and not out.absolute().parent.is_dir():
        raise InputError("there is no such folder", where=str(out.absolute().parent), fix="make it first")
    loaded, asked = load_asked(model)
    acts = as_policy(policy, trust_pickle=trust_pickle)
    if not isinstance(acts, ObservationPolicy):
        raise InputError(f"policy '{policy}' is known at logged steps only", fix="give a function or a network")
    coded = Encoding.of(asked.encoding) if asked and asked.encoding else None
    acts = acts.bind(loaded.observation_names, coded)
    people = read_individuals(individuals, loaded.observation_names, encoding=coded)
    for note in people.notes:
        typer.echo(f"note: {note}", err=True)
    if asked is None:
        if discount is None:
            typer.echo("the model file does not say its discount: taken as 1 (see --discount)", err=True)
    else:
        for name, given, before in (
            ("discount", discount, asked.discount),
            ("horizon", horizon, asked.horizon),
            ("policy", policy, asked.policy),
        ):
            if given is not None and given != before:
                typer.echo(f"{name} {given}, as given; the model was evaluated with {before}", err=True)
    discount = discount if discount is not None else asked.discount if asked else 1.0
    horizon = horizon if horizon is not None else asked.horizon if asked else None
    seed = seed if seed is not None else asked.seed if asked else 0
    # One rollout is enough where neither the model nor the policy draws at random.
    certain = not loaded.stochastic and acts.choices(people.states, loaded.labels).deterministic
    rolled = loaded.values(
        acts, people.states, discount=discount, horizon=horizon, rollouts=1 if certain else rollouts, seed=seed
    )
    table = pl.DataFrame({"individual": people.labels, "value": rolled.values, "left_range": rolled.left_range})
    try:
        table.write_csv(sys.stdout.buffer if out is None else out)
    except OSError as fault:
        raise InputError(f"cannot be written ({fault.strerror})", where=str(out)) from fault
