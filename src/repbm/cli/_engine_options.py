"""Options that say where work is done."""

from __future__ import annotations

from typing import Annotated

import typer

Engine = Annotated[
    str | None,
    typer.Option(
        help="Where work is done: process, processes or ray; the numbers are the same. Default: processes, where there "
        "are several workers."
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        min=1, help="How many tasks side by side, one thread each; default: 1, or with --engine as many as fit."
    ),
]
RayAddress = Annotated[
    str | None, typer.Option(help="Join the Ray cluster at this address; also RAY_ADDRESS. Else a local one starts.")
]
