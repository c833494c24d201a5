"""repbm value: values of individuals, from a stored result or from a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    import polars as pl

    from repbm.models import ModelQuestion


def value(
    source: Annotated[
        Path,
        typer.Argument(
            help="A folder that `repbm evaluate --out` wrote, or a model that `repbm evaluate --save-model` kept."
        ),
    ],
    individuals: Annotated[str, typer.Option(help="A table of initial states, one row an individual.")],
    policy: Annotated[
        str | None,
        typer.Option(
            help="With a model: FILE.py:FUNCTION, or a file as `repbm evaluate --policy` takes it. "
            "With a result: the name of one of its policies; default: all."
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="A CSV file for the values; default: print them.")] = None,
    discount: Annotated[
        float | None,
        typer.Option(help="With a model: worth of a reward one step later; default: as it was evaluated."),
    ] = None,
    horizon: Annotated[
        int | None, typer.Option(help="With a model: how many steps; default: as it was evaluated.")
    ] = None,
    rollouts: Annotated[
        int | None,
        typer.Option(min=1, help="With a model: rollouts an individual, if anything is random; default: 32."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="With a model: seed of the rollouts; default: as it was evaluated.")
    ] = None,
    trust_pickle: Annotated[
        bool, typer.Option("--trust-pickle", help="Load policies from pickles, which can run any code.")
    ] = False,
) -> None:
    """What would happen to these individuals under this policy?

    A stored result answers with intervals, of the expected value, of the outcome and of the difference to what is done
    now: the answer is fitted again to its log. A saved model answers without the log, and without intervals.
    """
    import sys

    from repbm.core import InputError, write_whole
    from repbm.logs import write_cells

    if out is not None and not out.absolute().parent.is_dir():
        raise InputError("there is no such folder", where=str(out.absolute().parent), fix="make it first")
    if source.is_dir():
        given = {"discount": discount, "horizon": horizon, "rollouts": rollouts, "seed": seed}
        named = next((name for name, value in given.items() if value is not None), None)
        if named is not None:
            raise InputError(f"--{named} is for models: a result keeps its own", fix="leave it out")
        table = _by_result(source, individuals, policy, trust_pickle)
    else:
        if policy is None:
            raise InputError("a model needs a policy to follow", fix="give --policy")
        table = _by_model(source, individuals, policy, discount, horizon, rollouts or 32, seed, trust_pickle)
    if out is None:
        write_cells(table, sys.stdout.buffer)
    else:
        write_whole(out, lambda path: write_cells(table, path))


def _by_result(folder: Path, individuals: str, policy: str | None, trust_pickle: bool) -> pl.DataFrame:
    from repbm.cli._console import progress
    from repbm.core import InputError
    from repbm.evaluation import value_individuals

    with progress(quiet=False) as told:
        table = value_individuals(folder, individuals, trust_pickle=trust_pickle, progress=told)
    known = table["policy"].unique(maintain_order=True).to_list()
    if policy is not None and policy not in known:
        raise InputError(f"there is no policy '{policy}'", where=str(folder), fix=f"use one of {', '.join(known)}")
    return table if policy is None else table.filter(policy=policy)


def _by_model(
    model: Path,
    individuals: str,
    policy: str,
    discount: float | None,
    horizon: int | None,
    rollouts: int,
    seed: int | None,
    trust_pickle: bool,
) -> pl.DataFrame:
    import numpy as np
    import polars as pl

    from repbm.core import InputError, reason
    from repbm.data import Encoding
    from repbm.logs import read_individuals
    from repbm.models import load_asked
    from repbm.policies import ObservationPolicy, check_repeats
    from repbm.policies.adapters import as_policy

    if discount is not None and not 0 <= discount <= 1:
        raise InputError(f"a discount of {discount:g}", fix="give a number from 0 to 1")
    if horizon is not None and horizon < 1:
        raise InputError(f"a horizon of {horizon}", fix="give at least 1")
    loaded, asked = load_asked(model)
    acts = as_policy(policy, trust_pickle=trust_pickle)
    if not isinstance(acts, ObservationPolicy):
        raise InputError(f"policy '{policy}' is known at logged steps only", fix="give a function or a network")
    coded = Encoding.of(asked.encoding) if asked and asked.encoding else None
    acts = acts.bind(loaded.observation_names, coded)
    people = read_individuals(individuals, loaded.observation_names, encoding=coded)
    notes = [*(f"note: {note}" for note in people.notes), *_notes(discount, horizon, policy, asked)]
    discount = discount if discount is not None else asked.discount if asked else 1.0
    horizon = horizon if horizon is not None else asked.horizon if asked else None
    seed = seed if seed is not None else asked.seed if asked else 0
    check_repeats(acts, people.states, loaded.labels)
    # One rollout is enough where neither the model nor the policy draws at random.
    certain = not loaded.stochastic and acts.choices(people.states, loaded.labels).deterministic
    count = 1 if certain else rollouts
    try:
        rolled = loaded.values(acts, people.states, discount=discount, horizon=horizon, rollouts=count, seed=seed)
    except InputError:
        raise
    except Exception as fault:  # arrays in the file that do not fit each other
        raise InputError(f"the model fails ({reason(fault)})", where=str(model), fix="save it again") from fault
    if not np.isfinite(rolled.values).all():
        raise InputError("the model gives values that are no numbers", where=str(model), fix="save it again")
    for note in notes:
        typer.echo(note, err=True)
    possible = asked.possible(discount, horizon) if asked else None
    found = rolled.values if possible is None else np.clip(rolled.values, *possible)
    return pl.DataFrame({"individual": people.labels, "value": found, "left_range": rolled.left_range})


def _notes(discount: float | None, horizon: int | None, policy: str, asked: ModelQuestion | None) -> list[str]:
    """In what this is another question than the model was evaluated with."""
    if asked is None:
        return [] if discount is not None else ["the model file does not say its discount: taken as 1 (see --discount)"]
    told = (
        ("discount", discount, asked.discount),
        ("horizon", horizon, asked.horizon),
        ("policy", policy, asked.policy),
    )
    return [
        f"{name} {given}, as given; the model was evaluated with {before}"
        for name, given, before in told
        if given is not None and given != before
    ]
