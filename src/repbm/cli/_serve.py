"""repbm serve: the report, live."""

from __future__ import annotations

from typing import Annotated

import typer

from repbm.cli._browser import show_in_browser
from repbm.cli._log_options import (
    Better,
    Columns,
    Ends,
    Gaps,
    Missing,
    OutcomeName,
    Unit,
    Worth,
    policies_of,
)
from repbm.cli._study_options import asked_of


def serve(
    log: Annotated[str, typer.Argument(help="As for evaluate: a log, or a study.")],
    policy: Annotated[
        list[str] | None, typer.Option(help="As for evaluate: policies to begin with. Repeatable.")
    ] = None,
    discount: Annotated[float | None, typer.Option(help="Worth of a reward one step later. Default: 1.")] = None,
    horizon: Annotated[int | None, typer.Option(help="Cut every episode after so many steps.")] = None,
    column: Columns = None,
    ends: Ends = None,
    missing: Missing = None,
    gaps: Gaps = None,
    worth: Worth = None,
    outcome: OutcomeName = "",
    unit: Unit = "",
    better: Better = None,
    trust_pickle: Annotated[
        bool, typer.Option("--trust-pickle", help="Load policies from pickles, which can run any code.")
    ] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="A port of this machine; 0: any that is free.")] = 0,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="How many processes answer. Default: this one, whose threads take all processors."),
    ] = None,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Work with a log in a browser, on this machine only: change rules, see answer, verdict and who gains change."""
    from contextlib import suppress
    from dataclasses import replace

    from repbm.core import InputError, optional
    from repbm.engines import as_engine
    from repbm.evaluation import Outcome
    from repbm.web import Session
    from repbm.web import serve as run

    for module in ("starlette", "uvicorn"):
        optional(module, "web")
    asked = asked_of(log, policy, column, ends, missing, gaps, worth, discount, horizon)
    known = asked.outcome
    told = Outcome(outcome or known.name, unit or known.unit, better or known.better)
    asked = replace(asked, outcome=told)

    def ready(address: str) -> None:
        typer.echo(f"look at {address}")
        typer.echo("whoever has this address, on this machine, can use the page; stop it with Ctrl-C")
        if open_page:
            show_in_browser(address)

    with suppress(KeyboardInterrupt), as_engine(workers=workers) as engine:
        session = Session(asked, policies_of(asked.policies, trust_pickle), engine)
        for name, given in list(session.policies.items())[:1]:
            # What no policy changes is fitted with the first answer: a change of it need not wait for that.
            try:
                session.ask(name, given)
            except InputError as fault:
                # The page is where rules are corrected, and others may be asked.
                typer.echo(f"note: {fault}", err=True)
        for note in session.notes:
            typer.echo(f"note: {note}", err=True)
        run(session, port, ready)
