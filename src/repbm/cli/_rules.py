"""--rule: the numbers that decide, as users write them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from repbm.core import Thresholds

Rules = Annotated[
    list[str] | None,
    typer.Option(
        "--rule", help="Another threshold: PURPOSE.NAME=VALUE, such as support.largest_precision=3. Repeatable."
    ),
]


def thresholds_of(given: list[str]) -> Thresholds:
    from repbm.core import InputError, Thresholds

    values: dict[str, dict[str, str]] = {}
    for words in given:
        place, equals, value = words.partition("=")
        purpose, point, name = place.partition(".")
        if not equals or not point:
            raise InputError(f"--rule {words}", fix="say --rule PURPOSE.NAME=VALUE")
        if name in values.setdefault(purpose, {}):
            raise InputError(f"--rule {place} is given twice")
        values[purpose][name] = value
    return Thresholds.of(values)
